/** What a kind may have of its own, beyond the catalogue. Each file in kinds/ is one of these. */
import type { FieldFault } from '../api/field-fault.ts'
import type { Gates } from '../api/gates.ts'
import type { IpFamily } from '../api/ip.ts'
import type { KubeObject } from '../api/object.ts'
import type { ObjectSchema, StoredForm } from '../schema/object-schema.ts'
import type { Resource, UpdateRules, Writer } from './resource.ts'
import type { Strategy } from './strategy.ts'

/** What some kinds must know of the cluster. `ipFamily`: of its addresses, or of most of them. */
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
  Pick<
    Resource,
    | 'checkName'
    | 'usesGenerateNameVerbatim'
    | 'prepareUpdate'
    | 'validateInSlices'
    | 'namespaceRule'
    | 'isGarbageCollected'
    | 'deleteForbiddenReason'
    | 'graceOf'
    | 'ownDeletion'
    | 'deletionWarning'
  >
> & {
  readonly strategy?: Strategy
  readonly prepareCreate?: (object: KubeObject, writer: Writer, gates: Gates) => KubeObject
  readonly warnings?: (object: KubeObject, current: KubeObject | undefined, gates: Gates) => string[]
  readonly validate?: (object: KubeObject, gates: Gates) => FieldFault[]
  readonly validateUpdate?: (object: KubeObject, current: KubeObject, gates: Gates) => FieldFault[]
  /** Of writes through /status, on top of what all kinds do there. */
  readonly status?: Partial<KindUpdateRules>
  readonly subresourceRules?: { readonly [subresource: string]: KindUpdateRules }
  /** Fields a selector may name, by path; or how to read them. */
  readonly selectableFields?: readonly string[] | Resource['selectableFields']
  readonly indexedFields?: readonly string[]
  /** What is set where a client said nothing. On top of the defaults in the catalogue. */
  readonly setDefaults?: (object: KubeObject, gates: Gates, now: () => string) => KubeObject
  /** What older servers left out of what they stored. */
  readonly completeStored?: (object: KubeObject, cluster: ClusterFacts) => KubeObject
  /** Whether they are set again once the object is stored. */
  readonly isDefaultedAgain?: boolean
  /** Why a body cannot be read as this kind although each of its fields can; undefined: it can. */
  readonly refuse?: NonNullable<ObjectSchema['refuse']>
  /** Of kinds that are stored in another version: how to get there and back. The rest only changes its apiVersion. */
  readonly convert?: Pick<StoredForm, 'toStored' | 'fromStored'>
  /** Where gates look for their fields in another version than the one that is served: as upstream, which looks at its internal version. */
  readonly gatedForm?: {
    readonly version: string
    readonly to: (object: KubeObject) => KubeObject
    readonly from: (object: KubeObject) => KubeObject
  }
}
