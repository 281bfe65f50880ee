/**
 * Converts the objects of a run between their stored form, the form in the cache, and the printed
 * form that a client reads.
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

/** Returns the codec of one resource. */
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
 * Returns an object that needs no decoding. Half of the stored objects are like this, depending on
 * their revision.
 */
const settled = (object: KubeObject): ReturnType<NonNullable<ObjectCodec['settle']>> => ({
  wire: printObject(object),
  object,
})

/** Whether a tag is odd. The filters of a run select odd tags. */
export const isOdd = (tag: string): boolean => Number(tag.slice(tag.lastIndexOf('.') + 1)) % 2 === 1

const parityOf = (tag: string): string => (isOdd(tag) ? 'odd' : 'even')

const oddField = { field: 'parity', value: 'odd' }

/** Values by which an index finds odd objects. */
export const oddValues: readonly (readonly IndexedValue[])[] = [
  [oddField],
  [{ label: 'parity', value: 'odd' }],
  [oddField, { label: 'parity', value: 'odd' }],
]

/** Returns a selector of odd objects, by label or by field. */
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

/** Reads an object as a client sees it in the printed bytes. */
export function readWire(key: string, bytes: Buffer): Item {
  return readObject(key, JSON.parse(bytes.toString()))
}

/** Reads an event as a client sees it in a line of a watch. */
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
