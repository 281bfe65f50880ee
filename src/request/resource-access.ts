/**
 * Access to the objects of each resource. The access is created when it is first used, and released
 * when the resource is removed.
 */
import type { Admission } from '../admission/admission.ts'
import { isTerminatingNamespace } from '../admission/namespace-lifecycle.ts'
import {
  CREATES_FORBIDDEN_SINCE,
  crdTerminating,
  namespaceTerminating,
  notFound,
} from '../api/errors.ts'
import { isEvents } from '../api/events.ts'
import type { Labels } from '../api/label-selector.ts'
import type { KubeObject } from '../api/object.ts'
import type { Cache } from '../storage/cache/cache.ts'
import { Facts } from '../storage/cache/facts.ts'
import type { Fillable } from '../storage/cache/first-fill.ts'
import type { ObjectCodec } from '../storage/cache/item.ts'
import type { ResourceSpec } from '../storage/cache/resource-options.ts'
import type { PatternThread } from '../objects/cel/pattern-thread.ts'
import { decodeStored, printWire, UnreadableError } from '../objects/codec/object.ts'
import { PrintedCheck } from '../objects/codec/printed.ts'
import { Transcoder } from '../objects/codec/protobuf/transcode.ts'
import { settledWire } from '../objects/codec/settled.ts'
import type { YamlConverter } from '../objects/codec/yaml.ts'
import type { Config } from '../config/config.ts'
import type { RequestMetrics } from './filters/request-metrics.ts'
import { type Parent, ParentStates, withParents } from './parents.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Allocator } from '../registry/allocations.ts'
import { isClosedCrd, isTerminatingCrd } from '../registry/custom/crd.ts'
import { compareVersions } from '../registry/priorities.ts'
import type { Registry } from '../registry/registry.ts'
import { apiVersionOf, type Resource } from '../registry/resource.ts'
import type { Key, Revision } from '../storage/engine.ts'
import { StorageError } from '../storage/errors.ts'
import {
  type ObjectName,
  rangeOf,
  ResourceKeys,
  resourcePrefix,
  rootOf,
  toText,
} from '../storage/keys.ts'
import type { ObjectStore } from '../storage/store.ts'
import type { Ids } from '../api/ids.ts'
import type {
  ValidationAccess,
  VersionAccess,
  WatchAccess,
  WriteAccess,
  WriteEffects,
  WritePermissions,
} from './verbs/access.ts'
import { convertedAccess } from './verbs/converting/converted-access.ts'
import { ConvertedItems } from './verbs/converting/converted-items.ts'
import { Converter } from './verbs/converting/converter.ts'
import { HeldSelectors } from './verbs/held-selectors.ts'
import { ResourceForms } from './verbs/represent/forms.ts'
import { WrittenMessages } from './verbs/represent/written-messages.ts'
import { createNow } from '../api/timestamps.ts'
import type { WebhookClientOptions } from '../net/outbound/call.ts'
import { ConversionWebhook } from './verbs/converting/conversion.ts'

export type Access = WriteAccess & WatchAccess

export type AccessOf = (resource: Resource) => Access

export type ResourceAccessOptions = {
  readonly config: Config
  readonly registry: Registry
  readonly storage: {
    /**
     * Cache of the main database, which contains all custom resources. The cache also stores items
     * derived from cached objects, such as converted objects.
     */
    readonly cache: Cache
    /** Returns the cache of the database that stores a resource. */
    readonly cacheOf: (resource: Resource) => Cache
    /** Returns the store that writes the objects of a resource. */
    readonly storeOf: (resource: Resource) => ObjectStore
  }
  readonly metrics: RequestMetrics
  readonly admission: Admission
  readonly permissions: Pick<
    WritePermissions,
    'authorizeConnect' | 'authorizeCreate' | 'authorizeUnsafeDelete'
  > & {
    readonly confirmGrantOf: (resource: Resource) => WritePermissions['confirmGrant']
  }
  readonly effects: {
    readonly onUpdatedOf: (resource: Resource) => WriteEffects['onUpdated']
    /** Allocates cluster IPs and node ports of Services. */
    readonly allocator: Allocator
  }
  readonly yaml: YamlConverter
  readonly patterns: PatternThread
  /** Options for calls to conversion webhooks. */
  readonly calls: WebhookClientOptions
  readonly clock: Clock
  readonly ids: Ids
  /** Returns a random number in the range [0, 1). */
  readonly random: () => number
}

export class ResourceAccess {
  readonly #options: ResourceAccessOptions
  readonly #root: Key
  readonly #now: () => string
  readonly #validation: ValidationAccess
  readonly #convertedItems: ConvertedItems
  readonly #transcoder = new Transcoder()
  readonly #written = new WrittenMessages()
  readonly #printed = new PrintedCheck()
  readonly #heldSelectors = new HeldSelectors()
  readonly #namespaceStates = new ParentStates((namespace) =>
    isTerminatingNamespace(namespace) ? 'none' : 'all',
  )
  readonly #definitionStates = new ParentStates((crd) =>
    // As in kube-apiserver, a patch can create custom objects while their CustomResourceDefinition
    // is being deleted.
    isClosedCrd(crd) ? 'none' : isTerminatingCrd(crd) ? 'update' : 'all',
  )
  /** Access by resource. This is a WeakMap, because custom resources can be deleted. */
  readonly #made = new WeakMap<Resource, Access>()
  readonly #retired = new WeakSet<Resource>()
  /**
   * Converters by key prefix. All versions of a resource have the same prefix, so their converters
   * are removed together.
   */
  readonly #converters = new Map<Key, Converter[]>()

  constructor(options: ResourceAccessOptions) {
    this.#options = options
    this.#root = rootOf(options.config.storage.prefix)
    this.#now = createNow(options.clock.wallMs)
    this.#validation = {
      answerPattern: (question) => options.patterns.answer(question),
      namespaceLabels: (namespace) => this.#namespaceLabels(namespace),
    }
    this.#convertedItems = new ConvertedItems((item) => options.storage.cache.release(item))
  }

  of(resource: Resource): Access {
    const known = this.#made.get(resource)
    if (known !== undefined) return known
    const access = this.#withConversion(resource)
    this.#made.set(resource, access)
    return access
  }

  /**
   * Returns the resources to load into the cache at startup: built-in resources, each in its newest
   * served version. Custom resources are left out, because there can be thousands that are never
   * requested. Events are left out because they are numerous. kube-apiserver does not cache Events
   * either.
   */
  fillable(): Fillable[] {
    const newest = new Map<Key, Resource>()
    for (const resource of this.#options.registry.all()) {
      // The initial loading of the cache counts only objects in the main database, so resources in
      // other databases are left out.
      if (
        resource.isCustom ||
        !resource.isStored ||
        isEvents(resource) ||
        !this.#isOfMain(resource)
      )
        continue
      const { prefix } = this.keysOf(resource)
      const known = newest.get(prefix)
      if (known === undefined || compareVersions(resource.version, known.version) < 0)
        newest.set(prefix, resource)
    }
    return [...newest].map(([prefix, resource]) => ({
      name: resource.plural,
      range: rangeOf(prefix),
      fill: () => this.#fill(resource, prefix),
    }))
  }

  #isOfMain(resource: Resource): boolean {
    const { cache, cacheOf } = this.#options.storage
    return cacheOf(resource) === cache
  }

  /**
   * Loads a resource into the cache, and encodes its objects as protobuf, the format that
   * controllers request.
   */
  #fill(resource: Resource, prefix: Key): Promise<void> {
    const { cache } = this.#options.storage
    const { forms } = this.of(resource)
    return cache.fill(prefix, apiVersionOf(resource), (item) => {
      if (!cache.memos.queue.isFull) forms.makeMessage(item)
    })
  }

  /**
   * Returns access to objects in the versions in which they are stored. For resources without a
   * conversion webhook, `of` returns the same access.
   */
  ofStored(resource: Resource): Access {
    return resource.versions.conversionWebhook === undefined
      ? this.of(resource)
      : this.#make(resource)
  }

  /** Returns the keys of a resource. Unlike `of`, this creates nothing that has to be released. */
  keysOf(resource: Resource): ResourceKeys {
    return new ResourceKeys(this.#root, resourcePrefix(resource), resource.isNamespaced)
  }

  /**
   * Releases a custom resource whose CustomResourceDefinition has changed. A request that still
   * uses the resource must not load it into the cache again.
   */
  retire(resource: Resource): void {
    const { prefix } = this.keysOf(resource)
    this.#retired.add(resource)
    for (const converter of this.#converters.get(prefix) ?? []) converter.close()
    this.#converters.delete(prefix)
    this.#options.storage.cache.remove(prefix)
  }

  #withConversion(resource: Resource): Access {
    const { conversionWebhook, converted } = resource.versions
    if (conversionWebhook === undefined) return this.#make(resource)
    const { ids, calls } = this.#options
    const { cache } = this.#options.storage
    const webhook = new ConversionWebhook(
      conversionWebhook,
      { newId: ids.uid, release: resource.release },
      calls,
    )
    const own = this.#make(resource)
    const versions = { ...own.versions, convertTo: convertingBy(webhook) }
    const access: Access = { ...own, versions }
    const stored = converted?.()
    if (stored === undefined) return access
    const codec: ObjectCodec = {
      decode: (value, key, revision) =>
        access.storage.decode({ value, key, revision, createRevision: 0, stale: false }),
      print: (object) => printWire(object, resource.shape),
      facts: new Facts(() => resource.selection.fields),
    }
    const home = cache.homeOf(codec)
    const database = { life: () => cache.databaseLife, isSettled: () => cache.isDatabaseSettled }
    const kept = this.#convertedItems
    const converter = new Converter(resource, {
      webhook,
      kept,
      home,
      frames: cache.frames,
      database,
    })
    const { prefix } = access.keys
    if (this.#retired.has(resource)) converter.close()
    else this.#converters.set(prefix, [...(this.#converters.get(prefix) ?? []), converter])
    return convertedAccess(access, { resource: stored, access: this.ofStored(stored) }, converter)
  }

  async #namespaceLabels(namespace: string): Promise<Labels> {
    const resource = this.#options.registry.find(namespaces)
    if (resource === undefined) return {}
    const { keys, reader } = this.of(resource)
    const { item } = await reader.get(keys.key(undefined, namespace), 'latest')
    return item?.object().metadata.labels ?? {}
  }

  #make(resource: Resource): Access {
    const { config, registry, storage, metrics, admission, yaml, clock, ids, random } =
      this.#options
    const { authorizeUnsafeDelete } = this.#options.permissions
    const cache = storage.cacheOf(resource)
    const keys = this.keysOf(resource)
    const spec = this.#specOf(resource, keys)
    return {
      keys,
      reader: this.#retired.has(resource) ? cache.retired(spec) : cache.resource(spec),
      forms: new ResourceForms(resource, {
        memos: cache.memos,
        transcoder: this.#transcoder,
        written: this.#written,
        nowMs: clock.wallMs,
      }),
      storage: {
        store: this.#storeOf(resource, keys),
        decode: ({ value, revision }) => decodeOrFail(value, resource, revision),
        ttlSeconds: isEvents(resource) ? config.storage.eventTtlSeconds : undefined,
      },
      versions: { inVersion: (apiVersion) => inVersion(registry, resource, apiVersion) },
      permissions: this.#permissionsOf(resource),
      admission,
      validation: this.#validation,
      effects: this.#effectsOf(resource),
      deletion: config.requests,
      ids,
      now: this.#now,
      random,
      // Error messages contain keys without the common prefix, as in kube-apiserver.
      corruptKey: authorizeUnsafeDelete && ((key: Key) => toText(key.slice(this.#root.length - 1))),
      convertYaml: (bytes) => yaml.convert(bytes),
      allowsWatchList: config.featureGates.isOn('WatchList'),
      watchMsMin: config.requests.watchMsMin,
      heldSelectors: this.#heldSelectors,
      onFrames: lazily(() => metrics.countEvents(resource)),
    }
  }

  /**
   * Returns the store of a resource. The store creates an object only while its namespace and its
   * definition exist.
   */
  #storeOf(resource: Resource, keys: ResourceKeys): ObjectStore {
    const { config, storage } = this.#options
    const store = storage.storeOf(resource)
    const isChecked = resource.isNamespaced && config.admission.isOn('NamespaceLifecycle')
    const definition = this.#definitionOf(resource)
    if (!isChecked && definition === undefined) return store
    return withParents(store, (key) => {
      const object = keys.parse(key)
      const namespace = isChecked && object ? this.#namespaceOf(resource, object) : undefined
      const parents = [namespace, definition?.(object?.name ?? '')]
      return parents.filter((parent) => parent !== undefined)
    })
  }

  #namespaceOf(resource: Resource, { namespace = '', name }: ObjectName): Parent | undefined {
    const found = this.#options.registry.find(namespaces)
    if (found === undefined) return undefined
    const { keys, reader } = this.of(found)
    return {
      key: keys.key(undefined, namespace),
      reader,
      states: this.#namespaceStates,
      isComparable: this.#areTogether(resource, found),
      check: (state) => {
        if (state === undefined) throw notFound(namespaces, namespace)
        if (state.creates === 'none') throw namespaceTerminating(resource, name, namespace)
      },
    }
  }

  /** Returns the CustomResourceDefinition of a custom resource, as the parent of an object. */
  #definitionOf(resource: Resource): ((name: string) => Parent) | undefined {
    const { definition } = resource
    if (definition === undefined) return undefined
    const found = this.#options.registry.find(definitions)
    if (found === undefined) return undefined
    const { keys, reader } = this.of(found)
    const parent = {
      key: keys.key(undefined, definition.name),
      reader,
      states: this.#definitionStates,
      isComparable: this.#areTogether(resource, found),
    }
    return (name) => ({
      ...parent,
      check: (state, verb) => {
        const allowed = state?.uid === definition.uid ? state.creates : 'none'
        // Before 1.34, a patch can create an object while its definition is being deleted.
        const isAllowed = resource.release < CREATES_FORBIDDEN_SINCE && allowed === verb
        if (allowed !== 'all' && !isAllowed) throw crdTerminating(resource, name)
      },
    })
  }

  /** Whether the objects of two resources are in the same database. */
  #areTogether(one: Resource, other: Resource): boolean {
    const { cacheOf } = this.#options.storage
    return cacheOf(one) === cacheOf(other)
  }

  #specOf(resource: Resource, { prefix }: ResourceKeys): ResourceSpec {
    const kind = {
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      // Load the schema only when the first object is read. Most kinds have no objects, and loading
      // all schemas would take milliseconds and megabytes.
      get schema() {
        return resource.shape
      },
    }
    return {
      name: resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`,
      prefix,
      version: apiVersionOf(resource),
      goKind: goKindOf(resource),
      decode: (stored, _key, revision) => decodeOrFail(stored, resource, revision),
      print: (object) => printWire(object, resource.shape),
      settle: (stored, revision) => settledWire(stored, kind, { check: this.#printed, revision }),
      facts: new Facts(() => resource.selection.fields),
    }
  }

  #permissionsOf(resource: Resource): WritePermissions {
    const { confirmGrantOf, ...permissions } = this.#options.permissions
    return { ...permissions, confirmGrant: confirmGrantOf(resource) }
  }

  #effectsOf(resource: Resource): WriteEffects {
    const { onUpdatedOf, allocator } = this.#options.effects
    return {
      onUpdated: onUpdatedOf(resource),
      allocator: resource.group === '' && resource.kind === 'Service' ? allocator : undefined,
    }
  }
}

const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const
const definitions = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
} as const

/**
 * Creates a metric when it gets its first value. Most resources are never watched, and a metric is
 * permanent once it is created.
 */
function lazily<T>(make: () => (value: T) => void): (value: T) => void {
  let made: ((value: T) => void) | undefined
  return (value) => {
    made ??= make()
    made(value)
  }
}

/**
 * Returns the Go type of a kind, such as `*core.Secret`. In kube-apiserver, each group has one Go
 * package, and all custom resources have the same type.
 */
const goKindOf = ({ isCustom, group, kind }: Resource): string =>
  isCustom ? '*unstructured.Unstructured' : `*${group.split('.')[0] || 'core'}.${kind}`

function inVersion(
  registry: Registry,
  resource: Resource,
  apiVersion: string,
): Resource | undefined {
  const { group, plural } = resource
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const found = resource.versions.inVersion?.(version) ?? registry.find({ group, version, plural })
  return found !== undefined && apiVersionOf(found) === apiVersion ? found : undefined
}

const convertingBy =
  (webhook: ConversionWebhook): NonNullable<VersionAccess['convertTo']> =>
  (objects, { from, to }) =>
    webhook.convert(objects, apiVersionOf(to), from.shape.struct)

function decodeOrFail(stored: Buffer, resource: Resource, revision: Revision): KubeObject {
  try {
    return decodeStored(stored, resource.shape, revision)
  } catch (cause) {
    if (!(cause instanceof UnreadableError)) throw cause
    throw new StorageError('corrupt', cause.message, { cause, undecodableAt: revision })
  }
}
