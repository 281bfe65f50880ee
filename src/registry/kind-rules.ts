/**
 * Rules that a kind can define in addition to its entry in the catalog (catalogue/). The files in
 * kinds/ define these rules.
 */
import type { FieldFault } from '../api/field-fault.ts'
import type { Gates } from '../api/gates.ts'
import type { IpFamily } from '../api/ip.ts'
import type { KubeObject } from '../api/object.ts'
import type { ObjectSchema, StoredForm } from '../objects/schema/object-schema.ts'
import type { DeletionRules } from './deletion.ts'
import type {
  FieldSelection,
  MetadataRules,
  UpdateRules,
  Writer,
  WriteRules,
  ValidateInSlices,
  ValidateTools,
} from './resource.ts'
import type { Strategy } from './strategy.ts'

/**
 * Facts about the cluster on which the rules of some kinds depend. `ipFamily` is the primary IP
 * family.
 */
export type ClusterFacts = {
  readonly ipFamily: IpFamily
  readonly gates: Gates
  /** Returns the current time as a metadata timestamp. */
  readonly now: () => string
}

export type KindUpdateRules = Omit<UpdateRules, 'validateUpdate'> & {
  readonly strategy?: Strategy
  readonly validateUpdate: (object: KubeObject, current: KubeObject, gates: Gates) => FieldFault[]
}

type StoredConversions = Pick<StoredForm, 'toStored' | 'fromStored'>

export type KindRules = Partial<
  Pick<MetadataRules, 'checkName' | 'usesGenerateNameVerbatim'> &
    Pick<WriteRules, 'namespaceRule'> &
    Omit<DeletionRules, 'defaultPropagation' | 'returnsDeleted'>
> & {
  readonly strategy?: Strategy
  readonly prepareCreate?: (object: KubeObject, writer: Writer, gates: Gates) => KubeObject
  readonly prepareUpdate?: (
    object: KubeObject,
    current: KubeObject,
    writer: Writer,
    gates: Gates,
  ) => KubeObject
  readonly warnings?: (
    object: KubeObject,
    current: KubeObject | undefined,
    gates: Gates,
  ) => string[]
  readonly validate?: (object: KubeObject, gates: Gates) => FieldFault[]
  readonly validateUpdate?: (object: KubeObject, current: KubeObject, gates: Gates) => FieldFault[]
  /**
   * Rules that can take a long time, and therefore run in time slices. If `gates` is absent, the
   * gates of the default release apply.
   */
  readonly validateInSlices?: (
    object: KubeObject,
    current: KubeObject | undefined,
    tools?: ValidateTools,
    gates?: Gates,
  ) => ReturnType<ValidateInSlices>
  /**
   * Second validation, by the validation tags of the types in k8s.io/api. It must find the same
   * errors as `validate` in the fields that have tags.
   */
  readonly declarative?: (object: KubeObject) => FieldFault[]
  /** Rules for writes through /status, in addition to the rules for all kinds. */
  readonly status?: Partial<KindUpdateRules>
  readonly subresourceRules?: { readonly [subresource: string]: KindUpdateRules }
  /** Fields that a field selector can name: either their paths, or functions that read them. */
  readonly selectableFields?: readonly string[] | FieldSelection['fields']
  readonly indexedFields?: readonly string[]
  /** Sets defaults in addition to those in the catalog of types. */
  readonly setDefaults?: (object: KubeObject, gates: Gates, now: () => string) => KubeObject
  /** Adds fields that older servers did not store. Called when an object is read. */
  readonly completeStored?: (object: KubeObject, cluster: ClusterFacts) => KubeObject
  /** Whether stored objects can lack defaults, so that reads must set them. */
  readonly isDefaultedAgain?: boolean
  /**
   * Returns why a body cannot be decoded as this kind although each of its fields can be decoded.
   * Returns undefined if the body can be decoded.
   */
  readonly refuse?: NonNullable<ObjectSchema['refuse']>
  /**
   * Conversions for a kind that is stored in another version. If absent, only the apiVersion
   * changes.
   */
  readonly convert?: StoredConversions
  /** Returns the conversions for a kind whose storage version differs between releases. */
  readonly convertFor?: (storageVersion: string) => StoredConversions
  /**
   * Version in which the gates of fields are looked up, if it differs from the served version.
   * kube-apiserver uses its internal version.
   */
  readonly gatedForm?: {
    readonly version: string
    readonly to: (object: KubeObject) => KubeObject
    readonly from: (object: KubeObject) => KubeObject
  }
}
