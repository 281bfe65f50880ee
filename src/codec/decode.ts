/**
 * Decodes JSON into an object of a known schema, in one pass over the text. Reports what Go's strict decoder reports, with its messages
 * and in its order: a syntax error first, then the first value of a wrong type, and, for callers that want them, each unknown and each
 * duplicate field. A duplicate field is merged, as Go does.
 */
import { tooLargeToStore } from '../api/errors.ts'
import { JsonMap } from '../api/json-map.ts'
import type { Json } from '../api/object.ts'
import { quote } from '../api/quote.ts'
import { zeroTime } from '../api/time.ts'
import type { Field, ScalarType, Schema, Struct } from '../schema/schema.ts'
import { itemBytesMin, STORED_BYTES_MAX } from '../schema/stored-size.ts'
import { JsonScanner, type JsonType } from '../api/json-scanner.ts'
import { isDivided, once, repeat } from '../lib/parts.ts'
import { duplicateFields, newPathRoom } from './duplicates.ts'
import { readAny } from '../api/json-value.ts'
import { readRaw } from './json.ts'
import { isZeroTime, type Read, readBase64, readInteger, readQuantity, readTime } from './scalars.ts'
import { addAll } from '../lib/long-lists.ts'

export type Decoding = {
  /** Without fields that are unknown, null or zero (where that is the same as absent). */
  readonly value: Target
  /** The first value of a wrong type; `value` must not be used then. */
  readonly fault: string | undefined
  /** `unknown field "a.b"`, `duplicate field "c"`, in the order of the text. */
  readonly strictFaults: readonly string[]
}

/** As many as Go reports. */
const STRICT_FAULTS_MAX = 100

/** How deep structs may nest: only the schemas in CRDs are recursive, and none is nearly as deep. */
const DEPTH_MAX = 500

export type Target = { [name: string]: Json }

/** Fails with a JsonSyntaxError. The text must hold an object. */
export function decodeStruct(text: string, struct: Struct): Decoding {
  return struct.open !== undefined ? decodeOpen(text, struct) : decodeClosed(text, struct)
}

/**
 * The same for stored JSON, in which a null time behind a pointer is Go's zero time: kube-apiserver stores protobuf, which distinguishes
 * it from an absent time, and prints it as null.
 */
export function decodeStoredStruct(text: string, struct: Struct): Decoding {
  return struct.open !== undefined ? decodeOpen(text, struct) : decodeClosed(text, struct, { isStored: true })
}

/** Decodes a value of any type, such as a list in an annotation. Fails with a JsonSyntaxError. */
export function decodeValue(
  text: string,
  schema: Schema,
): { readonly value: Json; readonly fault: string | undefined } {
  const decoder = new Decoder(text, {})
  const value = decoder.value(schema, undefined)
  decoder.scanner.end()
  return { value: value ?? null, fault: decoder.fault }
}

/** `path`: where the text is in the whole document, for unknown and duplicate fields. */
type Origin = { readonly path?: readonly string[]; readonly isStored?: boolean }

function decodeClosed(text: string, struct: Struct, origin: Origin = {}): Decoding {
  const decoder = once('decoder', () => new Decoder(text, origin))
  decoder.rewind()
  decoder.scanner.peekType()
  const value = decoder.struct(struct, {})
  decoder.scanner.end()
  return { value, fault: decoder.fault, strictFaults: decoder.strictFaults }
}

/**
 * Decodes an object of a custom kind: fields that have a type here are decoded by it, others as any JSON. Nulls are kept, since some
 * schemas want them.
 */
function decodeOpen(text: string, struct: Struct): Decoding {
  const { byName } = struct
  const scanner = new JsonScanner(text)
  const value: Target = new JsonMap()
  const unknown: string[] = []
  let fault: string | undefined
  const repeated = once('repeated fields', () => ({ isSeen: false }))
  const onRepeat = (): void => {
    repeated.isSeen = true
  }
  scanner.peekType()
  for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
    const key = scanner.readKey()
    if (key in value) onRepeat()
    const field = byName.get(key)
    const type = scanner.peekType()
    const start = scanner.at
    value[key] = readAny(scanner, 1, onRepeat)
    if (field === undefined || type === 'null') continue
    if (field.schema.type !== 'struct') {
      if (type !== 'string') fault ??= `json: cannot unmarshal ${type} into Go struct field .${key} of type string`
    } else if (type !== 'object') {
      fault ??= `json: cannot unmarshal ${type} into Go value of type ${field.schema.goName}`
    } else {
      const decoding = decodeClosed(text.slice(start, scanner.at), field.schema, { path: [key] })
      value[key] = decoding.value
      fault ??= decoding.fault
      addAll(
        unknown,
        decoding.strictFaults.filter((strict) => strict.startsWith('unknown')),
      )
    }
  }
  scanner.end()
  return { value, fault, strictFaults: [...(repeated.isSeen ? duplicateFields(text) : []), ...unknown] }
}

/** Scalars that are more than a JSON value of one type. */
type OwnForm = Exclude<ScalarType, 'string' | 'boolean' | 'int32' | 'int64'>

/** Marks a map key in a path: messages about types omit it. */
const MAP_KEY = '\0'

/**
 * What is wrong with a value: a message, or a type mismatch, which an enclosing type with an UnmarshalJSON of its own reports with its
 * own path.
 */
type Wrong = string | { readonly shown: string; readonly goName: string; readonly text: string }

/** Types in the schemas of CRDs that have an UnmarshalJSON of their own in Go, and contain schemas of the enclosing type. */
const selfReading: ReadonlySet<string> = new Set([
  'v1.JSONSchemaPropsOrArray',
  'v1.JSONSchemaPropsOrBool',
  'v1.JSONSchemaPropsOrStringArray',
])

/** Whether a field, or the values of a map in it, are of such a type. */
export const readsItself = (schema: Schema): boolean =>
  schema.type === 'map' ? readsItself(schema.of) : schema.type === 'any' && selfReading.has(schema.goName)

class Decoder {
  readonly scanner: JsonScanner
  readonly strictFaults: string[] = []
  readonly #room = newPathRoom()
  /** Fields by name, items by index, and map keys after MAP_KEY. */
  #path: (string | number)[] = []
  readonly #outerPath: string
  readonly #isStored: boolean
  /** The struct whose fields are being decoded. */
  #struct: Struct | undefined
  #depth = 0
  /** How many types with an UnmarshalJSON of their own are open: unknown and duplicate fields inside of them are not reported. */
  #selfReadingDepth = 0
  /** The first value of a wrong type. */
  #mismatch: Wrong | undefined
  /** An error of a type with an UnmarshalJSON of its own, at which Go stops: it is reported instead of an earlier mismatch. */
  #refusal: Wrong | undefined

  constructor(text: string, { path = [], isStored = false }: Origin) {
    this.scanner = new JsonScanner(text)
    this.#isStored = isStored
    this.#outerPath = path.map((name) => `.${name}`).join('')
  }

  /** Before the text is read once more in parts. Faults that were found stay. */
  rewind(): void {
    this.scanner.at = 0
    this.#path = []
    this.#struct = undefined
    this.#depth = 0
    this.#selfReadingDepth = 0
  }

  get fault(): string | undefined {
    const wrong = this.#wrong
    return typeof wrong === 'object' ? wrong.text : wrong
  }

  get #wrong(): Wrong | undefined {
    return this.#refusal ?? this.#mismatch
  }

  struct(struct: Struct, into: Target): Target {
    const { scanner } = this
    const outer = this.#struct
    if (++this.#depth > DEPTH_MAX) {
      scanner.at++
      throw scanner.tooDeep()
    }
    this.#struct = struct
    const seen: Field[] = []
    for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
      const key = scanner.readKey()
      const field = struct.byName.get(key)
      if (field === undefined) {
        this.#strict('unknown', key)
        scanner.peekType()
        scanner.skipValue()
        continue
      }
      // limit: the fields of a type
      if (seen.includes(field)) this.#strict('duplicate', key)
      else seen.push(field)
      this.#path.push(key)
      this.#field(field, into)
      this.#path.pop()
    }
    this.#struct = outer
    this.#depth--
    return into
  }

  #field({ name, schema, isPointer, omit }: Field, into: Target): void {
    const existing = into[name]
    const value = this.value(schema, existing)
    if (value === null) {
      // But not deletionTimestamp: a null that somebody wrote directly to etcd would delete the object.
      if (this.#isStored && isPointer && isTime(schema) && name !== 'deletionTimestamp') into[name] = zeroTime
      else if (schema.type === 'string' && schema.isNullEmpty === true) into[name] = ''
      // For a field that cannot be nil in Go, null changes nothing.
      else if (isPointer || isNullable(schema)) delete into[name]
    } else if (value !== undefined) {
      // An empty port name is not the same as no port, and Go's messages distinguish empty bytes from nil.
      const isKept = schema.type === 'intOrString' || (schema.type === 'bytes' && omit === 'never' && !this.#isStored)
      const isEmpty = (value === '' && !isKept) || value === 0 || value === false || isZeroTime(value, schema)
      // Inside of types with an UnmarshalJSON of their own, empty objects and lists are dropped here.
      const isVoid = this.#selfReadingDepth > 0 && typeof value === 'object' && Object.keys(value).length === 0
      if (!isPointer && (isEmpty || isVoid)) delete into[name]
      else into[name] = value
    }
  }

  /** Null for null; undefined for a value that was rejected. */
  value(schema: Schema, existing: Json | undefined): Json | undefined {
    const { scanner } = this
    const type = scanner.peekType()
    if (type === 'null') {
      scanner.skipNull()
      return null
    }
    switch (schema.type) {
      case 'struct':
        if (type !== 'object') return this.#skipMismatch(type, schema.goName)
        return this.struct(schema, isTarget(existing) ? existing : {})
      case 'list':
        if (type !== 'array') return this.#skipMismatch(type, schema.goName)
        return this.#list(schema.of, Array.isArray(existing) ? existing : [])
      case 'map':
        if (type !== 'object') return this.#skipMismatch(type, schema.goName)
        return this.#map(schema.of, isTarget(existing) ? existing : new JsonMap())
      case 'string':
        return type === 'string' ? scanner.readString() : this.#skipMismatch(type, schema.goName)
      case 'boolean':
        return type === 'bool' ? scanner.readBoolean() : this.#skipMismatch(type, schema.goName)
      case 'int32':
      case 'int64':
        return this.#integer(type, schema.type, schema.goName)
      case 'any':
        return selfReading.has(schema.goName) ? this.#selfReading(type, schema.goName) : readAny(scanner)
      case 'raw':
        return readRaw(scanner)
      case 'float64':
      case 'bytes':
      case 'time':
      case 'microTime':
      case 'quantity':
      case 'intOrString':
        return this.#scalar(type, schema.type, schema.goName)
    }
  }

  #list(of: Schema, existing: readonly Json[]): Json[] {
    const { scanner } = this
    if (isDivided()) return this.#listInParts(of, existing)
    const items: Json[] = []
    for (let more = scanner.beginArray(); more; more = scanner.nextInArray()) {
      const index = items.length
      this.#path.push(index)
      const item = this.value(of, existing[index])
      this.#path.pop()
      items.push(item ?? zeroOf(of))
    }
    return items
  }

  #listInParts(of: Schema, existing: readonly Json[]): Json[] {
    const { scanner } = this
    const depth = this.#path.length
    const begin = (): { items: Json[]; more: boolean; at: number; bytesMin: number } => {
      const more = scanner.beginArray()
      return { items: [], more, at: scanner.at, bytesMin: 0 }
    }
    const read = repeat(scanner.at, begin, (list) => {
      scanner.at = list.at
      if (!list.more) return false
      const index = list.items.length
      this.#path.push(index)
      const item = this.value(of, existing[index]) ?? zeroOf(of)
      this.#path.length = depth
      list.items.push(item)
      list.bytesMin += itemBytesMin(item, of)
      if (list.bytesMin > STORED_BYTES_MAX && !this.#isStored) throw tooLargeToStore(STORED_BYTES_MAX)
      list.more = scanner.nextInArray()
      list.at = scanner.at
      return list.more
    })
    scanner.at = read.at
    return read.items
  }

  #map(of: Schema, into: Target): Target {
    const { scanner } = this
    if (isDivided()) return this.#mapInParts(of, into)
    // If the map was given before, its earlier keys are merged with, and are no duplicates.
    const own = Object.keys(into).length === 0 ? undefined : new Set<string>()
    for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
      const key = scanner.readKey()
      if (own === undefined ? key in into : own.has(key)) this.#strict('duplicate', key)
      this.#path.push(MAP_KEY + key)
      const value = this.value(of, undefined)
      this.#path.pop()
      into[key] = value ?? zeroInMap(of)
      own?.add(key)
    }
    return into
  }

  #mapInParts(of: Schema, into: Target): Target {
    const { scanner } = this
    const depth = this.#path.length
    const begin = (): { own: Set<string> | undefined; into: Target; more: boolean; at: number } => {
      const own = Object.keys(into).length === 0 ? undefined : new Set<string>()
      const more = scanner.beginObject()
      return { own, into, more, at: scanner.at }
    }
    const read = repeat(scanner.at, begin, (map) => {
      scanner.at = map.at
      if (!map.more) return false
      const key = scanner.readKey()
      if (map.own === undefined ? key in map.into : map.own.has(key)) this.#strict('duplicate', key)
      this.#path.push(MAP_KEY + key)
      const value = this.value(of, undefined)
      this.#path.length = depth
      map.into[key] = value ?? zeroInMap(of)
      map.own?.add(key)
      map.more = scanner.nextInObject()
      map.at = scanner.at
      return map.more
    })
    scanner.at = read.at
    return read.into
  }

  /** A value of another JSON type leaves a schema-or-list empty, and is an error for a schema-or-boolean. */
  #selfReading(type: JsonType, goName: string): Json | undefined {
    const { scanner } = this
    const schema = this.#struct
    if (type === 'object' && schema !== undefined) return this.#alone(() => this.struct(schema, {}))
    if (goName === 'v1.JSONSchemaPropsOrBool') {
      if (type === 'bool') return scanner.readBoolean()
      scanner.skipValue()
      return this.#refuse('boolean or JSON schema expected')
    }
    const of: Schema | undefined = goName === 'v1.JSONSchemaPropsOrArray' ? schema : plainText
    if (type === 'array' && of !== undefined) return this.#alone(() => this.#list(of, []))
    scanner.skipValue()
    // False: given, but neither a schema nor a list. Outside of these types, validation of the CRD checks whether it was given.
    return of === schema && this.#selfReadingDepth === 0 ? false : null
  }

  /** As Go calls UnmarshalJSON for this value alone: only its first mismatch is reported, with the path of the value itself. */
  #alone(read: () => Json): Json | undefined {
    const [path, struct, mismatch] = [this.#path, this.#struct, this.#mismatch]
    const refusal = this.#refusal
    this.#path = []
    this.#mismatch = undefined
    this.#refusal = undefined
    this.#selfReadingDepth++
    const value = read()
    this.#selfReadingDepth--
    const wrong = this.#wrong
    this.#path = path
    this.#struct = struct
    this.#mismatch = mismatch
    this.#refusal = refusal
    if (wrong === undefined) return value
    return this.#refuse(typeof wrong === 'string' ? wrong : this.#describe(wrong.shown, wrong.goName))
  }

  #integer(type: JsonType, size: 'int32' | 'int64', goName: string): Json | undefined {
    if (type !== 'number') return this.#skipMismatch(type, goName)
    const literal = this.scanner.readNumber()
    return readInteger(literal, size) ?? this.#mismatchOf(`number ${literal}`, goName)
  }

  #scalar(type: JsonType, scalar: OwnForm, goName: string): Json | undefined {
    const { scanner } = this
    switch (scalar) {
      case 'float64': {
        if (type !== 'number') return this.#skipMismatch(type, goName)
        const literal = scanner.readNumber()
        return Number.isFinite(Number(literal)) ? Number(literal) : this.#mismatchOf(`number ${literal}`, goName)
      }
      case 'bytes': {
        if (type === 'array') return this.#byteList()
        if (type !== 'string') return this.#skipMismatch(type, goName)
        const read = readBase64(scanner.readString())
        if ('fault' in read) this.#mismatch ??= read.fault
        return 'fault' in read ? undefined : read.text
      }
      case 'time':
      case 'microTime': {
        if (type !== 'string') return this.#skipRefusal(type, 'string')
        return this.#own(readTime(scanner.readString(), scalar))
      }
      case 'quantity': {
        const start = scanner.at
        const text =
          type === 'string' ? scanner.readString() : (scanner.skipValue(), scanner.text.slice(start, scanner.at))
        return this.#own(readQuantity(text))
      }
      case 'intOrString': {
        if (type === 'string') return scanner.readString()
        if (type !== 'number') return this.#skipRefusal(type, 'int32')
        const literal = scanner.readNumber()
        return readInteger(literal, 'int32') ?? this.#refuse(this.#describe(`number ${literal}`, 'int32'))
      }
    }
  }

  /** Bytes may be given as an array of numbers as well. One that is invalid becomes zero, and the first of those is reported. */
  #byteList(): Json {
    const { scanner } = this
    const bytes: number[] = []
    for (let more = scanner.beginArray(); more; more = scanner.nextInArray()) {
      const type = scanner.peekType()
      const start = scanner.at
      if (type === 'null') scanner.skipValue()
      else if (type !== 'number') this.#skipMismatch(type, 'uint8')
      else {
        const literal = scanner.readNumber()
        const byte = Number(literal)
        const isByte = /^\d+$/.test(literal) && byte < 256
        if (!isByte) this.#mismatchOf(`number ${scanner.text.slice(start, scanner.at)}`, 'uint8')
        bytes.push(isByte ? byte : 0)
        continue
      }
      bytes.push(0)
    }
    return Buffer.from(bytes).toString('base64')
  }

  #own(read: Read): Json | undefined {
    return 'fault' in read ? this.#refuse(read.fault) : read.text
  }

  #refuse(why: Wrong): undefined {
    this.#refusal ??= why
    return undefined
  }

  #skipRefusal(type: JsonType, goName: string): undefined {
    this.scanner.skipValue()
    return this.#refuse(this.#describe(type, goName))
  }

  #skipMismatch(type: JsonType, goName: string): undefined {
    const start = this.scanner.at
    this.scanner.skipValue()
    const isNumber = type === 'number'
    const isNumeric = goName === 'int32' || goName === 'int64' || goName === 'float64'
    const shown = isNumber && isNumeric ? `number ${this.scanner.text.slice(start, this.scanner.at)}` : type
    return this.#mismatchOf(shown, goName)
  }

  #mismatchOf(shown: string, goName: string): undefined {
    this.#mismatch ??= this.#describe(shown, goName)
    return undefined
  }

  #describe(shown: string, goName: string): Wrong {
    const names = this.#path.filter((part) => typeof part === 'string' && !part.startsWith(MAP_KEY))
    const place = this.#struct === undefined ? 'value' : `struct field ${this.#struct.name}.${names.join('.')}`
    return { shown, goName, text: `json: cannot unmarshal ${shown} into Go ${place} of type ${goName}` }
  }

  #strict(what: 'unknown' | 'duplicate', key: string): void {
    if (this.#selfReadingDepth > 0 || this.strictFaults.length >= STRICT_FAULTS_MAX || this.#room.isFull) return
    const place = this.#place(key)
    this.#room.take(place)
    const fault = `${what} field ${quote(place)}`
    if (!this.strictFaults.includes(fault)) this.strictFaults.push(fault)
  }

  #place(key: string): string {
    const parts = this.#path.map((part) =>
      typeof part === 'number' ? `[${part}]` : `.${part.startsWith(MAP_KEY) ? part.slice(1) : part}`,
    )
    return [this.#outerPath, ...parts, `.${key}`].join('').slice(1)
  }
}

const isTime = ({ type }: Schema): boolean => type === 'time' || type === 'microTime'

const plainText: Schema = { type: 'string', goName: 'string' }

const isNullable = ({ type }: Schema): boolean => type === 'list' || type === 'map' || type === 'any' || type === 'raw'

export const isTarget = (value: Json | undefined): value is Target =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Go distinguishes nil bytes from empty ones until they are stored, so null is kept. */
export const zeroInMap = (of: Schema): Json => (of.type === 'bytes' ? null : zeroOf(of))

/** The zero value for a null in a list or a map, which cannot omit it. */
export function zeroOf(schema: Schema): Json {
  switch (schema.type) {
    case 'string':
    case 'bytes':
      return ''
    case 'boolean':
      return false
    case 'int32':
    case 'int64':
    case 'float64':
    case 'intOrString':
      return 0
    case 'quantity':
      return '0'
    case 'struct':
      return {}
    case 'time':
    case 'microTime':
    case 'any':
    case 'raw':
    case 'list':
    case 'map':
      return null
  }
}
