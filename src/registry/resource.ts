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
 * A part of an object with a path of its own, such as `pods/status`, or an operation on it, such as
 * `pods/eviction`.
 */
export type Subresource = {
  readonly name: string
  /**
   * Kind of the request and response bodies. Its group and version are usually those of the
   * resource.
   */
  readonly kind: string
  readonly group: string
  readonly version: string
  /** Verbs, sorted as discovery lists them. */
  readonly verbs: readonly Verb[]
}

export type Resource = {
  readonly group: string
  /** Group of the kind in validation errors, which is that of Kubernetes' internal version. */
  readonly faultGroup: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly isNamespaced: boolean
  readonly isCustom: boolean
  /** Whether objects are stored. Reviews, bindings and component statuses are not. */
  readonly isStored: boolean
  /** Verbs, sorted as discovery lists them. */
  readonly verbs: readonly Verb[]
  /** Subresources, sorted by name. */
  readonly subresources: readonly Subresource[]
  /** Defines how objects are decoded, encoded and stored. Built on first use. */
  readonly shape: ObjectSchema
  /**
   * Prepares data that would block the event loop if it were built in one piece. Returns undefined
   * if it is ready.
   */
  readonly load?: () => Promise<void> | undefined
  readonly discovery: ResourceDiscovery
  readonly versions: ResourceVersions
  readonly selection: FieldSelection
  readonly rules: WriteRules
  readonly deletion: DeletionRules
  /** Table of the resource. */
  readonly table: TableKind
  /** Subresources with a kind of their own. */
  readonly views: { readonly [subresource: string]: View }
}

/** Properties that clients learn about the resource besides its identity. */
export type ResourceDiscovery = {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Warning that is sent with every response. */
  readonly deprecation?: string
  /** Schema of a custom resource for OpenAPI, to which metadata and similar fields are added. */
  readonly published?: {
    /** Returns the schema. Undefined if there is none that can be published. */
    readonly schema: () => Fields | undefined
    /**
     * Whether any field is allowed. Older clients, which know only OpenAPI v2, then get no fields.
     */
    readonly isOpen: boolean
    /** Value that changes whenever anything that is published changes. */
    readonly mark: string
  }
}

/** Version in which objects are stored, and conversion between versions. */
export type ResourceVersions = {
  /** apiVersion in which objects are stored, if it differs: `v1` for events of events.k8s.io. */
  readonly storageVersion?: string
  /**
   * Returns the resource in the storage version. Absent unless objects may be stored in a version
   * that only a webhook can convert.
   */
  readonly converted?: () => Resource | undefined
  /** Client configuration of the webhook that converts a custom resource between its versions. */
  readonly conversionWebhook?: Fields
  /** Returns a custom resource in another version, whether or not that version is served. */
  readonly inVersion?: (version: string) => Resource | undefined
}

export type FieldSelection = {
  /**
   * Fields that a field selector may name besides metadata.name and metadata.namespace, with
   * functions that read them.
   */
  readonly fields: { readonly [field: string]: (object: KubeObject) => string }
  /** Fields that have few objects per value and are selected by many clients. */
  readonly indexed?: readonly string[]
}

/** Rules for preparing and validating objects that are created or updated. */
export type WriteRules = {
  /** Whether an update may omit the resourceVersion. */
  readonly allowsUnconditionalUpdate: boolean
  /** Whether an update of an object that does not exist creates it. */
  readonly createsOnUpdate: boolean
  readonly metadata: MetadataRules
  /** Sets or resets fields before a new object is validated. */
  readonly prepareCreate: (object: KubeObject, writer: Writer) => KubeObject
  readonly prepareUpdate: (object: KubeObject, current: KubeObject, writer: Writer) => KubeObject
  /** Validates everything except metadata; validate.ts combines all rules. */
  readonly validate: (object: KubeObject) => FieldFault[]
  readonly validateUpdate: (object: KubeObject, current: KubeObject) => FieldFault[]
  /**
   * Rules that may take long, and therefore yield to the event loop. Their faults follow those of
   * the rules above.
   */
  readonly validateInSlices?: ValidateInSlices
  readonly namespaceRule?: NamespaceRule
  /** Returns the warnings for a valid write. `current` is undefined on create. */
  readonly warnings: (object: KubeObject, current: KubeObject | undefined) => string[]
  /**
   * Rules for updates through subresources that have the kind of the object itself: `status`,
   * `finalize`, `approval`.
   */
  readonly subresources: { readonly [subresource: string]: UpdateRules }
  /**
   * Returns the paths of fields that a write through a subresource does not change, and therefore
   * does not own. An empty `subresource` stands for the object itself.
   */
  readonly resetPaths: (subresource: string) => readonly string[]
}

/** Error for an object that has no such view: an internal error, or an error without a reason. */
export type HiddenView = { readonly internal: string } | { readonly unclassified: string }

/**
 * Another representation of the same stored objects, such as `scale`, which can be read and
 * written. A write to it updates the object.
 */
export type View = {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly shape: ObjectSchema
  readonly table: TableKind
  readonly show: (object: KubeObject) => KubeObject
  /** Returns why an object has no such view. Undefined if it has one. */
  readonly whyHidden?: (object: KubeObject) => HiddenView | undefined
  /**
   * Returns the object after a write of the view, with the view's resourceVersion if it has one.
   */
  readonly change: (object: KubeObject, view: KubeObject) => KubeObject
  readonly validate: (view: KubeObject) => FieldFault[]
  /** Error text for server-side apply, if it is refused. kube-apiserver checks this last. */
  readonly refusesApply?: string
  /**
   * The only field that can be owned through the view. `objectPath` is its path in the object, if
   * it differs.
   */
  readonly ownedPath: string
  readonly objectPath?: string
}

/** Rules by which the kind itself validates metadata, in addition to the rules for all objects. */
export type MetadataRules = {
  readonly checkName: (name: string) => string[]
  /**
   * Whether generateName is used as the whole name, because the format of names allows no random
   * suffix.
   */
  readonly usesGenerateNameVerbatim?: boolean
  /** Whether the kind validates metadata at all. */
  readonly isChecked: boolean
  /** Whether finalizers need a domain. */
  readonly needsDomains: boolean
  readonly updateChecks: readonly UpdateCheck[]
}

/**
 * Part of the validation of an update. `metadata` validates metadata as on create, `change`
 * compares it with that of the stored object, and `rules` applies the rules of the kind.
 */
export type UpdateCheck = 'metadata' | 'change' | 'rules'

/** User and time of a write, for the few kinds that record them. */
export type Writer = {
  readonly user: User
  /** Returns the current time as a metadata timestamp. */
  readonly now: () => string
  /** Sends the client a warning. The write continues. */
  readonly warn: (text: string) => void
  /** Returns a new unique ID. */
  readonly newId: () => string
}

/**
 * Rules for updates through one path: which fields may change, while the rest is kept from
 * `current`, and how the update is validated.
 */
export type UpdateRules = {
  readonly warnings?: (object: KubeObject, current: KubeObject) => string[]
  readonly prepareUpdate: (object: KubeObject, current: KubeObject, writer: Writer) => KubeObject
  readonly validateUpdate: (object: KubeObject, current: KubeObject) => FieldFault[]
  readonly validateInSlices?: ValidateInSlices
  readonly namespaceRule?: NamespaceRule
  /** Parts of the validation. Defaults to those of the kind. */
  readonly updateChecks?: readonly UpdateCheck[]
}

export type ValidateTools = TurnTools & {
  /** Sends the client a warning, whether or not the object is refused. */
  readonly warn?: (text: string) => void
}

/**
 * Returns a function that validates the labels of the object's namespace, or undefined if they do
 * not matter. Its faults precede all others.
 */
export type NamespaceRule = (
  object: KubeObject,
  current: KubeObject | undefined,
) => ((labels: Labels) => FieldFault[]) | undefined

/** Validates an object in slices. `current` is the stored object, or undefined for a new one. */
export type ValidateInSlices = (
  object: KubeObject,
  current: KubeObject | undefined,
  tools?: ValidateTools,
) => Promise<FieldFault[]>

/** Resource and subresource of a path. The subresource is empty for the object itself. */
type ResourcePath = { readonly resource: Resource; readonly subresource: string }

/** Returns the representation of objects at a path. Undefined for the objects themselves. */
export function viewOf({ resource, subresource }: ResourcePath): View | undefined {
  return Object.hasOwn(resource.views, subresource) ? resource.views[subresource] : undefined
}

/** Returns the rules for updates through a path. A view has the rules of the object itself. */
export function rulesOf({ resource, subresource }: ResourcePath): UpdateRules {
  const { subresources } = resource.rules
  const own = Object.hasOwn(subresources, subresource) ? subresources[subresource] : undefined
  assert(
    own !== undefined || subresource === '' || viewOf({ resource, subresource }) !== undefined,
    'the part has rules',
  )
  return own ?? resource.rules
}

/** Returns the object in the representation of the path. */
export const shownAt = (path: ResourcePath, object: KubeObject): KubeObject =>
  viewOf(path)?.show(object) ?? object

/** Returns the apiVersion of the resource's objects: `v1`, `apps/v1`. */
export function apiVersionOf({
  group,
  version,
}: {
  readonly group: string
  readonly version: string
}): string {
  return group === '' ? version : `${group}/${version}`
}
