/**
 * What `npm run golden` has recorded, as the tests read it. README.md says what each file holds.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '../compat/json.ts'
import { unpack } from './pack.ts'

export const dataFolder: string = join(import.meta.dirname, 'data')

/** An object that the reference made, in the forms in which it stored and showed it. */
export type StoredRow = {
  /** The path that shows it, and its key in etcd. */
  readonly get: string
  readonly key: string
  /** Whether its version is served by default. */
  readonly isDefault: boolean
  /** The stored bytes, as base64 and as text. Custom resources have no protobuf. */
  readonly protobuf?: string
  readonly json: string
  /**
   * Of the version that is stored as `protobuf` (without one: as `json`): its revision, what GET
   * shows, and the SHA-256 of what GET shows in protobuf.
   */
  readonly revision: number
  readonly object: JsonObject
  readonly sha256?: string
}

/** An object with every field of its type set, as upstream's own codecs write it. */
export type FilledObject = { readonly id: string; readonly json: Json; readonly protobuf: Buffer }

const readText = (file: string): string => readFileSync(join(dataFolder, file), 'utf8')

export function readStored(): readonly StoredRow[] {
  return [...unpack(readText('stored.json')).values()].map(
    (value): StoredRow => JSON.parse(JSON.stringify(value)),
  )
}

/** `storage.k8s.io/v1 CSINode` and the like. */
export function readFilled(): readonly FilledObject[] {
  const rows = unpack(readText('filled.json'))
  return [...rows].map(([id, row]) => {
    const { json, protobuf }: { json: Json; protobuf: string } = JSON.parse(JSON.stringify(row))
    return { id, json, protobuf: Buffer.from(protobuf, 'base64') }
  })
}

/** Keys of etcd by what is stored there: `apps/v1 Deployment`. */
export function readKeys(): Readonly<Record<string, readonly string[]>> {
  return JSON.parse(readText('keys.json'))
}

/**
 * Answers about the API by path, without descriptions. `all`: where every version is on, those that
 * are then different or new.
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
