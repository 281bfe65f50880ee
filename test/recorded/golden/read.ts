/** Reads the data that `npm run golden` has recorded. README.md describes each file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '../compat/json.ts'
import { unpack } from './pack.ts'

export const dataFolder: string = join(import.meta.dirname, 'data')

/** An object that kube-apiserver created, in its stored form and as returned to clients. */
export type StoredRow = {
  /** Path of the object. `key` is the key of the object in etcd. */
  readonly get: string
  readonly key: string
  /** Whether the version is served by default. */
  readonly isDefault: boolean
  /**
   * The object as it is stored in etcd, in protobuf (as base64) and in JSON. Custom resources are
   * never stored in protobuf.
   */
  readonly protobuf?: string
  readonly json: string
  /**
   * Revision at which `protobuf` was stored, or `json` if there is no `protobuf`. `object` is the
   * response to GET in JSON. `sha256` is the SHA-256 of the response to GET in protobuf.
   */
  readonly revision: number
  readonly object: JsonObject
  readonly sha256?: string
}

/** An object with every field of its type set, encoded by Kubernetes' own codecs. */
export type FilledObject = { readonly id: string; readonly json: Json; readonly protobuf: Buffer }

const readText = (file: string): string => readFileSync(join(dataFolder, file), 'utf8')

export function readStored(): readonly StoredRow[] {
  return [...unpack(readText('stored.json')).values()].map(
    (value): StoredRow => JSON.parse(JSON.stringify(value)),
  )
}

/** Reads the objects with every field set. Their IDs have the form `storage.k8s.io/v1 CSINode`. */
export function readFilled(): readonly FilledObject[] {
  const rows = unpack(readText('filled.json'))
  return [...rows].map(([id, row]) => {
    const { json, protobuf }: { json: Json; protobuf: string } = JSON.parse(JSON.stringify(row))
    return { id, json, protobuf: Buffer.from(protobuf, 'base64') }
  })
}

/** Reads the etcd keys, by the type of the stored object, such as `apps/v1 Deployment`. */
export function readKeys(): Readonly<Record<string, readonly string[]>> {
  return JSON.parse(readText('keys.json'))
}

/**
 * Reads discovery and OpenAPI documents by path, without descriptions. `default` selects the
 * documents of a server with default flags. `all` selects only the documents that are added or
 * changed if every API version is enabled.
 */
export function readDocuments(served: 'default' | 'all'): ReadonlyMap<string, Json> {
  const documents = [...unpack(readText('documents.json'))]
  return new Map(
    documents.flatMap(([id, document]): [string, Json][] => {
      const [of = '', path = ''] = id.split(' ')
      return of === served ? [[path, document]] : []
    }),
  )
}
