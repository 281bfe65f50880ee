/**
 * Describes how objects of a kind are decoded and encoded: the schema of their version, their
 * defaults, and their stored form.
 */
import type { KubeObject } from '../../api/object.ts'
import type { Struct } from './schema.ts'

export type ObjectSchema = {
  readonly struct: Struct
  /** Returns the object with its defaults. The given object is not modified. */
  readonly setDefaults: (object: KubeObject) => KubeObject
  /** Adds fields that older servers did not store. Not used for objects from clients. */
  readonly completeStored?: (object: KubeObject) => KubeObject
  /**
   * Whether new objects are stored without some of their defaults, for example because these depend
   * on a generated selector. These defaults are set when the object is read.
   */
  readonly isDefaultedAgain?: boolean
  /**
   * The field that maps keys to bytes. A null value in this field is stored, and is read as empty
   * bytes.
   */
  readonly bytesField?: string
  /** How objects of a custom kind are stored. Undefined for built-in kinds. */
  readonly custom?: CustomForm
  /**
   * Returns why a body cannot be decoded as this kind, even if each of its fields can be decoded.
   * Returns undefined if it can be decoded.
   */
  readonly refuse?: (object: KubeObject) => string | undefined
  /** The form in which objects are stored. Undefined if the served version is also stored. */
  readonly stored: StoredForm | undefined
  /**
   * Returns the schema and the conversion for decoding an object in another stored or served
   * version, or undefined if the version is unknown. This function is absent if the kind has only
   * one version.
   */
  readonly otherForm?: (apiVersion: string) => ReadForm | undefined
  /** The encoding of stored objects. Defaults to JSON. */
  readonly storedAs?: StorageMedia
  readonly scheme: Scheme
}

export type CustomForm = {
  /** The apiVersion in which objects are stored. */
  readonly storedVersion: string
  /** Whether stored objects can be in other versions. */
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
   * Sets the defaults of an applied object, or of an object that a webhook modified. Nulls in
   * fields that are not nullable are kept, so that validation reports them.
   */
  readonly setDefaultsAroundNulls: (object: KubeObject) => KubeObject
  /** Converts a stored object in any version to the served version. */
  readonly fromStored: (object: KubeObject) => KubeObject
  /** Whether a stored object has all defaults, and no fields that are unknown in its version. */
  readonly isCurrent: (object: KubeObject) => boolean
}

export type StorageMedia = 'json' | 'protobuf'

/**
 * A version in which objects are stored, if it differs from the served version. It can even be in
 * another group.
 */
export type StoredForm = ReadForm & {
  readonly apiVersion: string
  readonly toStored: (object: KubeObject) => KubeObject
}

/** A schema for decoding, and the conversion to the served version. */
export type ReadForm = {
  readonly struct: Struct
  readonly fromStored: (object: KubeObject) => KubeObject
}

/**
 * The kinds that the server can decode. They are needed for request bodies whose kind differs from
 * the kind of the URL path.
 */
export type Scheme = {
  /** The name of the scheme in error messages. */
  readonly name: string
  readonly find: (apiVersion: string, kind: string) => RegisteredKind | undefined
}

/**
 * A kind of the scheme. `goName` is its name, such as `v1.Secret`. `hubName` is the internal type
 * to which all its versions are converted, such as `core.Secret`. The schema is set if the kind is
 * in the catalogue.
 */
export type RegisteredKind = {
  readonly goName: string
  readonly hubName: string
  readonly struct?: Struct | undefined
}

/** Returns the schema for objects without defaults that are stored as they are served. */
export const plainSchema = (struct: Struct): ObjectSchema => ({
  struct,
  setDefaults: (object) => object,
  stored: undefined,
  scheme: { name: 'pkg/api/legacyscheme/scheme.go:30', find: () => undefined },
})
