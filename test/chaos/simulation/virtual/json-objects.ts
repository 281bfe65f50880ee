/** Objects that are stored as plain JSON, for server components that work with any kind. */
import type { KubeObject } from '../../../../src/api/object.ts'
import type { ObjectCodec } from '../../../../src/storage/cache/item.ts'
import type { Reader } from '../../../../src/storage/cache/reader.ts'
import type { Key } from '../../../../src/storage/engine.ts'
import type { Decision, Store, StoredValue } from '../../../../src/storage/store.ts'

export function readJson(stored: Buffer, revision: number): KubeObject {
  const object = JSON.parse(stored.toString())
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
}

export const writeJson = (object: KubeObject): Buffer =>
  Buffer.from(
    JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: undefined } }),
  )

export const jsonForm: ObjectCodec = {
  decode: (stored, _key, revision) => readJson(stored, revision),
  print: (object) => ({
    bytes: Buffer.from(`${JSON.stringify(object)}\n`),
    headBytes: 1,
    versionAt: 0,
  }),
}

export const decodeJson = ({ value, revision }: StoredValue): KubeObject =>
  readJson(value, revision)

/**
 * Changes an object as the user of the server itself. Works like request/verbs/system-objects.ts,
 * but without field managers. Returns the new resourceVersion, or undefined if the object is
 * missing.
 */
export async function changeJson(
  { store, reader }: { readonly store: Store; readonly reader: Reader },
  key: Key,
  decide: (object: KubeObject) => KubeObject | 'delete' | undefined,
): Promise<string | undefined> {
  const { item } = await reader.get(key, 'any')
  const cached = item && {
    revision: item.revision,
    createRevision: item.createRevision,
    object: item.object(),
    stale: false,
  }
  const { revision, previous } = await store.update(
    key,
    { cached, decode: decodeJson },
    (current): Decision => {
      const decided = current && decide(current.object)
      if (decided === undefined) return 'unchanged'
      return decided === 'delete' ? 'delete' : { put: writeJson(decided) }
    },
  )
  return previous && String(revision)
}
