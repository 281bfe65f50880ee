/**
 * An object as expressions see it, with the fields that clients would receive. A field is built
 * only when an expression reads it. Most expressions never read managedFields, which take longer to
 * parse than the rest of a small object.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { wholeField, wholeItem, wholeWire } from '../../objects/apply/wire.ts'
import { LazyFields, LazyItems } from '../../objects/cel/json-values.ts'
import type { Field, Struct } from '../../objects/schema/schema.ts'

export class LazyWire extends LazyFields {
  readonly #value: Fields
  readonly #struct: Struct

  constructor(value: Fields, struct: Struct) {
    super()
    this.#value = value
    this.#struct = struct
  }

  override read(key: string): Json | LazyFields | LazyItems | undefined {
    const field = this.#struct.byName.get(key)
    if (field === undefined) return this.#open(key)
    const given = this.#value[key] ?? null
    const { schema } = field
    if (schema.type === 'struct' && isFields(given) && isAlwaysShown(field, schema))
      return new LazyWire(given, schema)
    if (
      schema.type === 'list' &&
      schema.of.type === 'struct' &&
      Array.isArray(given) &&
      given.length > 0
    ) {
      return new LazyWireItems(given, schema.of)
    }
    return wholeField(given, field)
  }

  protected override make(): Fields {
    return wholeWire(this.#value, this.#struct)
  }

  /** Returns a field of a custom object exactly as the client sent it, without conversion. */
  #open(key: string): Json | undefined {
    return this.#struct.open !== undefined && Object.hasOwn(this.#value, key)
      ? this.#value[key]
      : undefined
  }
}

class LazyWireItems extends LazyItems {
  readonly #items: readonly Json[]
  readonly #of: Struct

  constructor(items: readonly Json[], of: Struct) {
    super()
    this.#items = items
    this.#of = of
  }

  override get size(): number {
    return this.#items.length
  }

  override at(index: number): Json | LazyFields {
    const item = this.#items[index] ?? null
    return isFields(item) ? new LazyWire(item, this.#of) : wholeItem(item, this.#of)
  }

  protected override make(): readonly Json[] {
    return this.#items.map((item) => wholeItem(item, this.#of))
  }
}

/**
 * Cached results of `isAlwaysShown`. Without the cache, each read would iterate over the fields of
 * a schema, which is slow if they are not in the CPU cache.
 */
const alwaysShown = new WeakMap<Field, boolean>()

/**
 * Returns whether a field that contains a struct is encoded in JSON even if the struct is empty.
 */
function isAlwaysShown(field: Field, { fields }: Struct): boolean {
  const { omit, isPointer } = field
  if (isPointer || omit !== 'empty') return true
  let isShown = alwaysShown.get(field)
  if (isShown === undefined)
    alwaysShown.set(field, (isShown = fields.some((one) => one.omit === 'never')))
  return isShown
}
