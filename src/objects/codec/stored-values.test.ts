/**
 * Tests that each accepted value can be stored and read again, and is printed as the same bytes in
 * every encoding. The test covers each scalar field in the catalogue (src/registry/catalogue), with
 * values at the limits of its type and beyond. Values are sent as JSON and as protobuf. The server
 * may also reject them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonSyntaxError } from '../../api/json-scanner.ts'
import { parseJson } from '../../api/json-value.ts'
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { apiVersionOf } from '../../registry/resource.ts'
import { plainSchema } from '../schema/object-schema.ts'
import type { Schema, Struct } from '../schema/schema.ts'
import { encodeCbor } from './cbor/encode.ts'
import { cborToJson } from './cbor/to-json.ts'
import { decodeStruct } from './decode.ts'
import { printSorted } from './json.ts'
import { decodeStored, encodeStored, printWire } from './object.ts'
import { decodeObject, encodeItem } from './protobuf/envelope.ts'
import { ProtobufError } from './protobuf/reader.ts'
import { Transcoder } from './protobuf/transcode.ts'
import { BYTES, FIXED64, VARINT, ProtobufWriter } from '../../lib/bytes/protobuf-writer.ts'
import { jsonToYaml } from './yaml-print.ts'
import { convertYaml } from './yaml.ts'

/**
 * One step of the path from an object to a scalar inside it. Go structs can have inline fields. In
 * protobuf, these are in a message of their own, whose field number is `outer`.
 */
type Step =
  | {
      readonly in: 'field'
      readonly name: string
      readonly number: number
      readonly outer: number | undefined
    }
  | { readonly in: 'list' | 'wrapped list' | 'map' }

type Root = { readonly struct: Struct; readonly apiVersion: string; readonly kind: string }
type SchemaPosition = {
  readonly root: Root
  readonly steps: readonly Step[]
  readonly schema: Schema
  readonly isPointer: boolean
}
type Write = (writer: ProtobufWriter, number: number) => void
type Sort = Schema['type'] | 'schema' | 'schemaOrBool'

/** Yields the positions of all scalars. Each type is visited once. */
function* placesIn(
  struct: Struct,
  root: Root,
  steps: readonly Step[],
  seen: Set<Struct>,
): Generator<SchemaPosition> {
  if (seen.has(struct)) return
  seen.add(struct)
  const inlined = new Map(
    struct.embedded.flatMap((one) => one.struct.fields.map((field) => [field, one.number])),
  )
  for (const field of struct.fields) {
    const step: Step = {
      in: 'field',
      name: field.name,
      number: field.number,
      outer: inlined.get(field),
    }
    const to = [...steps, step]
    let schema = field.schema
    for (; schema.type === 'list' || schema.type === 'map'; schema = schema.of) {
      to.push({
        in: schema.type === 'map' ? 'map' : schema.isWrapped === true ? 'wrapped list' : 'list',
      })
    }
    if (schema.type === 'struct') yield* placesIn(schema, root, to, seen)
    else yield { root, steps: to, schema, isPointer: field.isPointer && schema === field.schema }
  }
}

function jsonOf({ root, steps }: SchemaPosition, value: string): string {
  let text = value
  for (const step of steps.toReversed()) {
    if (step.in === 'field') text = `{${JSON.stringify(step.name)}:${text}}`
    else text = step.in === 'map' ? `{"k":${text}}` : `[${text}]`
  }
  return `{"kind":"${root.kind}","apiVersion":"${root.apiVersion}",${text.slice(1)}`
}

/**
 * Returns the protobuf of an object with this value. Undefined if protobuf does not have the field.
 */
function messageOf({ steps }: SchemaPosition, write: Write): Buffer | undefined {
  if (steps.some((step) => step.in === 'field' && (step.number === 0 || step.outer === 0)))
    return undefined
  const writer = new ProtobufWriter()
  const fields = (at: number): void => {
    const step = steps[at]
    if (step?.in !== 'field') return
    if (step.outer === undefined) value(at + 1, step.number)
    else writer.message(step.outer, () => value(at + 1, step.number))
  }
  const value = (at: number, number: number): void => {
    const step = steps[at]
    if (step === undefined) write(writer, number)
    else if (step.in === 'list') value(at + 1, number)
    else if (step.in === 'field') writer.message(number, () => fields(at))
    else if (step.in === 'wrapped list') writer.message(number, () => value(at + 1, 1))
    else {
      writer.message(number, () => {
        value(at + 1, 2)
        text('k')(writer, 1)
      })
    }
  }
  fields(0)
  return writer.take()
}

const varint =
  (value: number | bigint): Write =>
  (writer, number) => {
    writer.integer(value)
    writer.tag(number, VARINT)
  }
const double =
  (value: number): Write =>
  (writer, number) => {
    writer.double(value)
    writer.tag(number, FIXED64)
  }
const bytes =
  (value: Buffer): Write =>
  (writer, number) => {
    writer.raw(value)
    writer.varint(value.length)
    writer.tag(number, BYTES)
  }
const text = (value: string): Write => bytes(Buffer.from(value))
/**
 * Writes a message. The first of `fields` has the number 1, and so on. Undefined stands for an
 * absent field.
 */
const message =
  (...fields: readonly (Write | undefined)[]): Write =>
  (writer, number) =>
    writer.message(number, () => {
      for (let at = fields.length; at > 0; at--) fields[at - 1]?.(writer, at)
    })

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
/** Seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
const [FIRST, LAST] = [-62_135_596_800, 253_402_300_799]
const times = [
  FIRST - 31_622_401,
  FIRST - 1,
  FIRST,
  FIRST + 1,
  -1,
  0,
  1_700_000_000,
  LAST,
  LAST + 1,
  INT64_MAX,
  INT64_MIN,
]
const nanos = [
  0,
  1,
  999,
  1000,
  999_999_999,
  1_000_000_000,
  2 ** 31 - 1,
  -1,
  -1000,
  -1_000_000_000,
  -(2 ** 31),
]
const timestamps = times.flatMap((seconds) =>
  nanos.map((nano) => message(varint(seconds), varint(nano))),
)
const integers = [0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 53, 2n ** 53n + 1n, INT64_MAX, INT64_MIN]
const raws = [
  '',
  'null',
  '{}',
  '{"b":1, "a":"<"}',
  '1.0',
  '-0',
  '"\\ud800"',
  '\u2028',
  '[',
  '9223372036854775807',
  '{"10":1,"9":2}',
]
const utf8 = [
  Buffer.alloc(0),
  Buffer.from('a\0<>&\u2028é\u{1f600}"\\'),
  Buffer.from([0xff, 0x41]),
  Buffer.from([0xed, 0xa0, 0x80]),
]

const inProtobuf: { readonly [sort in Sort]?: readonly Write[] } = {
  string: utf8.map(bytes),
  boolean: [0, 1, 2, INT64_MIN].map(varint),
  int32: integers.map(varint),
  int64: integers.map(varint),
  float64: [
    0,
    -0,
    1,
    1e-6,
    1e-7,
    1e20,
    1e21,
    5e-324,
    Number.MAX_VALUE,
    NaN,
    Infinity,
    -Infinity,
  ].map(double),
  bytes: utf8.map(bytes),
  time: [message(), ...timestamps],
  microTime: [message(), ...timestamps],
  quantity: [
    '',
    '0',
    '1e3',
    '1000m',
    '0.1n',
    '1Ki',
    '-1',
    '1.5',
    '12E',
    '9223372036854775808',
    '1e-20',
    '1E400',
    'x',
    '+1',
    '.5',
  ].map((value) => message(text(value))),
  intOrString: [
    message(),
    ...integers.map((value) => message(varint(0), varint(value), text('x'))),
    ...utf8.flatMap((value) => [
      message(varint(1), varint(5), bytes(value)),
      message(varint(2), undefined, bytes(value)),
    ]),
  ],
  raw: [message(), ...raws.map((value) => message(text(value)))],
  any: [message(), ...raws.map((value) => message(text(value)))],
}

const schemas = [
  '{}',
  '{"title":""}',
  '{"type":"string","minimum":-0.0,"description":"d","default":{"b":1,"a":{}}}',
  '{"items":{}}',
]

const zones = ['Z', '-24:00', '+01:30']
const dates = [
  '0000-01-01T00:00:00',
  '0001-01-01T00:00:00',
  '1969-12-31T23:59:59',
  '2024-02-29T12:00:00',
  '9999-12-31T23:59:59',
]
const quoted = (texts: readonly string[]): readonly string[] =>
  texts.map((one) => JSON.stringify(one))
const datesWith = (fractions: readonly string[]): readonly string[] =>
  quoted(
    dates.flatMap((date) =>
      fractions.flatMap((fraction) => zones.map((zone) => date + fraction + zone)),
    ),
  )

const inJson: { readonly [sort in Sort]?: readonly string[] } = {
  string: ['""', '"a\\u0000<>&\\u2028é\\ud83d\\ude00\\"\\\\"', '"\\ud800"', '"\\udc00x"'],
  boolean: ['true', 'false'],
  int32: ['0', '-0', '1', '-2147483648', '2147483647', '2147483648', '1e3'],
  int64: [
    '0',
    '-0',
    '9007199254740993',
    `${INT64_MAX}`,
    `${INT64_MIN}`,
    `${INT64_MAX + 1n}`,
    '1.0',
  ],
  float64: [
    '0',
    '-0',
    '1.5',
    '1e-6',
    '1e-7',
    '-1e-9',
    '1e20',
    '1e21',
    '5e-324',
    '1e-400',
    '1.7976931348623157e308',
    '1e400',
    '0.1',
  ],
  bytes: ['""', '"YQ=="', '"YR=="', '"YWJj"', '"YW\\nJj"', '[1,2]', '[]'],
  time: ['null', ...datesWith(['', '.5'])],
  microTime: ['null', ...datesWith(['.000000', '.000001', '.999999'])],
  quantity: [
    '0',
    '1.5',
    '1e3',
    ...quoted([
      '0',
      '1e3',
      '1000m',
      '0.1n',
      '1Ki',
      '-1',
      '12E',
      '9223372036854775808',
      '1e-20',
      '1E400',
      '+1',
      '.5',
      '',
    ]),
  ],
  intOrString: ['0', '-0', '-2147483648', '2147483647', '""', '"http"', '"\\ud800"'],
  raw: raws.filter((value) => value !== ''),
  any: raws.filter((value) => value !== ''),
  schema: schemas,
  schemaOrBool: [...schemas, 'true', 'false'],
}

const transcoder = new Transcoder()
const VERSION = 7

function check(place: SchemaPosition, given: KubeObject, isFirst: boolean): void {
  const { struct } = place.root
  const schema = plainSchema(struct)
  const written: KubeObject = {
    ...given,
    metadata: { ...given.metadata, resourceVersion: `${VERSION}` },
  }
  const stored = encodeStored(given, schema)
  const read = decodeStored(stored, schema, VERSION)
  assert.equal(encodeStored(read, schema).toString(), stored.toString(), 'stored again')
  const wire = printWire(written, schema).bytes
  assert.equal(printWire(read, schema).bytes.toString(), wire.toString(), 'printed')
  const kept = decodeStored(wire, schema, VERSION)
  assert.equal(printWire(kept, schema).bytes.toString(), wire.toString(), 'printed from the cache')
  const encoded = encodeItem(written, struct)
  for (const object of [read, kept])
    assert.equal(encodeItem(object, struct).toString('hex'), encoded.toString('hex'), 'encoded')
  const transcoded = transcoder.message(wire, 0, struct)
  if (transcoded !== undefined)
    assert.equal(transcoded.toString('hex'), encoded.toString('hex'), 'transcoded')
  const decoded = decodeObject({ ...place.root, raw: encoded }, struct)
  if (isInProtobuf(place))
    assert.equal(printWire(decoded, schema).bytes.toString(), wire.toString(), 'decoded')
  if (!isFirst) return
  const value = parseJson(wire)
  const sorted = printSorted(value)
  assert.equal(
    printSorted(parseJson(convertYaml(Buffer.from(jsonToYaml(value))).json)),
    sorted,
    'YAML',
  )
  assert.equal(
    printSorted(parseJson(Buffer.from(cborToJson(encodeCbor(value, struct))))),
    sorted,
    'CBOR',
  )
}

const isInProtobuf = ({ steps }: SchemaPosition): boolean =>
  steps.every((step) => step.in !== 'field' || (step.number !== 0 && step.outer !== 0))

function* places(): Generator<SchemaPosition> {
  const seen = new Set<Struct>()
  for (const resource of builtInResources({
    isServed: () => true,
    gates: { release: 33, isOn: () => true },
  })) {
    const root = {
      struct: resource.shape.struct,
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
    }
    yield* placesIn(root.struct, root, [], seen)
  }
}

/** Metadata fields that only the server sets. */
const ownNames: ReadonlySet<string> = new Set(['resourceVersion', 'deletionTimestamp'])

const isIdentity = ({ steps: [first, second] }: SchemaPosition): boolean =>
  first?.in === 'field' &&
  (first.name === 'kind' ||
    first.name === 'apiVersion' ||
    (second?.in === 'field' && ownNames.has(second.name)))

const shownPlace = ({ root, steps }: SchemaPosition): string =>
  `${root.kind}${steps.map((step) => (step.in === 'field' ? `.${step.name}` : step.in === 'map' ? '{}' : '[]')).join('')}`

/**
 * Chooses the test values for the fields. Fields with the same type and context form a group. The
 * first field of a group is tested with all values, and each further field with one of them in
 * turn. Further strings and booleans are not tested, because there are too many.
 */
class Turns {
  readonly #next = new Map<string, number>()

  of<T>(
    { schema, isPointer, steps }: SchemaPosition,
    values: readonly T[],
  ): { readonly isFirst: boolean; readonly values: readonly T[] } {
    const sort = `${schema.type} ${schema.goName} ${isPointer} ${steps.at(-1)?.in}`
    const turn = this.#next.get(sort) ?? 0
    this.#next.set(sort, turn + 1)
    if (turn === 0) return { isFirst: true, values }
    const isPlain = schema.type === 'string' || schema.type === 'boolean'
    return { isFirst: false, values: isPlain ? [] : values.slice(turn % values.length).slice(0, 1) }
  }
}

/**
 * Returns the name of the group of test values for a type. A schema inside a CRD schema is not a
 * scalar, so it has a group of its own.
 */
const sortOf = ({ type, goName }: Schema): Sort =>
  type !== 'any' || goName === 'v1.JSON'
    ? type
    : goName === 'v1.JSONSchemaPropsOrBool'
      ? 'schemaOrBool'
      : 'schema'

/**
 * Yields a message for each value that fails the test. `accept` returns the object, or undefined if
 * it rejects the value.
 */
function* faultsOf<T>(
  valuesOf: { readonly [sort in Sort]?: readonly T[] },
  accept: (place: SchemaPosition, value: T) => KubeObject | undefined,
): Generator<string> {
  const turns = new Turns()
  for (const place of places()) {
    const { isFirst, values } = turns.of(
      place,
      isIdentity(place) ? [] : (valuesOf[sortOf(place.schema)] ?? []),
    )
    for (const value of values) {
      const object = accept(place, value)
      try {
        if (object !== undefined) check(place, object, isFirst)
      } catch (error) {
        yield `${shownPlace(place)} ${JSON.stringify(object)}: ${String(error)}`
      }
    }
  }
}

function acceptJson(place: SchemaPosition, value: string): KubeObject | undefined {
  const { apiVersion, kind, struct } = place.root
  try {
    const { value: read, fault } = decodeStruct(jsonOf(place, value), struct)
    return fault === undefined
      ? { ...read, apiVersion, kind, metadata: fieldsOf(read['metadata']) }
      : undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

function acceptProtobuf(place: SchemaPosition, write: Write): KubeObject | undefined {
  const raw = messageOf(place, write)
  try {
    return raw && decodeObject({ ...place.root, raw }, place.root.struct)
  } catch (error) {
    if (error instanceof ProtobufError) return undefined
    throw error
  }
}

test('a value that is accepted as JSON does not change when it is stored and read, or encoded in another format', () => {
  assert.deepEqual([...faultsOf(inJson, acceptJson)], [])
})

test('a value that is accepted as protobuf does not change when it is stored and read, or encoded in another format', () => {
  assert.deepEqual([...faultsOf(inProtobuf, acceptProtobuf)], [])
})
