/** What a program costs that does nothing: `empty.js`. Tells the machine's monotonic time of its end. */
import { writeSync } from 'node:fs'

writeSync(1, `${process.hrtime.bigint()}`)
