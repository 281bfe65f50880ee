/**
 * Sends hostile bytes to the decoders of all kinds:
 * `node test/chaos/hostile/codecs.ts [--runs N] [--seed S]`. Objects with every field set are
 * encoded as protobuf and CBOR, and the bytes are then mutated by flipping, cutting, splicing and
 * stretching. The decoder must reject each input as a bad request, or decode it. A decoded object
 * must survive a round trip in both formats. No other error may be thrown, and no input may take
 * long to decode.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { ApiError } from '../../../src/api/errors.ts'
import type { Json, KubeObject } from '../../../src/api/object.ts'
import { encodeCbor } from '../../../src/objects/codec/cbor/encode.ts'
import { cborBody, decodeBody, decodeProtobufBody } from '../../../src/objects/codec/decode-body.ts'
import { parseJson } from '../../../src/api/json-value.ts'
import { objectText } from '../../../src/objects/codec/object.ts'
import { encodeObject } from '../../../src/objects/codec/protobuf/envelope.ts'
import { builtInResources } from '../../../src/registry/built-in.ts'
import { apiVersionOf, type Resource } from '../../../src/registry/resource.ts'
import type { Schema, Struct } from '../../../src/objects/schema/schema.ts'
import { Random } from '../simulation/random.ts'

const RUNS = 1_000_000
/** Maximum CPU time for one input. The largest inputs take a few milliseconds. */
const INPUT_MS_MAX = 1_000

export type CodecFigures = {
  readonly decoded: number
  readonly refused: number
  readonly slowestMs: number
}

type Form = 'protobuf' | 'cbor'
type Seed = { readonly resource: Resource; readonly protobuf: Buffer; readonly cbor: Buffer }

/** Fuzzes the decoders. Throws an error that contains the input, so that it can be reproduced. */
export function fuzzCodecs({
  runs,
  seed,
}: {
  readonly runs: number
  readonly seed: number
}): CodecFigures {
  const random = new Random(seed)
  const seeds = builtInResources().map(seedOf)
  let decoded = 0
  let slowestMs = 0
  for (let run = 0; run < runs; run++) {
    const { resource, protobuf, cbor } = random.pick(seeds)
    const form = random.pick<Form>(['protobuf', 'cbor'])
    const bytes = mutated(
      form === 'protobuf' ? protobuf : cbor,
      random,
      () => random.pick(seeds)[form],
    )
    const before = process.cpuUsage()
    try {
      if (isDecoded(bytes, resource, form)) decoded++
    } catch (cause) {
      const sent = `${form} for ${resource.kind}: ${bytes.toString('base64')}`
      throw new Error(`run ${run} of seed ${seed}, ${sent}`, { cause })
    }
    const { user, system } = process.cpuUsage(before)
    slowestMs = Math.max(slowestMs, (user + system) / 1000)
    assert.ok(slowestMs < INPUT_MS_MAX, `run ${run} of seed ${seed} took ${slowestMs} ms`)
  }
  return { decoded, refused: runs - decoded, slowestMs }
}

/**
 * Whether the decoder accepts the bytes. Checks that an accepted object can be encoded and decoded
 * again in both formats.
 */
function isDecoded(bytes: Buffer, resource: Resource, form: Form): boolean {
  const object = decode(bytes, resource, form)
  if (object === undefined) return false
  const { struct } = resource.shape
  const printed = parseJson(Buffer.from(objectText(object, struct)))
  for (const [other, again] of [
    ['protobuf', encodeObject(object, struct)],
    ['cbor', encodeCbor(printed, struct)],
  ] as const) {
    const back = decode(again, resource, other)
    assert.ok(back !== undefined, `it reads back from ${other}`)
  }
  return true
}

function decode(bytes: Buffer, resource: Resource, form: Form): KubeObject | undefined {
  try {
    if (form === 'protobuf') return decodeProtobufBody(bytes, resource)
    return decodeBody(cborBody(bytes, resource), resource, 'Ignore').object
  } catch (error) {
    if (error instanceof ApiError && error.code === 400) return undefined
    throw error
  }
}

function seedOf(resource: Resource): Seed {
  const { struct } = resource.shape
  const { kind } = resource
  const object = { ...sampleFields(struct, []), kind, apiVersion: apiVersionOf(resource) }
  const cbor = encodeCbor(
    parseJson(Buffer.from(objectText({ metadata: {}, ...object }, struct))),
    struct,
  )
  return { resource, protobuf: encodeObject(object, struct), cbor }
}

/**
 * Returns a value for every field of a type. If the type contains itself, the inner object is
 * empty.
 */
function sampleFields(
  struct: Struct,
  within: readonly Struct[],
): { readonly [name: string]: Json } {
  if (within.includes(struct)) return {}
  return Object.fromEntries(
    struct.fields.map(({ name, schema }) => [name, sample(schema, [...within, struct])]),
  )
}

function sample(schema: Schema, within: readonly Struct[]): Json {
  switch (schema.type) {
    case 'string':
      return 'text'
    case 'bytes':
      return 'AAEC/w=='
    case 'boolean':
      return true
    case 'int32':
      return 7
    case 'int64':
      return 9_007_199_254_740_993n
    case 'float64':
      return 0.5
    case 'time':
      return '2026-01-02T03:04:05Z'
    case 'microTime':
      return '2026-01-02T03:04:05.000006Z'
    case 'quantity':
      return '1500m'
    case 'intOrString':
      return 'http'
    case 'raw':
      return '{"a":[1,{}]}'
    case 'any':
      return openSample(schema.goName)
    case 'list':
      return [sample(schema.of, within)]
    case 'map':
      return { key: sample(schema.of, within) }
    case 'struct':
      return sampleFields(schema, within)
  }
}

/** Returns a value for a Go type that has several JSON forms, such as a string and a list. */
function openSample(goName: string): Json {
  if (goName === 'v1.JSONSchemaPropsOrStringArray') return ['text']
  return goName === 'v1.JSON' ? { a: [1, 'b'] } : { type: 'object' }
}

type Mutation = (bytes: Buffer, random: Random, other: () => Buffer) => Buffer

function mutated(bytes: Buffer, random: Random, other: () => Buffer): Buffer {
  let changed: Buffer = bytes
  for (let left = random.pick([1, 1, 1, 2, 4]); left > 0; left--)
    changed = random.pick(mutations)(changed, random, other)
  return changed
}

const somewhere = (bytes: Buffer, random: Random): number =>
  random.between(0, Math.max(0, bytes.length - 1))

const mutations: readonly Mutation[] = [
  flipBits,
  flipBits,
  // Cut off the end of the bytes.
  (bytes, random) => bytes.subarray(0, somewhere(bytes, random)),
  // Remove some of the bytes.
  (bytes, random) => {
    const at = somewhere(bytes, random)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.between(1, 20))])
  },
  // Insert a part of this or another object, or overwrite bytes with it.
  (bytes, random, other) => {
    const from = random.chance(0.5) ? bytes : other()
    const start = somewhere(from, random)
    const part = from.subarray(start, start + random.between(1, 400))
    const at = somewhere(bytes, random)
    return Buffer.concat([
      bytes.subarray(0, at),
      part,
      bytes.subarray(at + (random.chance(0.5) ? part.length : 0)),
    ])
  },
  // Insert random bytes.
  (bytes, random) => {
    const at = somewhere(bytes, random)
    const part = Buffer.from(
      Array.from({ length: random.between(1, 30) }, () => random.between(0, 255)),
    )
    return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)])
  },
  // Insert byte sequences with a special meaning, or overwrite bytes with them: indefinite lengths,
  // break codes, ends of groups, invalid floats.
  (bytes, random) => {
    const at = somewhere(bytes, random)
    const part = Buffer.from(random.pick(telling), 'hex')
    return Buffer.concat([
      bytes.subarray(0, at),
      part,
      bytes.subarray(at + (random.chance(0.5) ? part.length : 0)),
    ])
  },
  // Repeat one byte many times, which can cause deep nesting.
  (bytes, random) => {
    const at = somewhere(bytes, random)
    const part = Buffer.alloc(
      random.between(10, 2_000),
      random.pick([0x81, 0xa1, 0x9f, 0xbf, 0xd9, 0x0a, 0x0b, 0x12, 0x5f]),
    )
    return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)])
  },
]

const telling = [
  'ffffffffffffffffff01',
  'ffffffff0f',
  '80808080808080808001',
  '7f',
  'ff',
  '5f',
  'bf',
  '9bffffffffffffffff',
  '5bffffffffffffffff',
  'f97e00',
  'fb7ff8000000000000',
  '000000000000f87f',
  'c074323031332d30332d32315432303a30343a30305a',
  'c1fb7fefffffffffffff',
  'd9d9f7',
  '1bffffffffffffffff',
  '0c',
  '0b',
  'f8',
]

function flipBits(bytes: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes)
  for (let left = random.between(1, 8); left > 0 && changed.length > 0; left--) {
    const at = somewhere(changed, random)
    changed[at] = (changed[at] ?? 0) ^ (1 << random.between(0, 7))
  }
  return changed
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { runs: { type: 'string' }, seed: { type: 'string' } } })
  const runs = Number(values.runs ?? RUNS)
  const seed = Number(values.seed ?? Date.now() % 2 ** 32)
  const startMs = performance.now()
  const { decoded, refused, slowestMs } = fuzzCodecs({ runs, seed })
  const seconds = ((performance.now() - startMs) / 1000).toFixed(0)
  console.log(
    `${runs} inputs of seed ${seed}: ${decoded} decoded, ${refused} refused, slowest ${slowestMs} ms, ${seconds} s`,
  )
}
