/**
 * The objects that the simulation stores. This module converts them between the stored bytes, the
 * object in the cache, and the JSON that a client receives.
 */
import type { KubeObject } from '../../../src/api/object.ts'
import { Facts } from '../../../src/storage/cache/facts.ts'
import type { ObjectCodec, Matches } from '../../../src/storage/cache/item.ts'
import type { Wire } from '../../../src/objects/codec/object.ts'
import { selects } from '../../../src/storage/cache/selector.ts'
import type { IndexedValue } from '../../../src/storage/cache/tree.ts'
import { decodeValue, type Item, type Value } from './model.ts'

const kind = 'Thing'
const apiVersion = 'example.com/v1'
const head = `{"kind":"${kind}","apiVersion":"${apiVersion}",`
const beforeVersion = `${head}"metadata":{"resourceVersion":"`

/** Returns the codec that a cache uses for one resource. */
export const newForm = (): ObjectCodec => ({
  decode: (stored, _key, revision) => toObject(decodeValue(stored), revision),
  print: (object) => printObject(object),
  settle: (stored, revision) =>
    revision % 2 === 0 ? settled(toObject(decodeValue(stored), revision)) : undefined,
  facts: new Facts(() => ({
    tag: (object) => valueOf(object).tag,
    parity: (object) => parityOf(valueOf(object).tag),
  })),
})

/**
 * Returns an object with its JSON. The codec returns it for stored objects with an even revision,
 * which the cache then does not have to decode.
 */
const settled = (object: KubeObject): ReturnType<NonNullable<ObjectCodec['settle']>> => ({
  wire: printObject(object),
  object,
})

/** Whether a tag is an odd number. The filters of a run select objects with odd tags. */
export const isOdd = (tag: string): boolean => Number(tag.slice(tag.lastIndexOf('.') + 1)) % 2 === 1

const parityOf = (tag: string): string => (isOdd(tag) ? 'odd' : 'even')

const oddField = { field: 'parity', value: 'odd' }

/** Field and label values with which the cache finds objects with odd tags in an index. */
export const oddValues: readonly (readonly IndexedValue[])[] = [
  [oddField],
  [{ label: 'parity', value: 'odd' }],
  [oddField, { label: 'parity', value: 'odd' }],
]

/** Returns a label or field selector that matches objects with odd tags. */
export const oddSelector = (by: 'label' | 'field'): Matches =>
  by === 'label'
    ? selects({
        requirements: [{ key: 'parity', operator: 'in', values: new Set(['odd']) }],
        terms: [],
      })
    : selects({
        requirements: [],
        terms: [
          { ...oddField, isEqual: true, read: (object) => parityOf(valueOf(object).tag) },
          { field: 'tag', isEqual: false, value: 'none', read: (object) => valueOf(object).tag },
        ],
      })

export function toObject({ tag, after }: Value, revision: number): KubeObject {
  const labels = { parity: parityOf(tag) }
  return { kind, apiVersion, metadata: { resourceVersion: String(revision), labels }, tag, after }
}

export function printObject(object: KubeObject): Wire {
  const { tag, after } = valueOf(object)
  const rest = JSON.stringify({ tag, after }).slice(1)
  const bytes = Buffer.from(`${beforeVersion}${object.metadata.resourceVersion}"},${rest}\n`)
  return { bytes, headBytes: head.length, versionAt: beforeVersion.length }
}

export function valueOf(object: KubeObject): Value {
  const { tag, after } = object
  if (typeof tag !== 'string') throw new Error('an object of this run has a tag')
  return { tag, after: typeof after === 'string' ? after : null }
}

/** Reads an object from its encoded bytes, as a client does. */
export function readWire(key: string, bytes: Buffer): Item {
  return readObject(key, JSON.parse(bytes.toString()))
}

/** Reads an event from a line of a watch, as a client does. */
export function readFrame(
  key: string,
  frame: Buffer,
): { readonly type: string; readonly item: Item } {
  const event: unknown = JSON.parse(frame.toString())
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
    throw new Error(`not a watch event: ${frame.toString().slice(0, 100)}`)
  }
  return { type: String(event.type), item: readObject(key, event.object) }
}

function readObject(key: string, object: unknown): Item {
  if (typeof object === 'object' && object !== null && 'metadata' in object && 'tag' in object) {
    const { metadata, tag } = object
    if (
      typeof metadata === 'object' &&
      metadata !== null &&
      'resourceVersion' in metadata &&
      typeof tag === 'string'
    ) {
      return { key, revision: Number(metadata.resourceVersion), tag }
    }
  }
  throw new Error(`not an object of this run: ${JSON.stringify(object)}`)
}
