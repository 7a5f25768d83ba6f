/** What a program does from its start to its first model call: `cold.js STORE`. Tells the machine's monotonic time of that moment. */
import { writeSync } from 'node:fs'
import { Script } from './lib/script.ts'
import { turnstepPeer } from './lib/turnstep.ts'

const script = new Script()
const peer = await turnstepPeer(script, { store: process.argv[2]! })
let told = false
script.onCall = () => {
  if (!told) writeSync(1, `${process.hrtime.bigint()}`)
  told = true
}
const talk = await peer.open('cold')
script.plan({ steps: 1 })
await talk.run('hello')
script.check()
await peer.close()
