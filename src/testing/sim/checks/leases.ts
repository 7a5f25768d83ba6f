/** W1, W2, C3: one writer, and nothing begins that is not durable and not covered by a lease. */
import type { Check } from '../check.ts'

export function leaseCheck(): Check {
  return {
    name: 'leases',
    acquired({ fence }, seen) {
      if (fence <= seen.fence) seen.fail('W1', `fence ${fence} after ${seen.fence}`)
    },
    append({ fence, events }, seen) {
      if (fence !== seen.fence)
        seen.fail('W1', `event ${events[0]?.seq} under fence ${fence}; the lease has ${seen.fence}`)
    },
    body({ tool, call, fence, effect }, seen) {
      if (effect === 'read') return
      const what = `${tool} ${call} begins under fence ${fence}`
      if (fence !== seen.fence) seen.fail('W1', `${what}; the lease has ${seen.fence}`)
      else if (seen.held !== null && seen.now >= seen.held.expiresAt) seen.fail('W2', `${what}, whose lease is over`)
      const open = seen.state.step?.calls.find(({ record }) => record.id === call)
      if (open?.status !== 'started' || open.fence !== fence)
        seen.fail('C3', `${what} and is ${open?.status ?? 'no call of the open step'}`)
      else if (seen.state.turn?.abort != null) seen.fail('T7', `${what} after its turn was aborted`)
    },
  }
}
