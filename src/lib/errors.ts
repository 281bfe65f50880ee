/** Asserts an invariant, never the validity of input. Stays on in production. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`)
}

/** Returns the message of an error. Any other thrown value is converted to a string. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
