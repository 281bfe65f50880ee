/**
 * Returns a function that formats the current time as in metadata: whole seconds, in UTC. Many
 * timestamps are created within the same second, so the last one is cached.
 */
export function createNow(wallMs: () => number): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const current = Math.floor(wallMs() / 1000)
    if (current !== second) {
      second = current
      text = `${new Date(current * 1000).toISOString().slice(0, 19)}Z`
    }
    return text
  }
}

/** Formats a time as a MicroTime in UTC. Leases contain such times. */
export const microTime = (wallMs: number): string =>
  new Date(wallMs).toISOString().replace(/(\.\d{3})Z$/, '$1000Z')
