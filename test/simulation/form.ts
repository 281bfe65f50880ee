/** How the cache reads and prints the objects of a run, and how a client reads them back. */
import type { KubeObject } from '../../src/api/object.ts'
import type { Form, Wire } from '../../src/cache/item.ts'
import { decodeValue, type Item, type Value } from './model.ts'

const kind = 'Thing'
const apiVersion = 'example.com/v1'
const head = `{"kind":"${kind}","apiVersion":"${apiVersion}",`
const beforeVersion = `${head}"metadata":{"resourceVersion":"`

export const form: Form = {
  decode: (stored, _key, revision) => toObject(decodeValue(stored), revision),
  print: (object) => printObject(object),
}

export function toObject({ tag, after }: Value, revision: number): KubeObject {
  return { kind, apiVersion, metadata: { resourceVersion: String(revision) }, tag, after }
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

/** What a client sees in the printed bytes of an object. */
export function readWire(key: string, bytes: Buffer): Item {
  return readObject(key, JSON.parse(bytes.toString()))
}

/** What a client sees in a line of a watch. */
export function readFrame(key: string, frame: Buffer): { readonly type: string; readonly item: Item } {
  const event: unknown = JSON.parse(frame.toString())
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
    throw new Error(`not a watch event: ${frame.toString().slice(0, 100)}`)
  }
  return { type: String(event.type), item: readObject(key, event.object) }
}

function readObject(key: string, object: unknown): Item {
  if (typeof object === 'object' && object !== null && 'metadata' in object && 'tag' in object) {
    const { metadata, tag } = object
    if (typeof metadata === 'object' && metadata !== null && 'resourceVersion' in metadata && typeof tag === 'string') {
      return { key, revision: Number(metadata.resourceVersion), tag }
    }
  }
  throw new Error(`not an object of this run: ${JSON.stringify(object)}`)
}
