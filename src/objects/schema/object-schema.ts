/**
 * How objects of one kind are decoded and encoded: the schema of their version, their defaults, and
 * their stored form.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Struct } from './schema.ts'

export type ObjectSchema = {
  readonly struct: Struct
  /** Returns the object with its defaults. Never changes the one it is given. */
  readonly setDefaults: (object: KubeObject) => KubeObject
  /** Adds what older servers did not store. Objects from clients do not get it. */
  readonly completeStored?: (object: KubeObject) => KubeObject
  /**
   * Whether a new object gets defaults that are not stored with it, since they depend on generated
   * values, such as its selector.
   */
  readonly isDefaultedAgain?: boolean
  /** The field that maps keys to bytes: a null among these is read as empty once it is stored. */
  readonly bytesField?: string
  /** Only for custom kinds. */
  readonly custom?: CustomForm
  /**
   * Why a body cannot be decoded as this kind although each of its fields can; undefined: it can.
   */
  readonly refuse?: (object: KubeObject) => string | undefined
  /** Undefined: objects are stored as they are served. */
  readonly stored: StoredForm | undefined
  /**
   * How to decode objects that are stored in another version, or in the served one; undefined: the
   * version is unknown. Absent: there is only one.
   */
  readonly otherForm?: (apiVersion: string) => ReadForm | undefined
  /** The encoding of stored objects. Absent: JSON. */
  readonly storedAs?: StorageMedia
  readonly scheme: Scheme
}

export type CustomForm = {
  /** The apiVersion in which objects are stored. */
  readonly storedVersion: string
  /** Whether objects may be stored in other versions. */
  readonly hasOldVersions: boolean
  /**
   * Returns the object without the fields that its schema does not know, and what strict field
   * validation reports about them.
   */
  readonly prune: (object: KubeObject) => {
    readonly object: KubeObject
    readonly faults: readonly string[]
  }
  /**
   * Sets the defaults of an applied object, or of what a webhook made: nulls in fields that are not
   * nullable are left for validation to report.
   */
  readonly setDefaultsAroundNulls: (object: KubeObject) => KubeObject
  /** Converts an object that was stored in any version of its kind to the served version. */
  readonly fromStored: (object: KubeObject) => KubeObject
  /** Whether a stored object has all defaults and no field that its version does not know. */
  readonly isCurrent: (object: KubeObject) => boolean
}

export type StorageMedia = 'json' | 'protobuf'

/** Another version, or even group, in which objects are stored. */
export type StoredForm = ReadForm & {
  readonly apiVersion: string
  readonly toStored: (object: KubeObject) => KubeObject
}

/** A schema to decode with, and the conversion to the served version. */
export type ReadForm = {
  readonly struct: Struct
  readonly fromStored: (object: KubeObject) => KubeObject
}

/** The known kinds, for bodies that name another kind than the path. */
export type Scheme = {
  /** Its name in error messages. */
  readonly name: string
  readonly find: (apiVersion: string, kind: string) => RegisteredKind | undefined
}

/**
 * `v1.Secret`; the internal type that all its versions are converted to, `core.Secret`; and its
 * schema, if the catalogue has one.
 */
export type RegisteredKind = {
  readonly goName: string
  readonly hubName: string
  readonly struct?: Struct | undefined
}

/** For schemas without defaults that are stored as they are. */
export const plainSchema = (struct: Struct): ObjectSchema => ({
  struct,
  setDefaults: (object) => object,
  stored: undefined,
  scheme: { name: 'pkg/api/legacyscheme/scheme.go:30', find: () => undefined },
})
