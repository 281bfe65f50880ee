/**
 * An object as expressions see it: the wire form that a client would see, made as far as expressions read it. Most never look at
 * managedFields, which take longer to parse than all the rest of a small object.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { wholeField, wholeWire } from '../../apply/wire.ts'
import { LazyFields } from '../../cel/json-values.ts'
import type { Field, Struct } from '../../schema/schema.ts'

export class LazyWire extends LazyFields {
  readonly #value: Fields
  readonly #struct: Struct

  constructor(value: Fields, struct: Struct) {
    super()
    this.#value = value
    this.#struct = struct
  }

  override read(key: string): Json | LazyFields | undefined {
    const field = this.#struct.byName.get(key)
    if (field === undefined) return this.#open(key)
    const given = this.#value[key] ?? null
    const { schema } = field
    if (schema.type === 'struct' && isFields(given) && isAlwaysShown(field, schema)) return new LazyWire(given, schema)
    return wholeField(given, field)
  }

  protected override make(): Fields {
    return wholeWire(this.#value, this.#struct)
  }

  /** The fields of a custom kind are as they were sent. */
  #open(key: string): Json | undefined {
    return this.#struct.open !== undefined && Object.hasOwn(this.#value, key) ? this.#value[key] : undefined
  }
}

/** Whether a struct that is there is shown without a look at what is in it. */
const isAlwaysShown = ({ omit, isPointer }: Field, { fields }: Struct): boolean =>
  isPointer || omit !== 'empty' || fields.some((one) => one.omit === 'never')
