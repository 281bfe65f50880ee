/**
 * A resource: a row of data, and the few rules of its kind that data cannot express. The verbs are
 * implemented once for all resources.
 */
import { assert } from '../lib/errors.ts'
import type { TurnTools } from '../objects/cel/turns.ts'
import type { FieldFault } from '../api/field-fault.ts'
import type { Labels } from '../api/label-selector.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import type { TableKind } from '../api/table.ts'
import type { User } from '../api/user.ts'
import type { DeletionRules } from './deletion.ts'
import type { ObjectSchema } from '../objects/schema/object-schema.ts'

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'

/**
 * A part of an object with a path of its own, `pods/status`, or an operation on it,
 * `pods/eviction`.
 */
export type Subresource = {
  readonly name: string
  /**
   * The kind of the request and response bodies; its group and version are mostly those of the
   * resource.
   */
  readonly kind: string
  readonly group: string
  readonly version: string
  /** Sorted, as discovery lists them. */
  readonly verbs: readonly Verb[]
}

export type Resource = {
  readonly group: string
  /** The group of the kind in validation errors: that of upstream's internal version. */
  readonly faultGroup: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly isNamespaced: boolean
  readonly isCustom: boolean
  /** Whether its objects are in etcd: reviews, bindings and component statuses are not. */
  readonly isStored: boolean
  /** Sorted, as discovery lists them. */
  readonly verbs: readonly Verb[]
  /** Sorted by name. */
  readonly subresources: readonly Subresource[]
  /** How objects are decoded, encoded and stored. Built on first use. */
  readonly shape: ObjectSchema
  /**
   * Prepares what would block the event loop if it were built in one go. Undefined: it is ready.
   */
  readonly load?: () => Promise<void> | undefined
  readonly discovery: ResourceDiscovery
  readonly versions: ResourceVersions
  readonly selection: FieldSelection
  readonly rules: WriteRules
  readonly deletion: DeletionRules
  /** The columns of its table. */
  readonly table: TableKind
  /** Subresources with a kind of their own. */
  readonly views: { readonly [subresource: string]: View }
}

/** What clients learn about the resource besides its identity. */
export type ResourceDiscovery = {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** A warning that is sent with every response. */
  readonly deprecation?: string
  /**
   * For a custom resource: its schema as OpenAPI publishes it, to which metadata and the like are
   * added.
   */
  readonly published?: {
    /** Undefined if it has no schema that can be published. */
    readonly schema: () => Fields | undefined
    /** Any field is allowed: older clients, which know only OpenAPI v2, get no fields. */
    readonly isOpen: boolean
    /** Changes whenever anything that is published does. */
    readonly mark: string
  }
}

/** The version in which objects are stored, and conversion between versions. */
export type ResourceVersions = {
  /**
   * The apiVersion in which objects are stored, if it is another one: `v1` for events of
   * events.k8s.io.
   */
  readonly storageVersion?: string
  /**
   * If objects are stored in a version that only a webhook can convert: the resource in that
   * version.
   */
  readonly converted?: () => Resource | undefined
  /**
   * For a custom resource whose versions only a webhook can convert: the client configuration of
   * the webhook.
   */
  readonly conversionWebhook?: Fields
  /** For a custom resource: the same resource in another version, served or not. */
  readonly inVersion?: (version: string) => Resource | undefined
}

export type FieldSelection = {
  /**
   * What a field selector may name besides metadata.name and metadata.namespace, and how to read
   * it.
   */
  readonly fields: { readonly [field: string]: (object: KubeObject) => string }
  /** The fields that have few objects per value and are selected by many clients. */
  readonly indexed?: readonly string[]
}

/** How objects are prepared and validated when they are created or updated. */
export type WriteRules = {
  /** Whether an update may omit the resourceVersion. */
  readonly allowsUnconditionalUpdate: boolean
  /** Whether an update of an object that does not exist creates it. */
  readonly createsOnUpdate: boolean
  readonly metadata: MetadataRules
  /** Sets or resets fields before a new object is validated. */
  readonly prepareCreate: (object: KubeObject, writer: Writer) => KubeObject
  readonly prepareUpdate: (object: KubeObject, current: KubeObject, writer: Writer) => KubeObject
  /** Validates all but metadata; validate.ts combines all rules. */
  readonly validate: (object: KubeObject) => FieldFault[]
  readonly validateUpdate: (object: KubeObject, current: KubeObject) => FieldFault[]
  /**
   * Rules that may take long and yield to the event loop; their faults follow those of the above.
   */
  readonly validateInSlices?: ValidateInSlices
  readonly namespaceRule?: NamespaceRule
  /** Warnings for a valid write. `current` is undefined on create. */
  readonly warnings: (object: KubeObject, current: KubeObject | undefined) => string[]
  /**
   * The rules for updates through subresources that have the kind of the object itself: `status`,
   * `finalize`, `approval`.
   */
  readonly subresources: { readonly [subresource: string]: UpdateRules }
  /**
   * The paths of fields that a write through a subresource (empty: the object itself) does not
   * change, so that it does not own them.
   */
  readonly resetPaths: (subresource: string) => readonly string[]
}

/** The error for an object that has no such view: an internal error, or one without a reason. */
export type HiddenView = { readonly internal: string } | { readonly unclassified: string }

/**
 * Another representation of the same stored objects, which can be read and written: `scale`. A
 * write to it is an update of the object.
 */
export type View = {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly shape: ObjectSchema
  readonly table: TableKind
  readonly show: (object: KubeObject) => KubeObject
  /** Why an object has no such view; undefined if it has one. */
  readonly whyHidden?: (object: KubeObject) => HiddenView | undefined
  /** The object after a write of the view, with the view's resourceVersion if there is one. */
  readonly change: (object: KubeObject, view: KubeObject) => KubeObject
  readonly validate: (view: KubeObject) => FieldFault[]
  /** Why server-side apply is refused, which upstream checks last. */
  readonly refusesApply?: string
  /**
   * The only field that can be owned through the view; and its path in the object, if it is another
   * one.
   */
  readonly ownedPath: string
  readonly objectPath?: string
}

/** How the kind itself validates metadata, besides the rules for all objects. */
export type MetadataRules = {
  readonly checkName: (name: string) => string[]
  /** Names have a format that allows no random suffix: generateName is used as the whole name. */
  readonly usesGenerateNameVerbatim?: boolean
  /** Whether it validates metadata at all. */
  readonly isChecked: boolean
  /** Whether finalizers need a domain. */
  readonly needsDomains: boolean
  readonly updateChecks: readonly UpdateCheck[]
}

/**
 * `metadata`: validated as on create. `change`: compared with the stored object's. `rules`: those
 * of the kind.
 */
export type UpdateCheck = 'metadata' | 'change' | 'rules'

/** The user and the time of a write, for the few kinds that record it. */
export type Writer = {
  readonly user: User
  /** As a timestamp of metadata. */
  readonly now: () => string
  /** Sends the client a warning; the write goes on. */
  readonly warn: (text: string) => void
  /** A new unique id. */
  readonly newId: () => string
}

/**
 * What an update through one path may change (the rest is kept from `current`), and how it is
 * validated.
 */
export type UpdateRules = {
  readonly warnings?: (object: KubeObject, current: KubeObject) => string[]
  readonly prepareUpdate: (object: KubeObject, current: KubeObject, writer: Writer) => KubeObject
  readonly validateUpdate: (object: KubeObject, current: KubeObject) => FieldFault[]
  readonly validateInSlices?: ValidateInSlices
  readonly namespaceRule?: NamespaceRule
  /** Absent: the checks of the kind. */
  readonly updateChecks?: readonly UpdateCheck[]
}

export type ValidateTools = TurnTools & {
  /** Sends the client a warning, whether or not the object is refused. */
  readonly warn?: (text: string) => void
}

/**
 * Validates the labels of the object's namespace; undefined if they do not matter. These faults
 * precede all others.
 */
export type NamespaceRule = (
  object: KubeObject,
  current: KubeObject | undefined,
) => ((labels: Labels) => FieldFault[]) | undefined

/** `current`: the stored object; undefined for a new one. */
export type ValidateInSlices = (
  object: KubeObject,
  current: KubeObject | undefined,
  tools?: ValidateTools,
) => Promise<FieldFault[]>

/** The resource of a path, and the subresource; empty: the object itself. */
type ResourcePath = { readonly resource: Resource; readonly subresource: string }

/** The representation of objects at a path; undefined: the objects themselves. */
export function viewOf({ resource, subresource }: ResourcePath): View | undefined {
  return Object.hasOwn(resource.views, subresource) ? resource.views[subresource] : undefined
}

/** What may be changed through a path. A view has the rules of the object itself. */
export function rulesOf({ resource, subresource }: ResourcePath): UpdateRules {
  const { subresources } = resource.rules
  const own = Object.hasOwn(subresources, subresource) ? subresources[subresource] : undefined
  assert(
    own !== undefined || subresource === '' || viewOf({ resource, subresource }) !== undefined,
    'the part has rules',
  )
  return own ?? resource.rules
}

/** The object in the representation of the path. */
export const shownAt = (path: ResourcePath, object: KubeObject): KubeObject =>
  viewOf(path)?.show(object) ?? object

/** The apiVersion of the resource's objects: `v1`, `apps/v1`. */
export function apiVersionOf({
  group,
  version,
}: {
  readonly group: string
  readonly version: string
}): string {
  return group === '' ? version : `${group}/${version}`
}
