/**
 * Reads claims as Go's JSON decoder reads them into typed values. A null is treated as an absent
 * claim, and the error messages are the same as in Go.
 */
import { type Fields, isFields, type Json } from '../../../api/object.ts'

/** The reason why a token is not valid. It is logged but not sent to the client. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault'
}

const typeOf = (value: Json): string => {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number' || typeof value === 'bigint') return 'number'
  if (Array.isArray(value)) return 'array'
  return isFields(value) ? 'object' : 'string'
}

export const cannotRead = (value: Json, into: string): TokenFault =>
  new TokenFault(`json: cannot unmarshal ${typeOf(value)} into Go ${into}`)

/** Returns the value of a claim, or throws a TokenFault if the claim is absent. */
export function claimOf(claims: Fields, name: string): Json {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  if (value === undefined) throw new TokenFault('claim not present')
  return value
}

export function readText(value: Json): string {
  if (value === null) return ''
  if (typeof value === 'string') return value
  throw cannotRead(value, 'value of type string')
}

export function readBoolean(value: Json): boolean {
  if (value === null) return false
  if (typeof value === 'boolean') return value
  throw cannotRead(value, 'value of type bool')
}

/** Reads a claim that is a string or a list of strings. */
export function readTexts(value: Json): readonly string[] {
  if (value === null) return []
  if (!Array.isArray(value)) return [readText(value)]
  if (value.every((item) => item === null || typeof item === 'string')) return value.map(readText)
  throw cannotRead(value, 'value of type string')
}
