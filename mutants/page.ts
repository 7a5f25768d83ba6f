/** The list as a page for people: `mutants/README.md`. A test compares them; `npm run mutants -- --page` writes it. */
import type { Catcher, Mutant } from './mutant.ts'

const HEAD = `# Planted faults

Each row is a fault that is planted into the source, one at a time, with the tests that must fail because of it. How and why:
[docs/design/mutants.md](../docs/design/mutants.md). \`npm run mutants\` proves the whole list; this page is written by
\`npm run mutants -- --page\`.
`

const TABLE = `| fault | rules and cases | what goes wrong | where | caught by |
|---|---|---|---|---|
`

export function page(mutants: readonly Mutant[]): string {
  return `${HEAD}\n${TABLE}${mutants.map(row).join('')}`
}

function row({ id, rules, fault, file, caughtBy }: Mutant): string {
  const cells = [`\`${id}\``, rules.join(', '), fault, `\`${file}\``, caughtBy.map(catcherText).join('<br>')]
  return `| ${cells.map(cell).join(' | ')} |\n`
}

function catcherText({ test, name }: Catcher): string {
  const played = /^scenarios > (.*)$/.exec(name)
  return played === null ? `\`${test}\` › ${name}` : `\`test/scenarios/${played[1]}\``
}

/** A bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
