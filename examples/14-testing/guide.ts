/** The agent under test: a travel guide that looks at the weather, and does not trust the first answer of a flaky service. */
import { agent, tool, type AgentSpec, type Clock, type Model } from 'turnstep'

export type Weather = (city: string, signal: AbortSignal) => Promise<string>

export function travelGuide(model: Model, weather: Weather): AgentSpec {
  return agent({
    model,
    instructions: 'Recommend a city by its weather.',
    tools: [
      tool<{ readonly city: string }>({
        name: 'weather',
        description: 'Current weather of a city',
        effect: 'read',
        timeoutMs: 10_000,
        input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        run: ({ city }, { signal, clock }) => withPatience(() => weather(city, signal), clock),
      }),
    ],
  })
}

/** Tries again after a second, once. */
async function withPatience<T>(ask: () => Promise<T>, clock: Clock): Promise<T> {
  try {
    return await ask()
  } catch {
    await new Promise<void>((resolve) => clock.after(1_000, resolve))
    return ask()
  }
}
