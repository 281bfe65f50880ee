/**
 * Describes how objects of a kind are decoded and encoded: the schema of their version, their
 * defaults, and their stored form.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Struct } from './schema.ts'

export type ObjectSchema = {
  readonly struct: Struct
  /** Returns the object with its defaults. Does not modify the given object. */
  readonly setDefaults: (object: KubeObject) => KubeObject
  /**
   * Adds fields to a stored object that older servers did not store. Objects from clients are not
   * changed in this way.
   */
  readonly completeStored?: (object: KubeObject) => KubeObject
  /**
   * Whether new objects are stored without some of their defaults, which are set when the object is
   * read. For example, some defaults depend on a selector that the server generates.
   */
  readonly isDefaultedAgain?: boolean
  /**
   * The field that contains bytes by key. If a value in it is null, the null is stored, and becomes
   * empty bytes when the object is read.
   */
  readonly bytesField?: string
  /** How objects of a custom kind are stored. Undefined for built-in kinds. */
  readonly custom?: CustomForm
  /**
   * Returns why an object cannot have this kind, although each of its fields could be decoded.
   * Returns undefined if the object is accepted.
   */
  readonly refuse?: (object: KubeObject) => string | undefined
  /** The version in which objects are stored. Undefined if it is the version that is served. */
  readonly stored: StoredForm | undefined
  /**
   * Returns how an object in another version is decoded and converted. Returns undefined if the
   * version is unknown. Absent if the kind has only one version.
   */
  readonly otherForm?: (apiVersion: string) => ReadForm | undefined
  /** The encoding of stored objects. Defaults to JSON. */
  readonly storedAs?: StorageMedia
  readonly scheme: Scheme
}

export type CustomForm = {
  /** The apiVersion in which objects are stored. */
  readonly storedVersion: string
  /** Whether the database can contain objects in other versions. */
  readonly hasOldVersions: boolean
  /**
   * Returns the object without the fields that are not in its schema, and the errors that strict
   * field validation reports for these fields.
   */
  readonly prune: (object: KubeObject) => {
    readonly object: KubeObject
    readonly faults: readonly string[]
  }
  /**
   * Sets the defaults of an object that was applied, or that a webhook changed. Nulls in fields
   * that are not nullable stay, so that validation reports them.
   */
  readonly setDefaultsAroundNulls: (object: KubeObject) => KubeObject
  /** Converts a stored object in any version to the served version. */
  readonly fromStored: (object: KubeObject) => KubeObject
  /** Whether a stored object has all defaults, and only fields that its version declares. */
  readonly isCurrent: (object: KubeObject) => boolean
}

export type StorageMedia = 'json' | 'protobuf'

/**
 * How objects are stored, if this differs from how they are served: in another version, or even in
 * another API group.
 */
export type StoredForm = ReadForm & {
  readonly apiVersion: string
  readonly toStored: (object: KubeObject) => KubeObject
}

/**
 * The schema with which an object is decoded, and the conversion to the served version after that.
 */
export type ReadForm = {
  readonly struct: Struct
  readonly fromStored: (object: KubeObject) => KubeObject
}

/**
 * The kinds that the server can decode. They are needed because a request body can have another
 * kind than the URL path.
 */
export type Scheme = {
  /** The name of the scheme in error messages. */
  readonly name: string
  readonly find: (apiVersion: string, kind: string) => RegisteredKind | undefined
}

/**
 * A kind that the server can decode. `goName` is its Go type, such as `v1.Secret`. `hubName` is the
 * internal type to which all of its versions are converted, such as `core.Secret`. `struct` is its
 * schema, if the server knows it.
 */
export type RegisteredKind = {
  readonly goName: string
  readonly hubName: string
  readonly struct?: Struct | undefined
}

/**
 * Returns the schema of a kind that has no defaults, and whose objects are stored as they are
 * served.
 */
export const plainSchema = (struct: Struct): ObjectSchema => ({
  struct,
  setDefaults: (object) => object,
  stored: undefined,
  scheme: { name: 'pkg/api/legacyscheme/scheme.go:30', find: () => undefined },
})
