/** How objects of one kind are read and written: the schema of their version, their defaults, and the form they are stored in. */
import type { KubeObject } from '../api/object.ts'
import type { Struct } from './schema.ts'

export type ObjectSchema = {
  readonly struct: Struct
  /** The object with what its kind sets by itself. Never changes the one it is given. */
  readonly setDefaults: (object: KubeObject) => KubeObject
  /** The object with what an older server has not stored of it. Clients must say it. */
  readonly completeStored?: (object: KubeObject) => KubeObject
  /** Whether a new object gets defaults that are not stored with it: they depend on what was made for it, such as its selector. */
  readonly isDefaultedAgain?: boolean
  /** The field that maps keys to bytes: a null among these is read as empty once it is stored. */
  readonly bytesField?: string
  /** Of kinds that clients define. */
  readonly custom?: CustomForm
  /** Why a body cannot be read as this kind although each of its fields can; undefined: it can. */
  readonly refuse?: (object: KubeObject) => string | undefined
  /** Undefined: objects are stored as they are served. */
  readonly stored: StoredForm | undefined
  /** How objects are read that are stored in another version, or in the one that is served; undefined: nobody knows. Absent: there is one only. */
  readonly otherForm?: (apiVersion: string) => ReadForm | undefined
  /** What the bytes in the database are. Absent: JSON. */
  readonly storedAs?: StorageMedia
  readonly scheme: Scheme
}

export type CustomForm = {
  /** The apiVersion in which objects are stored. */
  readonly storedVersion: string
  /** Whether there may be some in other versions. */
  readonly hasOldVersions: boolean
  /** The object without the fields that its schema does not know, and the faults that these are to a strict client. */
  readonly prune: (object: KubeObject) => { readonly object: KubeObject; readonly faults: readonly string[] }
  /** The defaults of an object that was applied: nulls that it must not have are left for validation to see. */
  readonly setAppliedDefaults: (object: KubeObject) => KubeObject
  /** An object as it is served, from one that was stored in any version of its kind. */
  readonly fromStored: (object: KubeObject) => KubeObject
  /** Whether an object as it was stored has all defaults and nothing that its version does not know. */
  readonly isCurrent: (object: KubeObject) => boolean
}

export type StorageMedia = 'json' | 'protobuf'

/** Another version, or even group, in which objects are stored. */
export type StoredForm = ReadForm & {
  readonly apiVersion: string
  readonly toStored: (object: KubeObject) => KubeObject
}

/** What is read by this schema, and what becomes of it in the version that is served. */
export type ReadForm = { readonly struct: Struct; readonly fromStored: (object: KubeObject) => KubeObject }

/** The kinds that there are, where a body may name another one than the path does. */
export type Scheme = {
  /** What errors call it. */
  readonly name: string
  readonly find: (apiVersion: string, kind: string) => KnownKind | undefined
}

/** `v1.Secret`, and the form common to all its versions, `core.Secret`; and its schema, where the catalogue has one. */
export type KnownKind = { readonly goName: string; readonly hubName: string; readonly struct?: Struct | undefined }

/** For schemas without defaults that are stored as they are. */
export const plainSchema = (struct: Struct): ObjectSchema => ({
  struct,
  setDefaults: (object) => object,
  stored: undefined,
  scheme: { name: 'pkg/api/legacyscheme/scheme.go:30', find: () => undefined },
})
