/** Faults of tools and of what they stand on: processes, paths, long texts. */
import type { Mutant } from '../mutant.ts'

export const TOOLS: readonly Mutant[] = [
  {
    id: 'cut-through-a-character',
    rules: ['C11', 'case 098'],
    fault: 'A long output is cut through a flag or a family: half of it is another character.',
    file: 'src/util/cut.ts',
    find: `return clusterBorders(text, index).before`,
    replace: `return index`,
    caughtBy: [
      {
        test: 'src/util/cut.test.ts',
        name: 'cutText > C11: does not tear a family, a flag or a letter from its accent',
        says: "to be ''",
      },
    ],
  },
  {
    id: 'head-without-tail',
    rules: ['C11', 'case 052'],
    fault: 'Of a long output the end is lost, where the error stands.',
    file: 'src/util/cut.ts',
    find: `const end = tail.slice(tailStart(tail, bytes, lines))`,
    replace: `const end = tail.slice(tail.length)`,
    caughtBy: [
      {
        test: 'src/util/cut.test.ts',
        name: 'cutText > case 052: 10,000 noise lines do not hide the error at the end',
        says: 'expected false to be true',
      },
    ],
  },
  {
    id: 'long-result-not-cut',
    rules: ['C11', 'case 052'],
    fault: 'One command that prints two megabytes fills the whole context.',
    file: 'src/runtime/runner/tool-result.ts',
    find: `return cut ? [textPart(text)`,
    replace: `return cut && text === '' ? [textPart(text)`,
    caughtBy: [
      {
        test: 'test/cases/output.test.ts',
        name: 'giant tool output > case 052: many parts share one limit',
        says: 'to be less than or equal to 51200',
      },
    ],
  },
  {
    id: 'grandchild-lives-on',
    rules: ['C10', 'case 017'],
    fault: 'A command is stopped, and what it started goes on: the work that the user stopped is done all the same.',
    file: 'src/host/process-family.ts',
    find: `if (members.some(({ inGroup }) => inGroup)) kill(-family.leader, signal)`,
    replace: `if (members.some(({ pid }) => pid === family.leader)) kill(family.leader, signal)`,
    caughtBy: [
      {
        test: 'src/host/process.test.ts',
        name: 'timeout and abort > case 017: an abort kills children and grandchildren, and what they were about to do is not done',
        says: 'expected true to be false',
      },
    ],
  },
  {
    id: 'waits-for-the-pipes',
    rules: ['C10', 'case 022'],
    fault: 'A child in the background that holds the output open holds up the result.',
    file: 'src/host/process.ts',
    find: `const DRAIN_QUIET_MS = 50`,
    replace: `const DRAIN_QUIET_MS = 3_000`,
    caughtBy: [
      {
        test: 'src/host/process.test.ts',
        name: 'survivors (case 022) > case 022: a child in the background, holding both pipes, holds up nothing, is listed, and is stopped',
        says: 'to be less than 1000',
      },
    ],
  },
  {
    id: 'link-leads-out',
    rules: ['case 085'],
    fault: 'A link inside the workspace leads a write out of it.',
    file: 'src/tools/workspace.ts',
    find: `if (real !== root && !real.startsWith(inside))`,
    replace: `if (wanted !== root && !wanted.startsWith(inside))`,
    caughtBy: [
      {
        test: 'src/tools/workspace.test.ts',
        name: 'the border of the workspace (case 085) > case 085: a link to a folder outside is refused by every tool, and nothing is made outside',
        says: `expected function to throw an error, but it didn't`,
      },
    ],
  },
  {
    id: 'shell-sees-the-keys',
    rules: [],
    fault: 'A command that a model wrote can read the key of the model.',
    file: 'src/tools/shell/shell.ts',
    find: `name.endsWith('_API_KEY')`,
    replace: `name === '_API_KEY'`,
    caughtBy: [
      {
        test: 'src/tools/shell/shell.test.ts',
        name: 'shell > hides the keys of model providers from commands, and passes on what it is told to',
        says: '"key": "false"',
      },
    ],
  },
]
