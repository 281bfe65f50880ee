/**
 * Describes how objects of one kind are decoded and encoded: the schema of their version, their
 * defaults and their stored form.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Struct } from './schema.ts'

export type ObjectSchema = {
  readonly struct: Struct
  /** Returns the object with its defaults. Never modifies the given object. */
  readonly setDefaults: (object: KubeObject) => KubeObject
  /** Adds fields that older servers did not store. Not applied to objects from clients. */
  readonly completeStored?: (object: KubeObject) => KubeObject
  /**
   * Whether new objects are stored without some of their defaults, for example because these depend
   * on a generated selector. Reading a stored object sets them.
   */
  readonly isDefaultedAgain?: boolean
  /**
   * The field that maps keys to bytes. A null value in it is read as empty bytes once it is stored.
   */
  readonly bytesField?: string
  /** Present only for custom kinds. */
  readonly custom?: CustomForm
  /**
   * Returns why a body cannot be decoded as this kind although each of its fields can, or
   * undefined.
   */
  readonly refuse?: (object: KubeObject) => string | undefined
  /** The version in which objects are stored. Undefined if they are stored as they are served. */
  readonly stored: StoredForm | undefined
  /**
   * Returns how to decode objects in another version, whether stored or served, or undefined if the
   * version is unknown. Absent if there is only one version.
   */
  readonly otherForm?: (apiVersion: string) => ReadForm | undefined
  /** The encoding of stored objects. Absent means JSON. */
  readonly storedAs?: StorageMedia
  readonly scheme: Scheme
}

export type CustomForm = {
  /** The apiVersion in which objects are stored. */
  readonly storedVersion: string
  /** Whether objects may be stored in other versions. */
  readonly hasOldVersions: boolean
  /**
   * Returns the object without the fields that its schema does not know, and the faults that strict
   * field validation reports for them.
   */
  readonly prune: (object: KubeObject) => {
    readonly object: KubeObject
    readonly faults: readonly string[]
  }
  /**
   * Sets the defaults of an applied object, or of an object that a webhook modified. Nulls in
   * fields that are not nullable are kept, so that validation reports them.
   */
  readonly setDefaultsAroundNulls: (object: KubeObject) => KubeObject
  /** Converts a stored object of any version to the served version. */
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
