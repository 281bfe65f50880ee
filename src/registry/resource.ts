/**
 * What a resource is: a row of data, and the few rules of its kind that data cannot say. The verbs are written once for
 * all of them.
 */
import type { TurnTools } from '../cel/turns.ts'
import type { RequestContext } from '../api/context.ts'
import type { FieldFault } from '../api/field-fault.ts'
import type { Labels } from '../api/label-selector.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import type { ApiRequest } from '../api/request.ts'
import type { TableKind } from '../api/table.ts'
import type { User } from '../api/user.ts'
import { assert } from '../lib/assert.ts'
import type { DeletionRules } from './deletion.ts'
import type { ObjectSchema } from '../schema/object-schema.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** A part of an object with a path of its own, `pods/status`, or something that can be done to it, `pods/eviction`. */
export type Subresource = {
  readonly name: string
  /** Of the objects that go in and out; the group and version of most are those of the resource. */
  readonly kind: string
  readonly group: string
  readonly version: string
  /** Sorted, as discovery shows them. */
  readonly verbs: readonly Verb[]
}

export type Resource = DeletionRules & {
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
  readonly categories: readonly string[]
  /** Sorted by name. */
  readonly subresources: readonly Subresource[]
  /** Whether its objects are in the database: reviews, bindings and component statuses are not. */
  readonly isStored: boolean
  /** The apiVersion in which objects are stored, where that is another one: `v1` for events of events.k8s.io. */
  readonly storageVersion?: string
  /** Where objects are stored in a version that only a webhook can convert: the resource in that version. */
  readonly converted?: () => Resource | undefined
  /** Of a custom resource whose versions only a webhook can convert: how it is called. */
  readonly conversionWebhook?: Fields
  /** Of a custom resource: the same in another version, served or not. */
  readonly inVersion?: (version: string) => Resource | undefined
  /** Gets ready for a request what would take long to make in one go. Undefined: it is ready. */
  readonly load?: () => Promise<void> | undefined
  /** Told with every answer. */
  readonly deprecation?: string
  /** How objects are read, written and stored. Built when it is first asked for. */
  readonly shape: ObjectSchema
  /** Of a custom resource: the schema of its objects as OpenAPI publishes it; metadata and the like are added there. */
  readonly published?: {
    /** Undefined: it has none that could be published. */
    readonly schema: () => Fields | undefined
    /** Any field may be there: older clients are told of none. */
    readonly isOpen: boolean
    /** Another one when anything that is published is. */
    readonly mark: string
  }
  /** What a field selector may name besides metadata.name and metadata.namespace, and how to read it. */
  readonly selectableFields: { readonly [field: string]: (object: KubeObject) => string }
  /** Those of them that have few objects for each value, and are asked for by many clients. */
  readonly indexedFields?: readonly string[]
  /** Names have a form that nothing random fits into: generateName is all of it. */
  readonly usesGenerateNameVerbatim?: boolean
  /** Whether an update may leave out the resourceVersion. */
  readonly allowsUnconditionalUpdate: boolean
  /** Whether an update of an object that does not exist creates it. */
  readonly createsOnUpdate: boolean
  /** Whether the answer to a delete that removed the object is the object, not a Status. */
  readonly returnsDeleted: boolean
  /** The group of the kind in faults of validation: that of the form common to all versions. */
  readonly faultGroup: string
  readonly checkName: (name: string) => string[]
  readonly metadataRules: MetadataRules
  /** What the server sets or resets before a new object is checked. */
  readonly prepareCreate: (object: KubeObject, writer: Writer) => KubeObject
  readonly prepareUpdate: (object: KubeObject, current: KubeObject, writer: Writer) => KubeObject
  /** Of the whole object, metadata aside: validate.ts has all rules together. */
  readonly validate: (object: KubeObject) => FieldFault[]
  readonly validateUpdate: (object: KubeObject, current: KubeObject) => FieldFault[]
  /** Rules that may take long, so that others get their turns meanwhile; theirs stand behind those above. */
  readonly validateInSlices?: ValidateInSlices
  readonly namespaceRule?: NamespaceRule
  /** What the client is told although the write is fine. `current` is undefined on create. */
  readonly warnings: (object: KubeObject, current: KubeObject | undefined) => string[]
  /** The rules of writes through subresources that show the object itself: `status`, `finalize`, `approval`. */
  readonly subresourceRules: { readonly [subresource: string]: UpdateRules }
  /** The paths of fields that a write through a subresource (empty: the object itself) does not change, so that nobody owns them. */
  readonly resetPaths: (subresource: string) => readonly string[]
  /** Its columns, for people. */
  readonly table: TableKind
  /** Subresources that show objects in a shape of their own. */
  readonly views: { readonly [subresource: string]: View }
}

/** What a client is told of an object that has nothing to show: an internal error, or one without a reason. */
export type HiddenView = { readonly internal: string } | { readonly unclassified: string }

/** Another shape of the same stored objects, to be read and written: `scale`. A write through it is an update of the object. */
export type View = {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly shape: ObjectSchema
  readonly table: TableKind
  readonly show: (object: KubeObject) => KubeObject
  /** Why an object has nothing to show; undefined: it has. */
  readonly whyHidden?: (object: KubeObject) => HiddenView | undefined
  /** The object as a written view wants it, with the view's resourceVersion where that has one. */
  readonly change: (object: KubeObject, view: KubeObject) => KubeObject
  readonly validate: (view: KubeObject) => FieldFault[]
  /** Why it cannot be applied to, which upstream says last. */
  readonly refusesApply?: string
  /** The one field that can be owned through the view; and its path in the object, where that is another one. */
  readonly ownedPath: string
  readonly objectPath?: string
}

/** How the kind itself looks at metadata, besides what all objects must pass. */
export type MetadataRules = {
  /** Whether it does at all. */
  readonly isChecked: boolean
  /** Whether finalizers need a domain before their names. */
  readonly needsDomains: boolean
  readonly updateChecks: readonly UpdateCheck[]
}

/** `metadata`: by itself, as on create. `change`: of metadata, against the object from before. `rules`: of the kind. */
export type UpdateCheck = 'metadata' | 'change' | 'rules'

/** Who writes, and when, for the few kinds that keep it. */
export type Writer = {
  readonly user: User
  /** As a timestamp of metadata. */
  readonly now: () => string
  /** Tells the client something although the write goes on. */
  readonly warn: (text: string) => void
  /** An id that nobody has. */
  readonly newId: () => string
}

/** What an update through one path may change (the rest is kept from `current`), and what it must be then. */
export type UpdateRules = {
  readonly warnings?: (object: KubeObject, current: KubeObject) => string[]
  readonly prepareUpdate: (object: KubeObject, current: KubeObject, writer: Writer) => KubeObject
  readonly validateUpdate: (object: KubeObject, current: KubeObject) => FieldFault[]
  readonly validateInSlices?: ValidateInSlices
  readonly namespaceRule?: NamespaceRule
  /** Where they are not those of the kind. */
  readonly updateChecks?: readonly UpdateCheck[]
}

export type ValidateTools = TurnTools & {
  /** Tells the client, whether or not the object is refused. */
  readonly warn?: (text: string) => void
}

/** What the labels of its namespace must be for this object; undefined: they do not matter. Faults stand before all others. */
export type NamespaceRule = (
  object: KubeObject,
  current: KubeObject | undefined,
) => ((labels: Labels) => FieldFault[]) | undefined

/** `current`: what the object was; undefined: it is new. */
export type ValidateInSlices = (
  object: KubeObject,
  current: KubeObject | undefined,
  tools?: ValidateTools,
) => Promise<FieldFault[]>

/** The shape in which a path shows objects; undefined: as they are. */
export function viewOf({ resource, subresource }: Pick<ResourceRequest, 'resource' | 'subresource'>): View | undefined {
  return Object.hasOwn(resource.views, subresource) ? resource.views[subresource] : undefined
}

/** What may be changed through a path. A view is another shape of the whole object. */
export function rulesOf({ resource, subresource }: Pick<ResourceRequest, 'resource' | 'subresource'>): UpdateRules {
  const { subresourceRules } = resource
  const own = Object.hasOwn(subresourceRules, subresource) ? subresourceRules[subresource] : undefined
  assert(
    own !== undefined || subresource === '' || viewOf({ resource, subresource }) !== undefined,
    'the part has rules',
  )
  return own ?? resource
}

/** The object in the shape of the path. */
export const shownAt = (request: Pick<ResourceRequest, 'resource' | 'subresource'>, object: KubeObject): KubeObject =>
  viewOf(request)?.show(object) ?? object

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
  /** Empty: the object itself. */
  readonly subresource: string
  readonly user: User
  readonly context: RequestContext
  readonly http: ApiRequest
}
