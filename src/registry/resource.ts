/**
 * What a resource is: a row of data, and the few rules of its kind that data cannot say. The verbs are written once for
 * all of them.
 */
import type { FieldFault } from '../api/field-fault.ts'
import type { KubeObject } from '../api/object.ts'
import type { ApiRequest } from '../api/request.ts'
import type { Struct } from '../api/shape.ts'
import type { User } from '../api/user.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'delete'

export type Resource = {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly isNamespaced: boolean
  readonly isCustom: boolean
  /** Sorted, as discovery shows them. */
  readonly verbs: readonly Verb[]
  readonly shape: Struct
  /** What a field selector may name besides metadata.name and metadata.namespace, and how to read it. */
  readonly selectableFields: { readonly [field: string]: (object: KubeObject) => string }
  /** Whether an update may leave out the resourceVersion. */
  readonly allowsUnconditionalUpdate: boolean
  /** Whether the answer to a delete that removed the object is the object, not a Status. */
  readonly returnsDeleted: boolean
  readonly checkName: (name: string) => string[]
  /** What the server sets or resets before a new object is checked. */
  readonly prepareCreate: (object: KubeObject) => KubeObject
  readonly prepareUpdate: (object: KubeObject, current: KubeObject) => KubeObject
  /** Of the whole object, metadata aside: those rules are the same for all kinds. */
  readonly validate: (object: KubeObject) => FieldFault[]
  readonly validateUpdate: (object: KubeObject, current: KubeObject) => FieldFault[]
  /** What a delete makes of the object instead of removing it; undefined removes it. `now` is a timestamp. */
  readonly markDeleted: (object: KubeObject, now: string) => KubeObject | undefined
}

/** The apiVersion of the resource's objects: `v1`, `apps/v1`. */
export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? version : `${group}/${version}`
}

/** A request that has passed the gate: who asks for what on which resource. */
export type ResourceRequest = {
  readonly verb: Verb
  readonly resource: Resource
  /** Empty: all namespaces, or a resource without namespaces. */
  readonly namespace: string
  /** Empty for collections; a watch of an old path may have one. */
  readonly name: string
  readonly user: User
  readonly http: ApiRequest
}
