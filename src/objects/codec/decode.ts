/**
 * Decodes JSON to an object with a known schema, in one pass over the text. It reports the same
 * errors as Go's strict decoder, in the same order: first syntax errors, then the first value of a
 * wrong type. Unknown and duplicate fields are collected separately. If a field occurs twice, both
 * values are merged, as in Go.
 */
import { cutText } from '../../lib/text/cut-text.ts'
import { tooLargeToStore } from '../../api/errors.ts'
import { JsonMap } from '../../api/json-map.ts'
import type { Json } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { zeroTime } from '../../api/time.ts'
import type { Any, Field, ScalarType, Schema, Struct } from '../schema/schema.ts'
import { itemBytesMin, STORED_BYTES_MAX } from '../schema/stored-size.ts'
import { JsonScanner, type JsonType } from '../../api/json-scanner.ts'
import { isDivided, once, repeat } from '../../lib/scheduling/parts.ts'
import { duplicateFields, PATHS_CHARACTERS_MAX } from './duplicates.ts'
import { readAny } from '../../api/json-value.ts'
import { readRaw } from './json.ts'
import { type ScalarResult, readBase64, readInteger, readQuantity, readTime } from './scalars.ts'
import { addAll } from '../../lib/scheduling/long-lists.ts'

export type Decoding = {
  /**
   * The object without unknown fields and nulls. A zero value is also left out if an absent value
   * has the same meaning.
   */
  readonly value: Target
  /** The error for the first value with a wrong type. If there is one, `value` is not usable. */
  readonly fault: string | undefined
  /** Messages such as `unknown field "a.b"` and `duplicate field "c"`, in the order of the text. */
  readonly strictFaults: readonly string[]
}

/** Maximum number of unknown and duplicate fields that are reported, as in Go. */
const STRICT_FAULTS_MAX = 100

/**
 * Maximum nesting depth of structs. Only the schemas in CRDs are recursive, and real schemas are
 * far less deep.
 */
const DEPTH_MAX = 500

export type Target = { [name: string]: Json }

/**
 * Decodes a JSON text, which must contain an object. Throws a `JsonSyntaxError` if the text is not
 * valid JSON.
 */
export function decodeStruct(text: string, struct: Struct): Decoding {
  return struct.open !== undefined ? decodeOpen(text, struct) : decodeClosed(text, struct)
}

/**
 * Does the same as `decodeStruct`, but for JSON in the database. There, a time that is a pointer in
 * Go can be null, which stands for Go's zero time. kube-apiserver stores protobuf, in which a zero
 * time and an absent time differ, and prints the zero time as null.
 */
export function decodeStoredStruct(text: string, struct: Struct): Decoding {
  return struct.open !== undefined
    ? decodeOpen(text, struct)
    : decodeClosed(text, struct, { isStored: true })
}

/**
 * Decodes a value of any type, such as a list in an annotation. Throws a `JsonSyntaxError` if the
 * text is not valid JSON.
 */
export function decodeValue(
  text: string,
  schema: Schema,
): { readonly value: Json; readonly fault: string | undefined } {
  const decoder = new Decoder(text, {})
  const value = decoder.value(schema, undefined)
  decoder.scanner.end()
  return { value: value ?? null, fault: decoder.fault }
}

/**
 * Where the text comes from. `path` is its position in the whole document, for messages about
 * unknown and duplicate fields.
 */
type Origin = { readonly path?: readonly string[]; readonly isStored?: boolean }

function decodeClosed(text: string, struct: Struct, origin: Origin = {}): Decoding {
  const decoder = new Decoder(text, origin)
  decoder.scanner.peekType()
  const value = decoder.struct(struct, {})
  decoder.scanner.end()
  return { value, fault: decoder.fault, strictFaults: decoder.strictFaults }
}

/**
 * Decodes an object of a custom kind. Fields with a known type are decoded accordingly; other
 * fields can be any JSON. Nulls are kept, because some schemas permit them.
 */
function decodeOpen(text: string, struct: Struct): Decoding {
  const scanner = new JsonScanner(text)
  scanner.peekType()
  const begin = (): OpenDecoding => {
    const more = scanner.beginObject()
    const value: Target = new JsonMap()
    return { value, unknown: [], fault: undefined, isRepeated: false, more, at: scanner.at }
  }
  const read = repeat('open fields', begin, (state) => {
    scanner.at = state.at
    if (!state.more) return false
    decodeOpenField(scanner, struct, state)
    state.more = scanner.nextInObject()
    state.at = scanner.at
    return state.more
  })
  scanner.at = read.at
  scanner.end()
  const { value, fault, isRepeated, unknown } = read
  return { value, fault, strictFaults: [...(isRepeated ? duplicateFields(text) : []), ...unknown] }
}

type OpenDecoding = {
  readonly value: Target
  readonly unknown: string[]
  fault: string | undefined
  /** Whether any key of the object occurs more than once. */
  isRepeated: boolean
  more: boolean
  at: number
}

function decodeOpenField(scanner: JsonScanner, { byName }: Struct, state: OpenDecoding): void {
  const onRepeat = (): void => {
    state.isRepeated = true
  }
  const key = scanner.readKey()
  if (key in state.value) onRepeat()
  const field = byName.get(key)
  const type = scanner.peekType()
  const start = scanner.at
  const value = readAny(scanner, 1, onRepeat)
  if (field?.schema.type === 'struct' && type === 'object') {
    const decoding = decodeClosed(scanner.text.slice(start, scanner.at), field.schema, {
      path: [key],
    })
    state.value[key] = decoding.value
    state.fault ??= decoding.fault
    addAll(
      state.unknown,
      decoding.strictFaults.filter((strict) => strict.startsWith('unknown')),
    )
    return
  }
  state.value[key] = value
  if (field === undefined || type === 'null') return
  if (field.schema.type !== 'struct') {
    if (type !== 'string')
      state.fault ??= `json: cannot unmarshal ${type} into Go struct field .${key} of type string`
  } else {
    state.fault ??= `json: cannot unmarshal ${type} into Go value of type ${field.schema.goName}`
  }
}

/**
 * Scalar types whose JSON is not simply a string, boolean or integer. Each of them has its own
 * parser.
 */
type OwnForm = Exclude<ScalarType, 'string' | 'boolean' | 'int32' | 'int64'>

/** Marks the map keys in a path. Messages about wrong types leave them out. */
const MAP_KEY = '\0'

/**
 * An error in a value: a message, or the description of a value with a wrong type. If the Go type
 * of an enclosing value has its own UnmarshalJSON, `names` begins at that value.
 */
type ValueFault =
  | string
  | {
      readonly shown: string
      readonly goName: string
      readonly text: string
      /** Names of the fields from the value with the own UnmarshalJSON to the wrong value. */
      readonly names: readonly string[]
    }

/**
 * Go types in CRD schemas that have their own UnmarshalJSON. They occur in JSONSchemaProps, and
 * their values can contain JSONSchemaProps.
 */
const selfReading: ReadonlySet<string> = new Set([
  'v1.JSONSchemaPropsOrArray',
  'v1.JSONSchemaPropsOrBool',
  'v1.JSONSchemaPropsOrStringArray',
])

/** Whether `selfReading` contains the type of a field, or of the values if the field is a map. */
export const readsItself = (schema: Schema): boolean =>
  schema.type === 'map'
    ? readsItself(schema.of)
    : schema.type === 'any' && selfReading.has(schema.goName)

/**
 * The errors found so far. The object is replaced when an error is added. Therefore, an interrupted
 * loop can go back to the errors before its current step.
 */
type Findings = {
  /** The error for the first value of a wrong type. */
  readonly mismatch: ValueFault | undefined
  /**
   * The error of a type that has its own UnmarshalJSON. It is reported instead of earlier errors
   * about types, because Go stops decoding at it.
   */
  readonly refusal: ValueFault | undefined
  readonly strictFaults: readonly string[]
  /** Total length of all paths in `strictFaults`. */
  readonly pathCharacters: number
}

const nothingFound: Findings = {
  mismatch: undefined,
  refusal: undefined,
  strictFaults: [],
  pathCharacters: 0,
}

/** The state that an interrupted loop needs to continue. */
type Mark = { more: boolean; at: number; found: Findings }

/**
 * After this number of characters, the remaining fields of a struct are decoded in a loop that can
 * be interrupted. Each part of the work decodes the fields before that again.
 */
const REREAD_CHARACTERS_MAX = 4096

class Decoder {
  readonly scanner: JsonScanner
  #found = nothingFound
  /**
   * The path of the current value. It consists of field names, item indexes, and map keys preceded
   * by MAP_KEY.
   */
  #path: (string | number)[] = []
  readonly #outerPath: string
  readonly #isStored: boolean
  /** The struct whose fields are currently decoded. */
  #struct: Struct | undefined
  #depth = 0
  /**
   * How many of the values around the current one have a type with its own UnmarshalJSON. Inside
   * such a value, unknown and duplicate fields are not reported.
   */
  #selfReadingDepth = 0

  constructor(text: string, { path = [], isStored = false }: Origin) {
    this.scanner = new JsonScanner(text)
    this.#isStored = isStored
    this.#outerPath = path.map((name) => `.${name}`).join('')
  }

  get fault(): string | undefined {
    const wrong = this.#wrong
    return typeof wrong === 'object' ? wrong.text : wrong
  }

  get strictFaults(): readonly string[] {
    return this.#found.strictFaults
  }

  get #wrong(): ValueFault | undefined {
    return this.#found.refusal ?? this.#found.mismatch
  }

  struct(struct: Struct, into: Target): Target {
    const { scanner } = this
    const outer = this.#struct
    if (++this.#depth > DEPTH_MAX) {
      scanner.at++
      throw scanner.tooDeep()
    }
    this.#struct = struct
    const start = scanner.at
    const seen: Field[] = []
    let read = into
    for (let more = scanner.beginObject(); more; more = scanner.nextInObject()) {
      if (scanner.at - start > REREAD_CHARACTERS_MAX && isDivided()) {
        read = this.#restInParts(struct, into, seen)
        break
      }
      this.#member(struct, into, seen)
    }
    this.#struct = outer
    this.#depth--
    return read
  }

  #restInParts(struct: Struct, into: Target, seen: Field[]): Target {
    const { scanner } = this
    const begin = (): Mark & { readonly into: Target; readonly seen: Field[] } => ({
      into,
      seen,
      ...this.#mark(true),
    })
    const read = repeat(scanner.at, begin, (rest) => {
      this.#goTo(rest)
      this.#member(struct, rest.into, rest.seen)
      rest.more = scanner.nextInObject()
      rest.at = scanner.at
      rest.found = this.#found
      return rest.more
    })
    this.#goTo(read)
    return read.into
  }

  #mark(more: boolean): Mark {
    return { more, at: this.scanner.at, found: this.#found }
  }

  #goTo({ at, found }: Mark): void {
    this.scanner.at = at
    this.#found = found
  }

  /** Decodes one member of an object. `seen` contains the fields that were already decoded. */
  #member(struct: Struct, into: Target, seen: Field[]): void {
    const { scanner } = this
    const key = scanner.readKey()
    const field = struct.byName.get(key)
    if (field === undefined) {
      this.#strict('unknown', key)
      scanner.peekType()
      this.#skipUnknown()
      return
    }
    // Bounded: `seen` is short, because a type has a fixed number of fields
    if (seen.includes(field)) this.#strict('duplicate', key)
    else seen.push(field)
    this.#path.push(key)
    this.#field(field, into)
    this.#path.pop()
  }

  /**
   * Skips the value of an unknown field. In work that is divided into parts, later parts do not
   * skip the value again.
   */
  #skipUnknown(): void {
    const { scanner } = this
    scanner.at = once('unknown value', () => {
      scanner.skipValue()
      return scanner.at
    })
  }

  #field({ name, schema, isPointer, omit }: Field, into: Target): void {
    const existing = into[name]
    const value = this.value(schema, existing)
    if (value === null) {
      // A null for deletionTimestamp is not the zero time. Otherwise, an object would count as
      // being deleted if a client wrote null directly to etcd.
      if (this.#isStored && isPointer && isTime(schema) && name !== 'deletionTimestamp')
        into[name] = zeroTime
      else if (schema.type === 'string' && schema.isNullEmpty === true) into[name] = ''
      // In Go, null leaves a field unchanged if the field is not a pointer.
      else if (isPointer || isNullable(schema)) delete into[name]
    } else if (value !== undefined) {
      // An empty port name differs from an absent one. So do empty bytes, because Go's messages
      // distinguish them from nil bytes.
      const isKept =
        schema.type === 'intOrString' ||
        (schema.type === 'bytes' && omit === 'never' && !this.#isStored)
      const isEmpty =
        (value === '' && !isKept) || value === 0 || value === false || isZeroTime(value, schema)
      // Drop empty objects and lists inside types that have their own UnmarshalJSON.
      const isVoid =
        this.#selfReadingDepth > 0 && typeof value === 'object' && Object.keys(value).length === 0
      if (!isPointer && (isEmpty || isVoid)) delete into[name]
      else into[name] = value
    }
  }

  /** Decodes a value. Returns null if the JSON is null, and undefined if the value is rejected. */
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
        return selfReading.has(schema.goName) ? this.#selfReading(type, schema) : readAny(scanner)
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
    const begin = (): Mark & { readonly items: Json[]; bytesMin: number } => ({
      items: [],
      bytesMin: 0,
      ...this.#mark(scanner.beginArray()),
    })
    const read = repeat(scanner.at, begin, (list) => {
      this.#goTo(list)
      if (!list.more) return false
      const index = list.items.length
      this.#path.push(index)
      const item = this.value(of, existing[index]) ?? zeroOf(of)
      this.#path.length = depth
      list.items.push(item)
      list.bytesMin += itemBytesMin(item, of)
      if (list.bytesMin > STORED_BYTES_MAX && !this.#isStored)
        throw tooLargeToStore(STORED_BYTES_MAX)
      list.more = scanner.nextInArray()
      list.at = scanner.at
      list.found = this.#found
      return list.more
    })
    this.#goTo(read)
    return read.items
  }

  #map(of: Schema, into: Target): Target {
    const { scanner } = this
    if (isDivided()) return this.#mapInParts(of, into)
    // If the same field occurred before, the map already has keys. Both maps are then merged, and
    // keys that are in both are not duplicates.
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
    const begin = (): Mark & { readonly own: Set<string> | undefined; readonly into: Target } => ({
      own: Object.keys(into).length === 0 ? undefined : new Set<string>(),
      into,
      ...this.#mark(scanner.beginObject()),
    })
    const read = repeat(scanner.at, begin, (map) => {
      this.#goTo(map)
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
      map.found = this.#found
      return map.more
    })
    this.#goTo(read)
    return read.into
  }

  /**
   * Decodes a value of a type in `selfReading`. If it has an unexpected JSON type, it is an error
   * for JSONSchemaPropsOrBool, and an empty value for the other types.
   */
  #selfReading(type: JsonType, { goName, namesInner }: Any): Json | undefined {
    const { scanner } = this
    const schema = this.#struct
    if (type === 'object' && schema !== undefined)
      return this.#alone(() => this.struct(schema, {}), namesInner)
    if (goName === 'v1.JSONSchemaPropsOrBool') {
      if (type === 'bool') return scanner.readBoolean()
      scanner.skipValue()
      return this.#refuse('boolean or JSON schema expected')
    }
    const of: Schema | undefined = goName === 'v1.JSONSchemaPropsOrArray' ? schema : plainText
    if (type === 'array' && of !== undefined)
      return this.#alone(() => this.#list(of, []), namesInner)
    scanner.skipValue()
    // For JSONSchemaPropsOrArray, return false instead of null, so that the validation of CRDs can
    // detect that there was a value.
    return of === schema ? false : null
  }

  /**
   * Decodes a value on its own, as Go's UnmarshalJSON does. Only the first wrong type in it is
   * reported. The path in the message ends at this value, unless `namesInner` is true.
   */
  #alone(read: () => Json, namesInner = false): Json | undefined {
    const [path, struct, found] = [this.#path, this.#struct, this.#found]
    this.#path = []
    // Unknown and duplicate fields inside the value are not reported.
    this.#found = nothingFound
    this.#selfReadingDepth++
    const value = read()
    this.#selfReadingDepth--
    const wrong = this.#wrong
    this.#path = path
    this.#struct = struct
    this.#found = found
    if (wrong === undefined) return value
    return this.#refuse(
      typeof wrong === 'string'
        ? wrong
        : this.#describe(wrong.shown, wrong.goName, namesInner ? wrong.names : []),
    )
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
        return Number.isFinite(Number(literal))
          ? Number(literal)
          : this.#mismatchOf(`number ${literal}`, goName)
      }
      case 'bytes': {
        if (type === 'array') return this.#byteList()
        if (type !== 'string') return this.#skipMismatch(type, goName)
        const read = readBase64(scanner.readString())
        if ('fault' in read) this.#recordMismatch(read.fault)
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
          type === 'string'
            ? scanner.readString()
            : (scanner.skipValue(), scanner.text.slice(start, scanner.at))
        return this.#own(readQuantity(text))
      }
      case 'intOrString': {
        if (type === 'string') return scanner.readString()
        if (type !== 'number') return this.#skipRefusal(type, 'int32')
        const literal = scanner.readNumber()
        return (
          readInteger(literal, 'int32') ??
          this.#refuse(this.#describe(`number ${literal}`, 'int32'))
        )
      }
    }
  }

  /**
   * Decodes bytes from an array of numbers. A number that is not a byte becomes zero. The first
   * such number is reported.
   */
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

  #own(read: ScalarResult): Json | undefined {
    return 'fault' in read ? this.#refuse(read.fault) : read.text
  }

  #refuse(why: ValueFault): undefined {
    if (this.#found.refusal === undefined) this.#found = { ...this.#found, refusal: why }
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
    const shown =
      isNumber && isNumeric ? `number ${this.scanner.text.slice(start, this.scanner.at)}` : type
    return this.#mismatchOf(shown, goName)
  }

  #mismatchOf(shown: string, goName: string): undefined {
    this.#recordMismatch(this.#describe(shown, goName))
    return undefined
  }

  #recordMismatch(why: ValueFault): void {
    if (this.#found.mismatch === undefined) this.#found = { ...this.#found, mismatch: why }
  }

  #describe(shown: string, goName: string, inner: readonly string[] = []): ValueFault {
    const names = this.#path
      .filter((part) => typeof part === 'string')
      .filter((part) => !part.startsWith(MAP_KEY))
      .concat(inner)
    const place =
      this.#struct === undefined ? 'value' : `struct field ${this.#struct.name}.${names.join('.')}`
    return {
      shown,
      goName,
      names,
      text: `json: cannot unmarshal ${cutText(shown)} into Go ${place} of type ${goName}`,
    }
  }

  #strict(what: 'unknown' | 'duplicate', key: string): void {
    const { strictFaults, pathCharacters } = this.#found
    if (this.#selfReadingDepth > 0 || strictFaults.length >= STRICT_FAULTS_MAX) return
    if (pathCharacters >= PATHS_CHARACTERS_MAX) return
    const place = this.#place(key)
    const fault = `${what} field ${quote(place)}`
    this.#found = {
      ...this.#found,
      strictFaults: strictFaults.includes(fault) ? strictFaults : [...strictFaults, fault],
      pathCharacters: pathCharacters + place.length,
    }
  }

  #place(key: string): string {
    const parts = this.#path.map((part) =>
      typeof part === 'number'
        ? `[${part}]`
        : `.${part.startsWith(MAP_KEY) ? part.slice(1) : part}`,
    )
    return [this.#outerPath, ...parts, `.${key}`].join('').slice(1)
  }
}

const isTime = ({ type }: Schema): boolean => type === 'time' || type === 'microTime'

export const isZeroTime = (value: Json, schema: Schema): boolean =>
  value === zeroTime && isTime(schema)

const plainText: Schema = { type: 'string', goName: 'string' }

const isNullable = ({ type }: Schema): boolean =>
  type === 'list' || type === 'map' || type === 'any' || type === 'raw'

export const isTarget = (value: Json | undefined): value is Target =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns the value that replaces null in a map. Null stays null in a map of bytes, because Go
 * distinguishes nil bytes from empty bytes until they are stored.
 */
export const zeroInMap = (of: Schema): Json => (of.type === 'bytes' ? null : zeroOf(of))

/** Returns the value that replaces null in a list or map, where a value cannot be left out. */
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
