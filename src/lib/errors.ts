/**
 * Asserts an invariant. Do not use this function to validate input. Assertions are also checked in
 * production.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`broken invariant: ${message}`)
}

/** Returns the message of an error. Converts any other thrown value to a string. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
