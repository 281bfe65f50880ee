/**
 * Sets the defaults that a schema declares. Types that contain no defaults are not visited. A value
 * that already has all defaults is returned as it is, because this is the most frequent case.
 */
import type { Gates } from '../../api/gates.ts'
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { roundToMilli } from '../../api/quantity.ts'
import { eachItem, eachKey, everyKey, isDivided } from '../../lib/scheduling/parts.ts'
import type { Schema, Struct } from './schema.ts'

/** Sets the defaults of a value. Undefined if its type has no defaults. */
type SetDefaults = ((value: Json) => Json) | undefined

/**
 * Sets the defaults of built-in types. A type or field has no defaults if its feature gate is off.
 */
export class Defaults {
  readonly #gates: Gates
  /**
   * The function that sets the defaults of each type. It depends only on the type and on the
   * feature gates.
   */
  readonly #setters = new WeakMap<Struct, { set: SetDefaults }>()

  constructor(gates: Gates) {
    this.#gates = gates
  }

  set(value: Fields, struct: Struct): Fields {
    const set = this.#setterOf(struct)
    if (set === undefined) return value
    const result = set(value)
    return isFields(result) ? result : value
  }

  #setterOf(schema: Schema): SetDefaults {
    if (schema.type === 'struct') return this.#structSetter(schema)
    if (schema.type === 'map' && schema.goName === 'v1.ResourceList') return roundResources
    if (schema.type !== 'list' && schema.type !== 'map') return undefined
    const set = this.#setterOf(schema.of)
    if (set === undefined) return undefined
    return (value) =>
      Array.isArray(value) ? mapped(value, set) : isFields(value) ? mappedFields(value, set) : value
  }

  #structSetter(struct: Struct): SetDefaults {
    const known = this.#setters.get(struct)
    if (known !== undefined) return known.set
    // If a type contains itself, the values of this type inside it are treated as if they had no
    // defaults. This is correct, because they have none.
    const entry: { set: SetDefaults } = { set: undefined }
    this.#setters.set(struct, entry)
    const { fields: fixed = {}, set: setOthers, gate = '', keepsAmounts } = struct.defaults ?? {}
    const fields = struct.fields.flatMap((field) => {
      const { name, schema, isPointer, default: published, gates = [] } = field
      const set = keepsAmounts === true ? undefined : this.#setterOf(schema)
      const isOff = gates.some((one) => one.of.length === 0 && !this.#gates.isOn(one.name))
      const value = isOff ? undefined : (published ?? fixed[name])
      // A field that is a struct in Go, and not a pointer, gets its defaults even if it is absent.
      const isImplied = value === undefined && schema.type === 'struct' && !isPointer
      return set === undefined && value === undefined
        ? []
        : [{ name, set, value: isImplied ? {} : value, isImplied }]
    })
    const others = gate === '' || this.#gates.isOn(gate) ? setOthers : undefined
    if (fields.length > 0 || others !== undefined) entry.set = setterOf(fields, others)
    return entry.set
  }
}

type FieldSetter = {
  readonly name: string
  readonly set: SetDefaults
  readonly value: Json | undefined
  readonly isImplied: boolean
}

function setterOf(
  fields: readonly FieldSetter[],
  setOthers: ((value: Fields) => Fields) | undefined,
): (given: Json) => Json {
  return (given) => {
    if (!isFields(given)) return given
    let changed: { [name: string]: Json | undefined } | undefined
    for (const { name, set, value, isImplied } of fields) {
      const before = given[name] ?? undefined
      // An empty list gets the default of an absent list, because Go's defaulting checks the length
      // of the list.
      const isUnset = before === undefined || (Array.isArray(before) && before.length === 0)
      const start = isUnset ? (value ?? before) : before
      const after = start === undefined || set === undefined ? start : set(start)
      if (after === undefined || after === before || (isImplied && after === value)) continue
      changed ??= { ...given }
      changed[name] = after
    }
    const result = changed ?? given
    return setOthers === undefined ? result : setOthers(result)
  }
}

function mapped(items: readonly Json[], set: (value: Json) => Json): readonly Json[] {
  if (isDivided()) return mappedInParts(items, set)
  const after = items.map(set)
  return after.some((item, at) => item !== items[at]) ? after : items
}

function mappedInParts(items: readonly Json[], set: (value: Json) => Json): readonly Json[] {
  const { after, isChanged } = eachItem(
    'defaults of items',
    items,
    (): { readonly after: Json[]; isChanged: boolean } => ({ after: [], isChanged: false }),
    (state, item) => {
      const value = set(item)
      state.after.push(value)
      if (value !== item) state.isChanged = true
      return true
    },
  )
  return isChanged ? after : items
}

/** Rounds the quantities in a resource list up to a multiple of one thousandth. */
function roundResources(value: Json): Json {
  if (!isFields(value) || everyKey('exact amounts', value, (name) => !isTooExact(value[name])))
    return value
  return mappedFields(value, (amount) => (isTooExact(amount) ? roundToMilli(amount) : amount))
}

const isTooExact = (amount: Json | undefined): amount is string =>
  typeof amount === 'string' && /[nu]$|e-[69]$/.test(amount)

function mappedFields(fields: Fields, set: (value: Json) => Json): Fields {
  if (isDivided()) {
    return eachKey(
      'defaults of map',
      fields,
      (): { [name: string]: Json } => ({}),
      (after, key) => {
        Object.defineProperty(after, key, { value: set(fields[key] ?? null), ...plainProperty })
        return true
      },
    )
  }
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, set(value ?? null)]))
}

/**
 * Makes Object.defineProperty create an ordinary property. An assignment would not work for the key
 * `__proto__`.
 */
const plainProperty = { configurable: true, enumerable: true, writable: true } as const
