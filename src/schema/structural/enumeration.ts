/** The values that a schema allows. There may be tens of thousands, and as many values to look for. */
import { isFields, type Json } from '../../api/object.ts'

const CODE_POINT_MAX = 0x10ffff

export class Enumeration {
  readonly values: readonly Json[]
  #known: ReadonlySet<Json> | undefined

  constructor(values: readonly Json[]) {
    this.values = values
  }

  /**
   * Numbers are compared as numbers, so that 1 and 1.0 are the same; the order of fields does not count. Null never is one. Upstream
   * also compares after Go's conversions: a number loses its fraction where an integer is allowed, and an integer is a character.
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

/** Of a scalar, itself; of the others a text that no scalar is: it begins with a control character. */
const markOf = (value: Json): Json => (typeof value === 'object' && value !== null ? `\u0000${textOf(value)}` : value)

function textOf(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`
  if (!isFields(value)) return typeof value === 'bigint' ? `${value}` : JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${textOf(field ?? null)}`).join(',')}}`
}
