/** How long a provider asks us to wait. */

/**
 * Milliseconds to wait, or null. Read from `retry-after-ms`, then `retry-after` (seconds or a date), then the body: a `retryDelay`
 * of RetryInfo, or words such as "try again in 11.5s".
 */
export function retryAfter(headers: Headers, body: string, now: number): number | null {
  return positive(headers.get('retry-after-ms'), 1) ?? header(headers.get('retry-after'), now) ?? fromText(body)
}

function header(value: string | null, now: number): number | null {
  if (value === null) return null
  const seconds = positive(value, 1000)
  if (seconds !== null) return seconds
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

function positive(value: string | null, unitMs: number): number | null {
  if (value === null || !/^\s*\d+(\.\d+)?\s*$/.test(value)) return null
  return Math.ceil(Number(value) * unitMs)
}

function fromText(body: string): number | null {
  const delay = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body)?.[1]
  if (delay !== undefined) return Math.ceil(Number(delay) * 1000)
  const words =
    /(?:try again|retry)[^.\d]{0,20}?((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?)(?![a-z])\s*)+)/i.exec(
      body,
    )?.[1]
  return words === undefined ? null : durationMs(words)
}

function durationMs(words: string): number | null {
  let total = 0
  for (const [, amount, unit = ''] of words.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    total += Number(amount) * unitMs(unit.toLowerCase())
  }
  return Number.isFinite(total) ? Math.ceil(total) : null
}

function unitMs(unit: string): number {
  if (unit === 'ms' || unit.startsWith('milli')) return 1
  if (unit.startsWith('h')) return 3_600_000
  return unit === 'm' || unit.startsWith('min') ? 60_000 : 1000
}
