/** How much of a file `read_file` shows at once. */
import { RESULT_LIMITS } from '../../util/cut.ts'

/** Under the result limit of C11 by what the note and the footer take, so that a window is never cut again. */
export const WINDOW_BYTES: number = RESULT_LIMITS.bytes - 2048
/** The same for lines. */
export const WINDOW_LINES: number = RESULT_LIMITS.lines - 10
