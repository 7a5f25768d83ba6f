/** The sessions of a server: each is opened once and goes on whenever it is due, and each can be answered, wherever it is driven. */
import { isTurnstepError, type AgentSpec, type Harness, type Session, type SessionStatus } from 'turnstep'

/** A person's answer to a question. */
export interface Decision {
  readonly allow: boolean
  /** Of the arguments that were shown: a yes to others is stale. */
  readonly argsHash: string
  readonly by: string
  readonly reason?: string
}

export class Desk {
  readonly #harness: Harness
  readonly #agent: AgentSpec
  readonly #open = new Map<string, Promise<Session>>()

  constructor(harness: Harness, agent: AgentSpec) {
    this.#harness = harness
    this.#agent = agent
  }

  /** Once; from then on whatever makes the session due is done here. While it waits it holds no lease, and costs a few KB. */
  open(id: string): Promise<Session> {
    const known = this.#open.get(id)
    if (known !== undefined) return known
    const opening = this.#harness.open(this.#agent, { session: id })
    this.#open.set(id, opening)
    opening.catch(() => this.#open.delete(id))
    return opening
  }

  /** What the last process left in the middle, and what came while nobody was there. */
  async takeUp(): Promise<void> {
    for (const { session, resting, pending } of await this.#harness.list())
      if (!resting || pending > 0) await this.#goOn(session)
  }

  /** The message is kept when this resolves: only then tell the sender so. */
  async send(id: string, text: string, key: string): Promise<void> {
    const session = await this.open(id)
    await session.send(text, { id: key })
  }

  async status(id: string): Promise<SessionStatus> {
    const session = await this.#harness.attach(id)
    try {
      return await session.status()
    } finally {
      await session.close()
    }
  }

  /** `entered`: it counts. `rejected`: the question is answered, expired, or about other arguments than were shown. */
  async decide(id: string, call: string, { allow, argsHash, by, reason }: Decision): Promise<string> {
    const session = await this.#harness.attach(id) // whoever drives it
    try {
      const receipt = allow
        ? await session.approve(call, { argsHash, from: by })
        : await session.deny(call, { argsHash, from: by, ...(reason === undefined ? {} : { reason }) })
      await this.#goOn(id) // after a restart nobody does yet
      return (await receipt.settled).kind
    } finally {
      await session.close()
    }
  }

  async #goOn(id: string): Promise<void> {
    try {
      await this.open(id)
    } catch (error) {
      // Another process drives it, and hears of what was posted within 250 ms.
      if (!isTurnstepError(error, 'session-busy')) throw error
    }
  }
}
