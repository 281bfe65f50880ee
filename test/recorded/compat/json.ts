/**
 * The shapes that JSON can have, and the one question asked of values whose shape is not known yet.
 */

export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [key: string]: Json }

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A copy as a recording would hold it: undefined fields drop out, undefined as a whole becomes
 * null.
 */
export const asRecorded = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null')
