/**
 * The values of an enum, in a set. An enum can have tens of thousands of values, and an object can
 * contain as many values to look up.
 */
import { isFields, type Json } from '../../../api/object.ts'

const CODE_POINT_MAX = 0x10ffff

export class Enumeration {
  readonly values: readonly Json[]
  #known: ReadonlySet<Json> | undefined

  constructor(values: readonly Json[]) {
    this.values = values
  }

  /**
   * Whether a value is a member. Numbers are compared by value, so 1 equals 1.0. The order of
   * fields is ignored. Null is never a member. As in kube-apiserver, a number is also a member if
   * its conversion in Go is one: the integer part of a float, or the character whose code point is
   * the integer.
   */
  has(value: Json): boolean {
    if (value === null) return false
    this.#known ??= new Set(this.values.map(markOf))
    if (this.#known.has(markOf(value))) return true
    if (typeof value !== 'number') return false
    if (!Number.isInteger(value)) return this.#known.has(Math.trunc(value))
    return value >= 0 && value <= CODE_POINT_MAX && this.#known.has(String.fromCodePoint(value))
  }
}

/**
 * Returns the representation of a value in the set. A scalar represents itself. Any other value is
 * represented by a text. The text begins with a control character, so that it is not equal to any
 * string.
 */
const markOf = (value: Json): Json =>
  typeof value === 'object' && value !== null ? `\u0000${textOf(value)}` : value

function textOf(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`
  if (!isFields(value)) return typeof value === 'bigint' ? `${value}` : JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${textOf(field ?? null)}`).join(',')}}`
}
