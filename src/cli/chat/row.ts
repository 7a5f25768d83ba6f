/** Rows of a terminal. */
import stringWidth from 'string-width'

/**
 * The first row of a text that fills the terminal's width: up to its last space, or as much as fits, and never less than one
 * character, however narrow the terminal is. Null: the text fits. No columns are those of a terminal that does not know its size.
 */
export function firstRow(text: string, columns: number | undefined): string | null {
  const most = columns || COLUMNS_DEFAULT
  let row = ''
  let width = 0
  for (const character of text) {
    width += stringWidth(character)
    if (width >= most) return upToSpace(row) || character
    row += character
  }
  return null
}

const COLUMNS_DEFAULT = 80

function upToSpace(row: string): string {
  const space = row.lastIndexOf(' ')
  return space > 0 ? row.slice(0, space) : row
}
