/** Writes one value to etcd, as JSON or protobuf, and reads it through a server. */
import assert from 'node:assert/strict'
import { type Fields, fieldsOf, omit, textOf } from '../../../src/api/object.ts'
import { encodeObject } from '../../../src/objects/codec/protobuf/envelope.ts'
import type { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { findKind } from '../../../src/registry/scheme.ts'
import type { StoredValue } from './values.ts'

export type Form = 'json' | 'protobuf'

/**
 * The responses to a read and to a patch of a stored value. Parts that differ between runs are
 * removed.
 */
export type Answers = { readonly read: unknown; readonly patched?: unknown }

export type Ask = (call: {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}) => Promise<{
  readonly status: number
  readonly body: unknown
}>

/** Encodes a value. Returns undefined if protobuf cannot represent the value. */
export function bytesOf(
  { value, key, isOnlyJson }: StoredValue,
  name: string,
  form: Form,
): Buffer | undefined {
  const namespace = key.includes('/default/') ? { namespace: 'default' } : {}
  const uid = '9ad0f0c2-3b5e-4b26-8a26-3f9d3c7d8f10'
  const metadata = { name, ...namespace, uid, creationTimestamp: '2020-01-01T00:00:00Z' }
  const { kind, apiVersion, ...rest } = value
  const object = { kind: textOf(kind), apiVersion: textOf(apiVersion), metadata, ...rest }
  if (form === 'json') return Buffer.from(`${JSON.stringify(object)}\n`)
  if (isOnlyJson === true) return undefined
  const struct = findKind(object.apiVersion, object.kind, 33)?.struct
  assert.ok(struct, `the catalogue has ${object.apiVersion} ${object.kind}`)
  return encodeObject(object, struct)
}

export async function askFor(
  stored: StoredValue,
  form: Form,
  { etcd, ask }: { etcd: EtcdClient; ask: Ask },
): Promise<Answers | undefined> {
  const name = stored.name.includes('.')
    ? stored.name
    : `${stored.name}-${form === 'json' ? 'j' : 'p'}`
  const bytes = bytesOf(stored, name, form)
  if (bytes === undefined) return undefined
  const at = (text: string): string => text.replace('$', name)
  await etcd.kv.put({ key: Buffer.from(`/registry/${at(stored.key)}`), value: bytes })
  const path = at(stored.path)
  const read = shown(await ask({ method: 'GET', path }), name, stored.name)
  if (stored.patch === undefined) return { read }
  return {
    read,
    patched: shown(await ask({ method: 'PATCH', path, body: stored.patch }), name, stored.name),
  }
}

/** Returns a response in a form that is equal for JSON and protobuf. */
function shown(
  { status, body }: { readonly status: number; readonly body: unknown },
  name: string,
  as: string,
): unknown {
  const text = JSON.stringify(body)
    .replaceAll(`"${name}"`, `"${as}"`)
    .replaceAll(`\\"${name}\\"`, `\\"${as}\\"`)
  const fields: Fields = JSON.parse(text)
  const { resourceVersion: _, managedFields: __, ...metadata } = fieldsOf(fields['metadata'])
  // Remove the status of these kinds, because kube-apiserver's own controllers write it.
  const isWatched = fields['kind'] === 'FlowSchema' || fields['kind'] === 'APIService'
  return { status, body: { ...(isWatched ? omit(fields, 'status') : fields), metadata } }
}
