/** What a kind may define beyond the catalogue. Each file in kinds/ defines one kind. */
import type { FieldFault } from '../api/field-fault.ts'
import type { Gates } from '../api/gates.ts'
import type { IpFamily } from '../api/ip.ts'
import type { KubeObject } from '../api/object.ts'
import type { ObjectSchema, StoredForm } from '../objects/schema/object-schema.ts'
import type { DeletionRules } from './deletion.ts'
import type { FieldSelection, MetadataRules, UpdateRules, Writer, WriteRules } from './resource.ts'
import type { Strategy } from './strategy.ts'

/** What some kinds must know of the cluster. `ipFamily`: the primary IP family. */
export type ClusterFacts = {
  readonly ipFamily: IpFamily
  readonly gates: Gates
  /** As a timestamp of metadata. */
  readonly now: () => string
}

export type KindUpdateRules = Omit<UpdateRules, 'validateUpdate'> & {
  readonly strategy?: Strategy
  readonly validateUpdate: (object: KubeObject, current: KubeObject, gates: Gates) => FieldFault[]
}

export type KindRules = Partial<
  Pick<MetadataRules, 'checkName' | 'usesGenerateNameVerbatim'> &
    Pick<WriteRules, 'prepareUpdate' | 'validateInSlices' | 'namespaceRule'> &
    Omit<DeletionRules, 'defaultPropagation' | 'returnsDeleted'>
> & {
  readonly strategy?: Strategy
  readonly prepareCreate?: (object: KubeObject, writer: Writer, gates: Gates) => KubeObject
  readonly warnings?: (
    object: KubeObject,
    current: KubeObject | undefined,
    gates: Gates,
  ) => string[]
  readonly validate?: (object: KubeObject, gates: Gates) => FieldFault[]
  readonly validateUpdate?: (object: KubeObject, current: KubeObject, gates: Gates) => FieldFault[]
  /**
   * A second validation, by the tags of upstream's types. It must find the faults that have a tag.
   */
  readonly declarative?: (object: KubeObject) => FieldFault[]
  /** For writes through /status, on top of the rules for all kinds. */
  readonly status?: Partial<KindUpdateRules>
  readonly subresourceRules?: { readonly [subresource: string]: KindUpdateRules }
  /** Fields that a selector may name, by path; or how to read them. */
  readonly selectableFields?: readonly string[] | FieldSelection['fields']
  readonly indexedFields?: readonly string[]
  /** Defaults, on top of those in the catalogue. */
  readonly setDefaults?: (object: KubeObject, gates: Gates, now: () => string) => KubeObject
  /** Adds what older servers did not store. */
  readonly completeStored?: (object: KubeObject, cluster: ClusterFacts) => KubeObject
  /** Whether a stored object may lack defaults, so that reading it sets them once more. */
  readonly isDefaultedAgain?: boolean
  /**
   * Why a body cannot be decoded as this kind although each of its fields can; undefined if it can.
   */
  readonly refuse?: NonNullable<ObjectSchema['refuse']>
  /**
   * For kinds that are stored in another version: the conversions. For others only the apiVersion
   * changes.
   */
  readonly convert?: Pick<StoredForm, 'toStored' | 'fromStored'>
  /**
   * The version in which gated fields are searched, if it is not the served one: upstream does it
   * in its internal version.
   */
  readonly gatedForm?: {
    readonly version: string
    readonly to: (object: KubeObject) => KubeObject
    readonly from: (object: KubeObject) => KubeObject
  }
}
