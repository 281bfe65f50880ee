/**
 * One control plane: which resources it serves, where their objects are, who may do what with them. A process can hold any
 * number of them on one database, each below its own prefix; nothing in here is global.
 */
import { Admission } from './admission/admission.ts'
import type { MayDo } from './admission/certificates.ts'
import { createPlugins } from './admission/plugins.ts'
import { isEvents } from './api/events.ts'
import type { KubeObject } from './api/object.ts'
import type { Cache } from './cache/cache.ts'
import { Facts } from './cache/facts.ts'
import type { Form } from './cache/item.ts'
import type { ResourceSpec } from './cache/resource.ts'
import { decodeStored, printWire, UnreadableError } from './codec/object.ts'
import { PrintedCheck } from './codec/printed.ts'
import { settledWire } from './codec/settled.ts'
import { createBelongings, type Objects, type ServiceAllocation } from './allocators/create-belongings.ts'
import type { Handle as OwnHandle } from './api/own-request.ts'
import { Transcoder } from './codec/protobuf/transcode.ts'
import { YamlConverter } from './codec/yaml.ts'
import type { Config } from './config/config.ts'
import { PatternThread } from './cel/pattern-thread.ts'
import type { Documents } from './discovery/documents.ts'
import { type Accounts, createAccounts } from './accounts.ts'
import type { Definitions } from './controllers/definitions.ts'
import { createDefinitions } from './definitions.ts'
import { createAuthenticate } from './gate/authenticate.ts'
import { type Authorize, type Authorizer, authorizers, refusal } from './gate/authorize.ts'
import { createVerifyCertificate } from './gate/client-certificate.ts'
import { createGate } from './gate/gate.ts'
import { InFlight } from './gate/in-flight.ts'
import { createLookUpToken, type LookUpToken } from './gate/look-up-token.ts'
import type { RequestMetrics } from './gate/request-metrics.ts'
import { createHandle, type Handle, type Verbs } from './handle.ts'
import type { Clock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import { builtInResources } from './registry/built-in.ts'
import { Registry } from './registry/registry.ts'
import { apiVersionOf, type Resource, type ResourceRequest } from './registry/resource.ts'
import type { Key, Revision } from './storage/engine.ts'
import { StorageError } from './storage/errors.ts'
import { ResourceKeys, resourcePrefix, rootOf } from './storage/keys.ts'
import type { Store } from './storage/store.ts'
import type { Ids, ReadAccess, WatchAccess, WriteAccess } from './verbs/access.ts'
import { create } from './verbs/create.ts'
import { deleteOne } from './verbs/delete.ts'
import { deleteCollection } from './verbs/delete-collection.ts'
import { get } from './verbs/get.ts'
import { list } from './verbs/list.ts'
import { createOwnObjects } from './verbs/own-objects.ts'
import { patch } from './verbs/patch.ts'
import { createReviews } from './verbs/reviews/reviews.ts'
import { createNow } from './verbs/timestamps.ts'
import { ResourceForms } from './verbs/represent/forms.ts'
import { partOf } from './verbs/subresources/all.ts'
import type { PartAccess } from './verbs/subresources/part.ts'
import { convertedAccess } from './verbs/converting/converted-access.ts'
import { ConvertedItems } from './verbs/converting/converted-items.ts'
import { Converter } from './verbs/converting/converter.ts'
import { update } from './verbs/update.ts'
import { virtualReader } from './verbs/virtual.ts'
import { watch } from './verbs/watch.ts'
import type { GetService } from './webhooks/call.ts'
import { ConversionWebhook } from './webhooks/conversion.ts'

/** What comes from outside of the configuration, so that a test can replay it. */
export type Surroundings = {
  readonly clock: Clock
  readonly log: Log
  readonly ids: Ids
  /** From 0 to below 1. */
  readonly random: () => number
}

export type ControlPlaneParts = {
  readonly cache: Cache
  readonly store: Store
  readonly metrics: RequestMetrics
  /** Nothing is stored below this key any longer, and what was counted of it is gone. */
  readonly uncountKeys: (prefix: Key) => void
  /** The health of the parts of the cluster, as ComponentStatuses. */
  readonly readComponents: () => Promise<readonly KubeObject[]>
  /** The documents about the server, which need to know what it serves. */
  readonly createDocuments: (registry: Registry) => Documents
}

export type ControlPlane = AsyncDisposable & {
  readonly handle: Handle
  /** To be started before the first request is taken. */
  readonly definitions: Definitions | undefined
  readonly registry: Registry
  readonly allocation: ServiceAllocation
}

export function createControlPlane(config: Config, parts: ControlPlaneParts, surroundings: Surroundings): ControlPlane {
  const { clock, log, ids } = surroundings
  const { allowsPrivileged, etcd, services } = config
  const ipFamily = services.ranges[0]?.family ?? 'IPv4'
  const builtIn = builtInResources({ allowsPrivileged, storedAs: etcd.media, ipFamily })
  const registry = new Registry(builtIn.filter(config.runtime.isServed))
  const authorizer = authorizers[config.authorization]
  const { authorize } = authorizer
  const yaml = new YamlConverter()
  const patterns = new PatternThread()
  const ownHandle: OwnHandle = (request, user) => handle(request, user)
  const { accessOf, storedAccessOf, allocation, keysOf, partAccess, retire } = createAccess({
    config,
    parts,
    registry,
    authorize,
    yaml,
    patterns,
    surroundings,
    ownHandle,
  })
  const accounts = createAccounts(config, createOwnObjects(registry, accessOf), clock)
  const { authenticateAccount } = accounts ?? {}
  const audiences = config.serviceAccounts?.audiences ?? []
  const lookUpToken = createLookUpToken({ entries: config.tokens, audiences, authenticateAccount })
  const gate = createGate({
    authenticate: createAuthenticate({
      lookUpToken,
      verifyCertificate: config.clientCaPem === null ? undefined : createVerifyCertificate(clock.wallMs),
      allowsAnonymous: config.allowsAnonymous,
    }),
    authorize,
    registry,
    clock,
    requestTimeoutMs: config.requestTimeoutMs,
  })
  const handle = createHandle({
    gate,
    inFlight: new InFlight(config.inFlight),
    verbs: withParts(
      createVerbs({
        accessOf,
        readAccessOf: withComponents(accessOf, parts),
        createVerb: createCreateVerb(accounts, lookUpToken, authorizer),
      }),
      partAccess,
    ),
    documents: parts.createDocuments(registry),
    metrics: parts.metrics,
    clock,
    log,
    logsRequests: config.logging.isVerbose,
    newAuditId: ids.uid,
    constantHeaders:
      config.strictTransportSecurity === null ? {} : { 'strict-transport-security': config.strictTransportSecurity },
  })
  const uncount = (resource: Resource): void => {
    parts.metrics.forget(resource)
    if (registry.inGroup(resource.group).length === 0) parts.uncountKeys(keysOf(resource).prefix)
  }
  const definitions = createDefinitions({
    registry,
    accessOf,
    storedAccessOf,
    keysOf,
    retire,
    uncount,
    handle: ownHandle,
    log,
  })
  const dispose = async (): Promise<void> => {
    await Promise.all([yaml[Symbol.asyncDispose](), patterns[Symbol.asyncDispose]()])
  }
  return { handle, registry, allocation, definitions, [Symbol.asyncDispose]: dispose }
}

type ReadAccessOf = (resource: Resource) => ReadAccess

/** Component statuses are made when they are asked for; everything else is stored. */
function withComponents(accessOf: ReadAccessOf, { cache, readComponents: read }: ControlPlaneParts): ReadAccessOf {
  return (resource) => {
    const access = accessOf(resource)
    if (resource.group !== '' || resource.kind !== 'ComponentStatus') return access
    return { ...access, reader: virtualReader({ resource, keys: access.keys, read, cache }) }
  }
}

type VerbParts = {
  readonly accessOf: (resource: Resource) => Access
  readonly readAccessOf: ReadAccessOf
  readonly createVerb: CreateVerb
}

function createVerbs({ accessOf, readAccessOf, createVerb }: VerbParts): Verbs {
  return {
    get: (request) => get(request, readAccessOf(request.resource)),
    list: (request) => list(request, readAccessOf(request.resource)),
    watch: (request) => watch(request, accessOf(request.resource)),
    create: (request) => createVerb(request)(request, accessOf(request.resource)),
    update: (request) => update(request, accessOf(request.resource)),
    patch: (request) => patch(request, accessOf(request.resource)),
    delete: (request) => deleteOne(request, accessOf(request.resource)),
    deletecollection: (request) => deleteCollection(request, accessOf(request.resource)),
  }
}

const partVerbs = ['get', 'create', 'update', 'patch', 'delete'] as const

/** What can be done to objects besides has no verb of its own: any of them may lead to it. */
function withParts(verbs: Verbs, partAccess: () => PartAccess | undefined): Verbs {
  const wrap =
    (verb: Verbs['get']): Verbs['get'] =>
    (request) => {
      const part = request.subresource === '' && request.resource.isStored ? undefined : partOf(request)
      const access = part === undefined ? undefined : partAccess()
      return part === undefined || access === undefined ? verb(request) : part(request, access)
    }
  const wrapped = partVerbs.map((verb) => [verb, wrap(verbs[verb])] as const)
  return { ...verbs, ...Object.fromEntries(wrapped) }
}

type CreateVerb = (request: ResourceRequest) => typeof create

/** What is created without being stored has an answer of its own. */
function createCreateVerb(
  accounts: Accounts | undefined,
  lookUpToken: LookUpToken,
  { authorize, rightsOf }: Authorizer,
): CreateVerb {
  const reviews = createReviews({
    askAboutToken: async (token, audiences) => lookUpToken(token, audiences),
    askAboutAccess: async (user, attributes) => authorize(user, attributes),
    askAboutRights: async (user) => rightsOf(user),
  })
  return ({ resource, subresource }) => {
    if (subresource === 'token') return accounts?.requestToken ?? create
    return (resource.isStored ? undefined : reviews.get(resource.kind)) ?? create
  }
}

type Access = WriteAccess & WatchAccess

type AccessParts = {
  readonly config: Config
  readonly parts: ControlPlaneParts
  readonly registry: Registry
  readonly authorize: Authorize
  readonly yaml: YamlConverter
  readonly patterns: PatternThread
  readonly surroundings: Surroundings
  /** For requests of the server to itself. */
  readonly ownHandle: OwnHandle
}

/** Everything a verb needs of a resource, made when it is first asked for. */
function createAccess({ config, parts, registry, authorize, yaml, patterns, surroundings, ownHandle }: AccessParts): {
  readonly accessOf: (resource: Resource) => Access
  readonly storedAccessOf: (resource: Resource) => Access
  readonly keysOf: (resource: Resource) => ResourceKeys
  readonly allocation: ServiceAllocation
  readonly partAccess: () => PartAccess | undefined
  /** What is cached of a custom resource is of no use any longer. */
  readonly retire: (resource: Resource) => void
} {
  const { clock, ids, random, log } = surroundings
  const { cache, store } = parts
  const root = rootOf(config.etcd.prefix)
  const now = createNow(clock.wallMs)
  const transcoder = new Transcoder()
  const check = new PrintedCheck()
  const objects = createOwnObjects(registry, (resource) => accessOf(resource))
  const mayDo: MayDo = async (user, action) => {
    const { isAllowed } = await authorize(user, { kind: 'resource', subresource: '', namespace: '', ...action })
    return isAllowed
  }
  const plugins = createPlugins({ objects, clock, nameSuffix: ids.nameSuffix, mayDo })
  const admission = new Admission(plugins.filter(({ name }) => config.admission.isOn(name)))
  const authorizeCreate: WriteAccess['authorizeCreate'] = async ({ user, context }) => {
    const { info } = context
    if (info.kind !== 'resource') return
    const attributes = { ...info, verb: 'create' }
    const { isAllowed, reason } = await authorize(user, attributes)
    if (!isAllowed) throw refusal(user, attributes, reason)
  }
  const keysOf = (resource: Resource): ResourceKeys =>
    new ResourceKeys(root, resourcePrefix(resource), resource.isNamespaced)
  const make = (resource: Resource): Access => {
    const keys = keysOf(resource)
    const decode = (stored: Buffer, _key: Key, revision: Revision): KubeObject =>
      decodeOrFail(stored, resource, revision)
    const kind = { kind: resource.kind, apiVersion: apiVersionOf(resource), schema: resource.shape }
    const spec: ResourceSpec = {
      name: resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`,
      prefix: keys.prefix,
      version: apiVersionOf(resource),
      decode,
      print: (object) => printWire(object, resource.shape),
      settle: (stored, revision) => settledWire(stored, kind, { check, revision }),
      facts: new Facts(() => resource.selectableFields),
    }
    const reader = retired.has(resource) ? cache.retired(spec) : cache.resource(spec)
    return {
      keys,
      reader,
      forms: new ResourceForms(resource, { made: cache.made, transcoder, nowMs: clock.wallMs }),
      store,
      decode: ({ value, key, revision }) => decode(value, key, revision),
      ids,
      now,
      random,
      admission,
      authorizeCreate,
      belongings: resource.group === '' && resource.kind === 'Service' ? allocation.belongings : undefined,
      convertYaml: (bytes) => yaml.convert(bytes),
      answerPattern: (question) => patterns.answer(question),
      inVersion: (apiVersion) => inVersion(registry, resource, apiVersion),
      ttlSeconds: isEvents(resource) ? config.eventTtlSeconds : undefined,
      allowsWatchList: config.featureGates.isOn('WatchList'),
      watchMsMin: config.watchMsMin,
      onFrames: lazily(() => parts.metrics.countEvents(resource)),
    }
  }
  const objectsOf = (group: string, plural: string): Objects => {
    const resource = registry.find({ group, version: 'v1', plural })
    if (resource === undefined) return { get: async () => undefined, list: async () => [] }
    return {
      get: async (name, at) => {
        const { keys, reader } = accessOf(resource)
        return (await reader.get(keys.key('', name), at)).item?.object()
      },
      list: async (at) => {
        const { keys, reader } = accessOf(resource)
        return (await reader.list(keys.range(), at)).items.map((item) => item.object())
      },
    }
  }
  /** Objects in whatever versions they were stored in: where all are in that of the resource, the same as it has itself. */
  const storedAccessOf = (resource: Resource): Access =>
    resource.conversionWebhook === undefined ? accessOf(resource) : make(resource)
  // Weakly: custom resources come and go.
  const made = new WeakMap<Resource, Access>()
  /** By prefix: all versions of a definition go together. */
  const converters = new Map<Key, Converter[]>()
  const getService: GetService = (namespace, name) => objects.get(servicesId, { namespace, name }, 'any')
  const convertedItems = new ConvertedItems((item) => cache.release(item))
  const retired = new WeakSet<Resource>()
  /** What a definition said before it changed. A request may have it still, and must not bring it back into the cache. */
  const retire = (resource: Resource): void => {
    const { prefix } = keysOf(resource)
    retired.add(resource)
    for (const converter of converters.get(prefix) ?? []) converter.close()
    converters.delete(prefix)
    cache.remove(prefix)
  }
  const accessOf = (resource: Resource): Access => {
    const known = made.get(resource)
    if (known !== undefined) return known
    const { conversionWebhook, converted } = resource
    const webhook = conversionWebhook && new ConversionWebhook(conversionWebhook, ids.uid, getService)
    const access = webhook === undefined ? make(resource) : { ...make(resource), convertTo: convertingBy(webhook) }
    made.set(resource, access)
    const stored = converted?.()
    if (webhook === undefined || stored === undefined) return access
    const asStored = { resource: stored, access: storedAccessOf(stored) }
    const form: Form = {
      decode: (value, key, revision) => access.decode({ value, key, revision, createRevision: 0, stale: false }),
      print: (object) => printWire(object, resource.shape),
      facts: new Facts(() => resource.selectableFields),
    }
    const converter = new Converter(resource, { webhook, kept: convertedItems, home: cache.homeOf(form) })
    const { prefix } = access.keys
    if (retired.has(resource)) converter.close()
    else converters.set(prefix, [...(converters.get(prefix) ?? []), converter])
    const whole = convertedAccess(access, asStored, converter)
    made.set(resource, whole)
    return whole
  }
  const allocation = createBelongings({
    handle: ownHandle,
    store,
    root,
    addresses: objectsOf('networking.k8s.io', 'ipaddresses'),
    ranges: objectsOf('networking.k8s.io', 'servicecidrs'),
    services: objectsOf('', 'services'),
    cidrs: config.services.ranges,
    keepsIpRecords: config.services.keepsIpRecords,
    nodePorts: config.services.nodePorts,
    random,
    life: () => cache.databaseLife,
    wallMs: clock.wallMs,
    log,
  })
  const pods = registry.find({ group: '', version: 'v1', plural: 'pods' })
  const partAccess = (): PartAccess | undefined =>
    pods === undefined
      ? undefined
      : { pods: { resource: pods, access: accessOf(pods) }, objects, kubelet: config.kubelet, random }
  return { accessOf, storedAccessOf, keysOf, allocation, partAccess, retire }
}

const servicesId = { group: '', version: 'v1', plural: 'services' } as const

/** Most resources are never watched, and what is counted is kept for good. */
function lazily<T>(make: () => (value: T) => void): (value: T) => void {
  let made: ((value: T) => void) | undefined
  return (value) => {
    made ??= make()
    made(value)
  }
}

function inVersion(registry: Registry, resource: Resource, apiVersion: string): Resource | undefined {
  const { group, plural } = resource
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const found = resource.inVersion?.(version) ?? registry.find({ group, version, plural })
  return found !== undefined && apiVersionOf(found) === apiVersion ? found : undefined
}

const convertingBy =
  (webhook: ConversionWebhook): NonNullable<WriteAccess['convertTo']> =>
  (objects, { from, to }) =>
    webhook.convert(objects, apiVersionOf(to), from.shape.struct)

function decodeOrFail(stored: Buffer, resource: Resource, revision: Revision): KubeObject {
  try {
    return decodeStored(stored, resource.shape, revision)
  } catch (cause) {
    if (!(cause instanceof UnreadableError)) throw cause
    throw new StorageError('corrupt', cause.message, { cause })
  }
}
