/**
 * Converts JSON directly to protobuf. This is much faster than decoding and encoding, because no
 * object is created. It accepts only JSON that has the form of print.ts: without whitespace, with
 * fields in the order of their declaration, and without unknown fields. The bytes are exactly those
 * of encode.ts. Any other JSON must be decoded and encoded.
 */
import type { Fields } from '../../../api/object.ts'
import { zeroTime } from '../../../api/time.ts'
import type { Field, Schema, Struct } from '../../schema/schema.ts'
import { PackedBytes } from '../../../lib/bytes/packed-bytes.ts'
import { encodeField } from './encode.ts'
import { JsonCopier, UnexpectedJson } from './json-copier.ts'
import { BYTES, FIXED64, VARINT, ProtobufWriter } from '../../../lib/bytes/protobuf-writer.ts'

/** Maximum nesting depth of structs. Only the schemas in CRDs are recursive. */
const DEPTH_MAX = 100

/**
 * A compiled struct, with its fields in the order of JSON. They include embedded structs, which
 * have no key.
 */
type Plan = {
  readonly fields: FieldPlan[]
  /**
   * The indexes of the fields, in the order of protobuf. Undefined if it is also the order of JSON.
   */
  order: readonly number[] | undefined
}

type FieldPlan = {
  /** The key as it is printed, such as `"name":`. Undefined for an embedded struct. */
  readonly key: Buffer | undefined
  readonly number: number
  /** The bytes for an absent field. `ofNull` are the bytes for null. */
  readonly zero: Buffer
  readonly ofNull: Buffer
  readonly isRepeated: boolean
  /** Whether an empty string means the same as an absent value. */
  readonly isNoneWhenEmpty: boolean
  readonly value: ValuePlan
}

type ValuePlan = {
  /**
   * The type of the value. `unread` is a field that protobuf does not have. `unknown` means that
   * the whole object must be decoded. `inline` is an embedded struct, whose fields have no braces
   * around them in JSON.
   */
  readonly type: Exclude<Schema['type'], 'any' | 'list'> | 'unread' | 'unknown' | 'inline'
  readonly tag: Buffer
  /** The compiled form of a struct. */
  readonly plan: Plan | undefined
  /** The compiled form of the values of a map. */
  readonly of: ValuePlan | undefined
}

type SmallMessage = Extract<
  Schema['type'],
  'time' | 'microTime' | 'quantity' | 'intOrString' | 'raw'
>

const noFields: Plan = { fields: [], order: undefined }

export class Transcoder {
  readonly #copier = new JsonCopier()
  readonly #plans = new WeakMap<Struct, Plan>()
  /** Stores the keys, tags and other bytes of all compiled structs. */
  readonly #bytes = new PackedBytes()
  #depth = 0

  /**
   * Returns the message for the object that begins at `start` in the JSON. Returns undefined if the
   * object must be decoded.
   */
  message(json: Buffer, start: number, struct: Struct): Buffer | undefined {
    const plan = this.#planOf(struct)
    this.#depth = 0
    try {
      return this.#copier.run(json, start, () => this.#object(plan))
    } catch (error) {
      if (error instanceof UnexpectedJson) return undefined
      throw error
    }
  }

  #object(plan: Plan): void {
    if (++this.#depth > DEPTH_MAX) throw new UnexpectedJson()
    this.#copier.beginObject()
    this.#fields(plan)
    this.#copier.endObject()
    this.#depth--
  }

  #fields({ fields, order }: Plan): void {
    if (order === undefined) {
      for (const field of fields) this.#field(field)
      return
    }
    const copier = this.#copier
    const places = [copier.used]
    for (const field of fields) {
      this.#field(field)
      places.push(copier.used)
    }
    copier.reorder(places, order)
  }

  #field({ key, zero, ofNull, value, isRepeated, isNoneWhenEmpty }: FieldPlan): void {
    const copier = this.#copier
    if (key === undefined) return this.#value(value)
    if (!copier.passKey(key)) {
      if (zero.length > 0) copier.bytes(zero)
      return
    }
    if (copier.passNull()) copier.bytes(ofNull)
    else if (isNoneWhenEmpty && copier.passEmptyText()) copier.bytes(zero)
    else if (isRepeated)
      for (let more = copier.beginList(); more; more = copier.nextInList()) this.#value(value)
    else this.#value(value)
    copier.passField()
  }

  /** Writes a value including its tag. */
  #value(value: ValuePlan): void {
    const copier = this.#copier
    const { type, tag, plan, of } = value
    switch (type) {
      case 'string':
        copier.bytes(tag)
        return copier.text()
      case 'bytes':
        copier.bytes(tag)
        return copier.base64()
      case 'boolean':
        copier.bytes(tag)
        return copier.boolean()
      case 'int32':
      case 'int64':
        copier.bytes(tag)
        return copier.integer()
      case 'float64':
        copier.bytes(tag)
        return copier.double()
      case 'map':
        return this.#map(tag, of)
      case 'unread':
        return copier.skip()
      case 'unknown':
        throw new UnexpectedJson()
      case 'struct':
      case 'inline':
      case 'time':
      case 'microTime':
      case 'quantity':
      case 'intOrString':
      case 'raw': {
        const start = copier.openMessage(tag)
        if (type === 'inline') this.#fields(plan ?? noFields)
        else if (type === 'struct') this.#object(plan ?? noFields)
        else this.#smallMessage(type)
        copier.closeMessage(start)
      }
    }
  }

  #smallMessage(type: SmallMessage): void {
    const copier = this.#copier
    if (type === 'quantity') copier.quantity()
    else if (type === 'intOrString') copier.intOrString()
    else if (type === 'raw') copier.raw()
    else copier.time()
  }

  /** Writes a map. Each entry is a message that consists of a key and a value. */
  #map(tag: Buffer, of: ValuePlan | undefined): void {
    const copier = this.#copier
    for (let more = copier.beginMap(); more; more = copier.nextInMap()) {
      const start = copier.openMessage(tag)
      copier.mapKey()
      if (of !== undefined) this.#value(of)
      copier.closeMessage(start)
    }
  }

  #planOf(struct: Struct): Plan {
    const known = this.#plans.get(struct)
    if (known !== undefined) return known
    const made: Plan = { fields: [], order: undefined }
    // Cache the type before its fields are compiled, because they can contain the type again.
    this.#plans.set(struct, made)
    made.fields.push(...this.#fieldsOf(struct))
    const order = [...made.fields.keys()].toSorted(
      (one, other) => (made.fields[one]?.number ?? 0) - (made.fields[other]?.number ?? 0),
    )
    if (order.some((place, at) => place !== at)) made.order = order
    return made
  }

  *#fieldsOf(struct: Struct): Generator<FieldPlan> {
    const inlined = new Map(
      struct.embedded.flatMap((one) => one.struct.fields.map((field) => [field, one])),
    )
    const done = new Set<Struct>()
    for (const field of struct.fields) {
      const embedded = inlined.get(field)
      if (embedded === undefined) yield this.#fieldOf(field, struct)
      else if (embedded.number === 0) yield this.#unread(field)
      else if (!done.has(embedded.struct)) {
        done.add(embedded.struct)
        const { number } = embedded
        const plan = this.#planOf(embedded.struct)
        const value: ValuePlan = {
          type: 'inline',
          tag: this.#tagOf(number, BYTES),
          plan,
          of: undefined,
        }
        yield {
          key: undefined,
          number,
          zero: nothing,
          ofNull: nothing,
          isRepeated: false,
          isNoneWhenEmpty: false,
          value,
        }
      }
    }
  }

  #fieldOf(field: Field, owner: Struct): FieldPlan {
    const { number, schema, isPointer } = field
    if (number === 0) return this.#unread(field)
    const zero = this.#encoded(field, owner, {})
    // A time that is a pointer in Go can be null, which stands for Go's zero time.
    const isTime = isPointer && (schema.type === 'time' || schema.type === 'microTime')
    const isRepeated = schema.type === 'list' && schema.isWrapped !== true
    return {
      key: this.#keyOf(field),
      number,
      zero,
      ofNull: isTime ? this.#encoded(field, owner, { [field.name]: zeroTime }) : zero,
      isRepeated,
      isNoneWhenEmpty: schema.type === 'bytes' && !isPointer,
      value: this.#valueOf(isRepeated ? schema.of : schema, number),
    }
  }

  #valueOf(schema: Schema, number: number): ValuePlan {
    const { type } = schema
    if (type === 'any' || type === 'list')
      return { type: 'unknown', tag: nothing, plan: undefined, of: undefined }
    return {
      type,
      tag: this.#tagOf(number, wireTypes[type] ?? BYTES),
      plan: type === 'struct' ? this.#planOf(schema) : undefined,
      of: type === 'map' ? this.#valueOf(schema.of, 2) : undefined,
    }
  }

  #unread(field: Field): FieldPlan {
    const value: ValuePlan = { type: 'unread', tag: nothing, plan: undefined, of: undefined }
    return {
      key: this.#keyOf(field),
      number: 0,
      zero: nothing,
      ofNull: nothing,
      isRepeated: false,
      isNoneWhenEmpty: false,
      value,
    }
  }

  #keyOf({ name }: Field): Buffer {
    return this.#bytes.put(Buffer.from(`"${name}":`))
  }

  #encoded(field: Field, owner: Struct, fields: Fields): Buffer {
    const writer = new ProtobufWriter()
    encodeField(field, owner)(fields, writer)
    return this.#bytes.put(writer.take())
  }

  #tagOf(number: number, wireType: number): Buffer {
    const writer = new ProtobufWriter()
    writer.tag(number, wireType)
    return this.#bytes.put(writer.take())
  }
}

const nothing = Buffer.alloc(0)

/** The wire types of the types that are not encoded as BYTES. */
const wireTypes: { readonly [type: string]: number } = {
  boolean: VARINT,
  int32: VARINT,
  int64: VARINT,
  float64: FIXED64,
}
