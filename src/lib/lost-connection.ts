/** Errors of a kept connection that the other end was just closing when it was used again. */
const lostCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE'])

export const isLostBy = (error: Error): boolean => 'code' in error && lostCodes.has(error.code)
