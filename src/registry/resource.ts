/**
 * A resource: data, and the few rules of its kind that data cannot express. The implementation of
 * the verbs is the same for all resources.
 */
import { assert } from '../lib/errors.ts'
import type { TurnTools } from '../objects/cel/turns.ts'
import type { FieldFault } from '../api/field-fault.ts'
import type { Gates } from '../api/gates.ts'
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
 * A part of an object that has its own path, such as `pods/status`, or an operation on the object,
 * such as `pods/eviction`.
 */
export type Subresource = {
  readonly name: string
  /**
   * Kind of the request and response bodies. Its group and version are usually those of the
   * resource itself.
   */
  readonly kind: string
  readonly group: string
  readonly version: string
  /** Verbs of the subresource, sorted as in discovery. */
  readonly verbs: readonly Verb[]
}

export type Resource = {
  readonly group: string
  /** Group of the kind in validation errors. It is the group of Kubernetes' internal version. */
  readonly faultGroup: string
  readonly version: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly isNamespaced: boolean
  /** Minor version of the release of Kubernetes that the control plane serves. */
  readonly release: number
  readonly isCustom: boolean
  /** The CustomResourceDefinition of a custom resource. */
  readonly definition?: { readonly name: string; readonly uid: string }
  /** Whether objects are stored. Reviews, bindings and component statuses are not stored. */
  readonly isStored: boolean
  /** Verbs of the resource, sorted as in discovery. */
  readonly verbs: readonly Verb[]
  /** Subresources of the resource, sorted by name. */
  readonly subresources: readonly Subresource[]
  /** Defines how objects are decoded, encoded and stored. Created on first use. */
  readonly shape: ObjectSchema
  /**
   * Parses the schema of a custom resource in time slices, because parsing it at once would block
   * the event loop. Returns undefined if the schema is already parsed.
   */
  readonly load?: () => Promise<void> | undefined
  readonly discovery: ResourceDiscovery
  readonly versions: ResourceVersions
  readonly selection: FieldSelection
  readonly rules: WriteRules
  readonly deletion: DeletionRules
  /** Table for responses to clients such as kubectl. */
  readonly table: TableKind
  /** Subresources that have their own kind. */
  readonly views: { readonly [subresource: string]: View }
}

/** Properties of a resource that discovery and OpenAPI publish, besides its identity. */
export type ResourceDiscovery = {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Warning that is sent with every response. */
  readonly deprecation?: string
  /**
   * Schema that OpenAPI publishes for a custom resource, after metadata and similar fields have
   * been added.
   */
  readonly published?: {
    /** Returns the schema, or undefined if none can be published. */
    readonly schema: () => Fields | undefined
    /**
     * Whether objects can have any fields. In OpenAPI v2, the schema of such objects is published
     * without fields.
     */
    readonly isOpen: boolean
    /** Value that changes whenever the schema or `isOpen` changes. */
    readonly mark: string
  }
}

/** Version in which objects are stored, and conversions between versions. */
export type ResourceVersions = {
  /**
   * apiVersion in which objects are stored, if it differs from the served one. Example: `v1` for
   * events of events.k8s.io.
   */
  readonly storageVersion?: string
  /**
   * Returns the resource in the storage version. The function is present only if objects can be
   * stored in a version that only a webhook can convert.
   */
  readonly converted?: () => Resource | undefined
  /** Client configuration of the conversion webhook of a custom resource. */
  readonly conversionWebhook?: Fields
  /** Returns a custom resource in another version, whether or not that version is served. */
  readonly inVersion?: (version: string) => Resource | undefined
}

export type FieldSelection = {
  /**
   * Fields that a field selector can use, in addition to metadata.name and metadata.namespace. The
   * functions read their values.
   */
  readonly fields: { readonly [field: string]: (object: KubeObject) => string }
  /**
   * Fields that are indexed, because many clients select by them and few objects have the same
   * value.
   */
  readonly indexed?: readonly string[]
}

/** Rules that prepare and validate objects when they are created or updated. */
export type WriteRules = {
  /** Whether an update can omit the resourceVersion. */
  readonly allowsUnconditionalUpdate: boolean
  /** Whether an update of a nonexistent object creates it. */
  readonly createsOnUpdate: boolean
  readonly metadata: MetadataRules
  /** Sets or resets fields before a new object is validated. */
  readonly prepareCreate: (object: KubeObject, writer: Writer) => KubeObject
  readonly prepareUpdate: (object: KubeObject, current: KubeObject, writer: Writer) => KubeObject
  /** Validates everything except metadata. validate.ts combines all rules. */
  readonly validate: (object: KubeObject) => FieldFault[]
  readonly validateUpdate: (object: KubeObject, current: KubeObject) => FieldFault[]
  /**
   * Rules that can take a long time, and therefore run in time slices. Their errors follow those of
   * the other rules.
   */
  readonly validateInSlices?: ValidateInSlices
  readonly namespaceRule?: NamespaceRule
  /** Returns the warnings for a valid write. `current` is undefined on create. */
  readonly warnings: (object: KubeObject, current: KubeObject | undefined) => string[]
  /**
   * Rules for updates through subresources whose kind is that of the object itself: `status`,
   * `finalize`, `approval`.
   */
  readonly subresources: { readonly [subresource: string]: UpdateRules }
  /**
   * Returns the paths of fields that a write through a subresource does not change. The client that
   * writes does not own these fields. An empty `subresource` stands for the object itself.
   */
  readonly resetPaths: (subresource: string) => readonly string[]
}

/**
 * Error for an object that cannot be represented as a view. For example, some objects have no
 * Scale. The message is that of an internal error, or of an error without a `reason`.
 */
export type HiddenView = { readonly internal: string } | { readonly unclassified: string }

/**
 * Another representation of the same stored objects, such as `scale`. Clients can read and write
 * it. A write updates the object.
 */
export type View = {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly shape: ObjectSchema
  readonly table: TableKind
  readonly show: (object: KubeObject) => KubeObject
  /**
   * Returns why the object has no representation as this view, or undefined if it has one. For
   * example, a custom object without a replica count has no Scale.
   */
  readonly whyHidden?: (object: KubeObject) => HiddenView | undefined
  /**
   * Returns the object with the changes that a client has made to the view. If the view has a
   * resourceVersion, the object gets it.
   */
  readonly change: (object: KubeObject, view: KubeObject) => KubeObject
  readonly validate: (view: KubeObject) => FieldFault[]
  /**
   * Error message if the view does not support server-side apply. As in kube-apiserver, this is
   * checked last.
   */
  readonly refusesApply?: string
  /**
   * Path of a field in the view, such as `spec.replicas` of a Scale. A client that writes the view
   * can own only this field.
   */
  readonly ownedPath: string
  /**
   * Returns the path that corresponds to `ownedPath` in a version of the object. Returns undefined
   * if the version does not have the view. If the function is absent, both paths are equal.
   */
  readonly objectPath?: (apiVersion: string) => string | undefined
}

/** The kind's own rules for metadata, in addition to the rules for all objects. */
export type MetadataRules = {
  readonly checkName: (name: string) => string[]
  /** Rule for generateName, if it differs from the rule for names. */
  readonly checkPrefix?: (prefix: string) => string[]
  /**
   * Whether generateName is used as the complete name, because the format of names does not permit
   * a random suffix.
   */
  readonly usesGenerateNameVerbatim?: boolean
  /** Whether the kind has its own validation of metadata. */
  readonly isChecked: boolean
  /** Whether the names of finalizers must begin with a domain. */
  readonly needsDomains: boolean
  readonly updateChecks: readonly UpdateCheck[]
}

/**
 * Step in the validation of an update. `metadata` validates metadata like that of a new object,
 * `change` compares it with the stored metadata, and `rules` applies the rules of the kind.
 */
export type UpdateCheck = 'metadata' | 'change' | 'rules'

/** Gives access to the user and the time of a write. Only a few kinds record them. */
export type Writer = {
  readonly user: User
  /** Returns the current time as a metadata timestamp. */
  readonly now: () => string
  /** Sends a warning to the client. The write continues. */
  readonly warn: (text: string) => void
  /** Returns a new unique ID. */
  readonly newId: () => string
}

/**
 * Rules for updates through one path. Fields that the path must not change are copied from
 * `current`. Then the result is validated.
 */
export type UpdateRules = {
  readonly warnings?: (object: KubeObject, current: KubeObject) => string[]
  readonly prepareUpdate: (object: KubeObject, current: KubeObject, writer: Writer) => KubeObject
  readonly validateUpdate: (object: KubeObject, current: KubeObject) => FieldFault[]
  readonly validateInSlices?: ValidateInSlices
  readonly namespaceRule?: NamespaceRule
  /** Steps of the validation. Defaults to the steps of the kind. */
  readonly updateChecks?: readonly UpdateCheck[]
}

export type ValidateTools = TurnTools & {
  /** Sends a warning to the client, whether or not the object is refused. */
  readonly warn?: (text: string) => void
}

/**
 * Returns a function that validates the labels of the object's namespace, or undefined if these
 * labels do not matter. The errors of the function come before all other errors.
 */
export type NamespaceRule = (
  object: KubeObject,
  current: KubeObject | undefined,
  gates?: Gates,
) => ((labels: Labels) => FieldFault[]) | undefined

/**
 * Validates an object in time slices. `current` is the stored object, or undefined for a new
 * object.
 */
export type ValidateInSlices = (
  object: KubeObject,
  current: KubeObject | undefined,
  tools?: ValidateTools,
) => Promise<FieldFault[]>

/** Resource and subresource of a request path. The subresource is empty for the object itself. */
type ResourcePath = { readonly resource: Resource; readonly subresource: string }

/**
 * Returns the view that a request path selects, such as the Scale of a Deployment. Returns
 * undefined if the path selects the objects themselves.
 */
export function viewOf({ resource, subresource }: ResourcePath): View | undefined {
  return Object.hasOwn(resource.views, subresource) ? resource.views[subresource] : undefined
}

/**
 * Returns the rules for updates through a request path. A view has the rules of the object itself.
 */
export function rulesOf({ resource, subresource }: ResourcePath): UpdateRules {
  const { subresources } = resource.rules
  const own = Object.hasOwn(subresources, subresource) ? subresources[subresource] : undefined
  assert(
    own !== undefined || subresource === '' || viewOf({ resource, subresource }) !== undefined,
    'the part has rules',
  )
  return own ?? resource.rules
}

/** Returns the object in the representation that the request path selects. */
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
