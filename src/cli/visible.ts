/** Text from outside in a question: what a person is asked must be what they read. */

/**
 * The text with every character that is not seen, or that moves others about, in plain sight: `\u{202E}`. Without this a question
 * could read otherwise than what would run. Tabs and the two marks that choose an emoji's look are let be.
 */
export function visible(text: string): string {
  return text.replace(
    UNSEEN,
    (character) => `\\u{${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}}`,
  )
}

/** Text of several lines below a question: each but the first behind a mark, so that none can pass for a line of ours. */
export function visibleLines(text: string): string {
  const lines = text.trim().split(LINE_ENDS)
  return lines.map((line) => visible(line.replaceAll(/[ \t]+/g, ' ').trimEnd())).join(`\n    ${LINE_MARK} `)
}

const LINE_MARK = '│'
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/
const UNSEEN =
  /(?!\t|\uFE0E|\uFE0F)[\p{Default_Ignorable_Code_Point}\p{Format}\p{Control}\p{Surrogate}\p{Line_Separator}\p{Paragraph_Separator}]/gu
