/** Tables of a page of Markdown, read so that they can be compared with the sources. Pure functions. */

/** A row by the heads of its columns; the cells are trimmed Markdown, `\|` read as `|`. */
export type Row = Readonly<Record<string, string>>

/** The rows of every table under the heading `section` of a page (of the whole page, if it is absent), in order. */
export function tableRows(page: string, section?: string): Row[] {
  const rows: Row[] = []
  let heads: readonly string[] | null = null
  for (const line of linesOf(page, section)) {
    const cells = cellsOf(line)
    if (cells === null) heads = null
    else if (heads === null) heads = cells
    else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) rows.push(rowOf(heads, cells))
  }
  return rows
}

/** The code spans of a cell, in order: `` `a`, `b?` `` gives `a` and `b?`. */
export function codesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
}

function linesOf(page: string, section: string | undefined): readonly string[] {
  const lines = page.split('\n')
  if (section === undefined) return lines
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === section)
  if (start === -1) return []
  const depth = lines[start]!.indexOf(' ')
  const end = lines.findIndex((line, index) => index > start && /^#+ /.test(line) && line.indexOf(' ') <= depth)
  return lines.slice(start, end === -1 ? undefined : end)
}

function cellsOf(line: string): readonly string[] | null {
  if (!line.startsWith('|')) return null
  const parts = line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
  return parts.map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function rowOf(heads: readonly string[], cells: readonly string[]): Row {
  return Object.fromEntries(heads.map((head, index) => [head, cells[index] ?? '']))
}
