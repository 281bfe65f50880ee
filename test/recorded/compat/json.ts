/** Types of JSON values, and a type guard for values of unknown shape. */

export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [key: string]: Json }

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns a copy in the form of a recording: undefined fields are dropped, and undefined itself
 * becomes null.
 */
export const asRecorded = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null')
