/**
 * The steps of a write, in kube-apiserver's order, for all verbs that write: record field owners, mutate (admission), system fields,
 * prepare, take belongings, validate (registry), validate (admission), store. The object has been decoded. An update runs all of them again when
 * somebody else was first.
 */
import type { Attributes } from '../admission/admission.ts'
import {
  ApiError,
  alreadyExists,
  conflict,
  invalid,
  modifiedMeanwhile,
  nameNotGenerated,
  unclassified,
} from '../api/errors.ts'
import { type KubeObject, type ObjectMeta, present } from '../api/object.ts'
import {
  encodeStored,
  hasEmptyMetadata,
  markOutdated,
  printWire,
  wireOfStored,
  withoutEmptyMetadata,
} from '../codec/object.ts'
import { assert } from '../lib/assert.ts'
import { validateCreate, validateUpdate } from '../registry/validate.ts'
import {
  type Resource,
  type ResourceRequest,
  shownAt,
  type UpdateRules,
  type ValidateTools,
  viewOf,
} from '../registry/resource.ts'
import { isSame } from '../schema/equal.ts'
import type { ObjectSchema } from '../schema/object-schema.ts'
import type { Key, Revision } from '../storage/engine.ts'
import { isCode } from '../storage/errors.ts'
import type { Current } from '../storage/store.ts'
import type { Ids, WriteAccess } from './access.ts'
import { commit } from './commit.ts'
import { type Decided, decidePut } from './decide-put.ts'
import { isMarked, isReleased } from './deletion.ts'
import { holding, type Take } from './holding.ts'
import type { Taking } from '../registry/belongings.ts'
import { owned, ownersAfterCreate, ownersAfterUpdate, type Owning, unlessTooLarge, withOwners } from './owners.ts'
import { uintFault } from './options.ts'
import { withoutDuplicateOwners } from './owner-references.ts'
import type { Written } from './represent/representation.ts'
import { cancelled, translated } from './storage-errors.ts'
import { unsupportedPart } from './unsupported.ts'
import type { WriteOptions } from './write-options.ts'

/** Names generated until one is free, as upstream. */
const NAME_TRIES = 8
/** With its random end a generated name fits where a label's value must fit. */
const NAME_PREFIX_CHARACTERS_MAX = 58

/** Stores a new object; returns it in the shape of the path, with its JSON where that was printed for the cache. */
export async function createObject(
  request: ResourceRequest,
  given: KubeObject,
  { options, access }: { readonly options: WriteOptions; readonly access: WriteAccess },
): Promise<Written> {
  const { resource, context } = request
  const { generateName = '', name = '' } = given.metadata
  const metadata = without(given.metadata, deletionFields)
  const living = metadata === given.metadata ? given : { ...given, metadata }
  const object = withOwners(living, ownersAfterCreate(request, living, { options, access }))
  const admitted = await translated(context, { resource, name, verb: 'create' }, () =>
    mutated(request, { operation: 'CREATE', object, oldObject: undefined, options, access }),
  )
  const isGenerated = name === '' && generateName !== ''
  for (let tries = 1; ; tries++) {
    const created = newObject(request, admitted, access)
    const objectName = created.metadata.name ?? ''
    try {
      return await holding(access.belongings, (take) => createOnce(request, created, { options, access, take }))
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists' || generateName === '') throw error
      if (!isGenerated || tries === NAME_TRIES) throw nameNotGenerated(resource, objectName)
    }
  }
}

/** What the server sets itself, whatever the client sent. */
function newObject(
  { resource, user, context }: ResourceRequest,
  given: KubeObject,
  { ids, now }: WriteAccess,
): KubeObject {
  const { generateName = '', name = '' } = given.metadata
  const metadata: ObjectMeta = {
    ...without(given.metadata, serverFields),
    name: name === '' && generateName !== '' ? generatedName(generateName, resource, ids) : name,
    uid: ids.uid(),
    creationTimestamp: now(),
  }
  return resource.prepareCreate(
    { ...given, metadata },
    { user, now, newId: ids.uid, warn: (text) => context.warn(text) },
  )
}

const generatedName = (prefix: string, { isNamedWhole }: Resource, ids: Ids): string =>
  isNamedWhole === true ? prefix : `${prefix.slice(0, NAME_PREFIX_CHARACTERS_MAX)}${ids.nameSuffix()}`

/** What a write needs besides the object. */
export type Writing = Owning & { readonly options: WriteOptions; readonly access: WriteAccess }

type Holding = Writing & { readonly take: Take }

async function createOnce(request: ResourceRequest, given: KubeObject, writing: Holding): Promise<Written> {
  const { resource, namespace, context } = request
  const { options, access } = writing
  const { name = '', resourceVersion = '' } = given.metadata
  return translated(context, { resource, name, verb: 'create' }, async () => {
    const object = await checkedNew(request, given, writing)
    const key = access.keys.key(namespace, name)
    if (options.isDryRun) {
      const { item } = await access.reader.get(key, 'latest')
      if (item !== undefined) throw alreadyExists(resource, name, { isTerminating: isMarked(item.object()) })
      return { object: asStored(object, resource.shape).object, json: undefined }
    }
    if (uintFault(resourceVersion) === undefined && BigInt(resourceVersion) > 0n) {
      throw unclassified('resourceVersion should not be set on objects to be created')
    }
    try {
      return await unlessTooLarge(writing, async ({ owners }) => {
        const made = owners === 'dropped' ? withOwners(object, undefined) : object
        const value = encodeStored(made, resource.shape)
        const { ttlSeconds } = access
        const revision = await access.store.create(key, value, { ttlSeconds, signal: context.signal })
        return written(made, key, revision, { resource, access, stored: value })
      })
    } catch (error) {
      throw isCode(error, 'exists') ? await existing(resource, name, key, access) : error
    }
  })
}

/**
 * With what it takes to begin with, after all that a new object must pass, whichever verb makes it. Whether the user may create it is asked,
 * where the verb does not say so, before any plugin sees the object: one that counts would charge a quota for it.
 */
async function checkedNew(
  request: ResourceRequest,
  given: KubeObject,
  writing: Holding,
  authorize?: WriteAccess['authorizeCreate'],
): Promise<KubeObject> {
  const { options, access, take } = writing
  const { resource, namespace, context } = request
  const object = await take({ object: given, before: undefined, namespace, isDryRun: options.isDryRun })
  const found = await resource.validateInSlices?.(object, undefined, toolsOf(request, access))
  refuseInvalid(resource, object, validateCreate(object, resource, found))
  for (const warning of resource.warnings(object, undefined)) context.warn(warning)
  await authorize?.(request)
  const name = object.metadata.name ?? ''
  const attributes = { operation: 'CREATE', object, oldObject: undefined } as const
  await access.admission.validate({ ...about(request, options), ...attributes, name })
  return object
}

/** An object that is going away still has the name, and the client is told so. */
async function existing(resource: Resource, name: string, key: Key, { reader }: WriteAccess): Promise<ApiError> {
  const { item } = await reader.get(key, 'latest')
  return alreadyExists(resource, name, { isTerminating: item !== undefined && isMarked(item.object()) })
}

export type Updated = Written & { readonly isNew: boolean }

/**
 * What update, patch and apply differ in: how they make the object to write from the one that is there, both in the shape of the
 * path (undefined: none is there; what is returned then is created). `stored` is the latter as it is stored. Runs again when somebody
 * else was first, and may fail with any ApiError.
 */
export type Change = (
  current: KubeObject | undefined,
  stored: KubeObject | undefined,
) => KubeObject | Promise<KubeObject>

/** Changes an object, or a part of it that has a path of its own. */
export async function updateObject(request: ResourceRequest, change: Change, writing: Writing): Promise<Updated> {
  const { resource, namespace, name, context } = request
  const { options, access } = writing
  const key = access.keys.key(namespace, name)
  const run = async (take: Take, tracked: Writing): Promise<Updated> => {
    let made: Decided | undefined
    const result = await commit(request, { key, access, isDryRun: options.isDryRun }, async (current) => {
      const given = await change(current && shownAt(request, current.object), current?.object)
      const update = { request, given, writing: { ...tracked, take } }
      made = current === undefined ? await decideNew(update) : await decideReplace(update, current)
      return made.decision
    })
    assert(made !== undefined, 'a write was decided')
    const { decision } = made
    const object = options.isDryRun ? asStored(made.object, resource.shape).object : made.object
    if (result.outcome === 'deleted' && !options.isDryRun) await access.belongings?.release(object, namespace)
    const isNew = result.previous === undefined
    if (options.isDryRun && isNew) return { isNew, object: shownAt(request, object), json: undefined }
    // A write that lets go of the last finalizer removes the object; its answer has the version from before.
    const revision = result.outcome === 'deleted' ? (result.previous?.revision ?? result.revision) : result.revision
    const isStored = result.outcome === 'put' && !options.isDryRun
    const bytes = typeof decision === 'object' ? { stored: decision.put } : {}
    const stored = isStored ? written(object, key, revision, { resource, access, ...bytes }) : undefined
    if (stored !== undefined && viewOf(request) === undefined) return { isNew, ...stored }
    const json = viewOf(request) === undefined ? result.unchanged?.wire() : undefined
    return { isNew, object: shownAt(request, withVersion(object, revision)), json }
  }
  return translated(context, { resource, name, verb: 'update' }, () =>
    unlessTooLarge(writing, (tracked) => holding(access.belongings, (take) => run(take, tracked))),
  )
}

type Update = {
  readonly request: ResourceRequest
  readonly given: KubeObject
  readonly writing: Holding
}

/** Whether an update of what is not there creates it. Upstream does so through /status, too, where the kind has one. */
export const mayCreateAt = ({ resource, subresource }: ResourceRequest): boolean =>
  resource.createsOnUpdate && (subresource === '' || subresource === 'status')

/** An update, patch or apply that creates the object. */
async function decideNew({ request, given, writing }: Update): Promise<Decided> {
  const { options, access } = writing
  const tracked = await owned(given, writing, () => ownersAfterCreate(request, given, writing))
  const attributes = { operation: 'CREATE', object: tracked, oldObject: undefined, options, access } as const
  const admitted = await mutated(request, attributes)
  const fault = versionFault(admitted)
  if (fault !== undefined) throw unclassified(fault)
  // Through /status nothing is allocated.
  const holder =
    request.subresource === '' ? writing : { ...writing, take: ({ object }: Taking) => Promise.resolve(object) }
  const object = await checkedNew(request, newObject(request, admitted, access), holder, access.authorizeCreate)
  const { resourceVersion: _, ...metadata } = object.metadata
  const created = { ...object, metadata }
  return { object: created, decision: { put: encodeStored(created, request.resource.shape) } }
}

async function decideReplace(
  { request, given, writing }: Update,
  { object: before, revision }: Current<KubeObject>,
): Promise<Decided> {
  const { resource, context } = request
  const { options, access } = writing
  const view = viewOf(request)
  const oldObject = shownAt(request, before)
  const tracked = await owned(given, writing, () =>
    ownersAfterUpdate(request, { stored: before, after: given }, writing),
  )
  const mutatedObject = await mutated(request, { operation: 'UPDATE', object: tracked, oldObject, options, access })
  const shown = withoutDuplicateOwners(mutatedObject, context, { isMutated: true })
  if (view !== undefined) {
    refuseInvalid(view, shown, view.validate(shown))
    checkShownUid(request, shown, before)
  }
  const admitted = view === undefined ? shown : view.change(before, shown)
  checkVersion(request, admitted, { revision, isView: view !== undefined })
  const rules = view === undefined ? rulesOf(request) : resource
  const metadata = present({ ...admitted.metadata, generation: before.metadata.generation })
  const { now, ids } = access
  const writer = { user: request.user, now, newId: ids.uid, warn: (text: string) => context.warn(text) }
  const prepared = keepSystemFields(rules.prepareUpdate({ ...admitted, metadata }, before, writer), before)
  const complete = withOwners(prepared, shown.metadata['managedFields'])
  const taking = { object: complete, before, namespace: request.namespace, isDryRun: options.isDryRun }
  const object = rules === resource ? await writing.take(taking) : complete
  const found = (await rules.validateInSlices?.(object, before, toolsOf(request, access))) ?? []
  refuseInvalid(resource, object, validateUpdate(object, before, { resource, rules, found }))
  for (const warning of rules.warnings?.(object, before) ?? []) context.warn(warning)
  const checked = { object: shownAt(request, object), oldObject }
  await access.admission.validate({ ...about(request, options), operation: 'UPDATE', ...checked })
  if (isReleased(object, before, resource)) return { object, decision: 'delete' }
  return decidePut(object, before, resource.shape)
}

/** Nobody waits for what a request that was given up would find out. */
const toolsOf = ({ context }: ResourceRequest, { answerPattern }: WriteAccess): ValidateTools => ({
  answer: answerPattern,
  refuse: () => {
    if (context.signal.aborted) throw cancelled(context)
  },
})

/** A view that names an object means that one. */
function checkShownUid({ resource, subresource, name }: ResourceRequest, shown: KubeObject, before: KubeObject): void {
  const { uid = '' } = shown.metadata
  const { uid: found = '' } = before.metadata
  if (uid === '' || uid === found) return
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`
  throw conflict({ group: resource.group, plural: `${resource.plural}/${subresource}` }, name, why)
}

/** What may be changed through this path. */
function rulesOf(request: ResourceRequest): UpdateRules {
  const { resource, subresource } = request
  if (subresource === '') return resource
  const rules = Object.hasOwn(resource.subresourceRules, subresource)
    ? resource.subresourceRules[subresource]
    : undefined
  if (rules === undefined) throw unsupportedPart(request)
  return rules
}

type Mutating = Writing & Pick<Attributes, 'operation' | 'oldObject'> & { readonly object: KubeObject }

async function mutated(
  request: ResourceRequest,
  { operation, object, oldObject, options, access }: Mutating,
): Promise<KubeObject> {
  const name = request.name === '' ? (object.metadata.name ?? '') : request.name
  const attributes = { ...about(request, options), name, operation, object, oldObject }
  return (await access.admission.mutate(attributes)) ?? object
}

type About = Pick<Attributes, 'resource' | 'subresource' | 'namespace' | 'name' | 'isDryRun' | 'context'>

function about(request: ResourceRequest, { isDryRun }: WriteOptions): About {
  const { resource, subresource, namespace, name, context } = request
  return { resource, subresource, namespace, name, isDryRun, context }
}

function versionFault({ metadata: { resourceVersion = '' } }: KubeObject): string | undefined {
  return resourceVersion === '' ? undefined : uintFault(resourceVersion)
}

/** Through another shape nobody needs to know the version. */
function checkVersion(
  { resource, name }: ResourceRequest,
  given: KubeObject,
  { revision, isView }: { readonly revision: Revision; readonly isView: boolean },
): void {
  const { resourceVersion = '' } = given.metadata
  const fault = versionFault(given)
  if (fault !== undefined) throw unclassified(fault)
  if (resourceVersion === '' || BigInt(resourceVersion) === 0n) {
    if (resource.allowsUnconditionalUpdate || isView) return
    const message = 'Invalid value: 0x0: must be specified for an update'
    const faults = [{ path: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message }] as const
    throw invalid({ group: resource.group, kind: resource.plural }, name, faults)
  }
  if (BigInt(resourceVersion) !== BigInt(revision)) throw conflict(resource, name, modifiedMeanwhile)
}

/** What an update cannot change, it keeps; a mark of deletion on a living object is left for validation to refuse. */
function keepSystemFields(object: KubeObject, before: KubeObject): KubeObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = before.metadata
  const own = without(object.metadata, serverFields)
  // What stands before the object's own is filled in where it is absent; a change of it is refused.
  const metadata = isMarked(before)
    ? { uid, deletionGracePeriodSeconds, ...own, creationTimestamp, deletionTimestamp }
    : { uid, ...own, creationTimestamp }
  return { ...object, metadata: present(metadata) }
}

/** What a client sends of these is passed over. */
const serverFields = ['selfLink'] as const
const deletionFields = ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const

/** The same where there is none of them, as there mostly is not. */
function without(metadata: ObjectMeta, names: readonly string[]): ObjectMeta {
  return names.some((name) => name in metadata)
    ? Object.fromEntries(Object.entries(metadata).filter(([name]) => !names.includes(name)))
    : metadata
}

function refuseInvalid(
  { faultGroup, group, kind }: { readonly faultGroup?: string; readonly group: string; readonly kind: string },
  { metadata }: KubeObject,
  faults: Parameters<typeof invalid>[2],
): void {
  if (faults.length === 0) return
  throw invalid({ group: faultGroup ?? group, kind }, metadata.name ?? '', faults)
}

/** The object as it is now, for the answer and for the cache, which then need not read it from the database. */
export function written(
  object: KubeObject,
  key: Key,
  revision: Revision,
  { resource, access, stored }: { readonly resource: Resource; readonly access: WriteAccess; readonly stored?: Buffer },
): Written {
  const { object: form, isOther } = asStored(object, resource.shape)
  const current = withVersion(form, revision)
  if (isOther) markOutdated(current)
  const made = stored === undefined || form !== object ? undefined : wireOfStored(stored, current, resource.shape)
  const wire = made ?? printWire(current, resource.shape)
  access.reader.expect(key, revision, current, wire)
  return { object: current, json: wire.bytes }
}

type Stored = {
  readonly object: KubeObject
  /** Whether it is stored otherwise than it would be, were it read and written again. */
  readonly isOther: boolean
}

/** Of a custom kind: what the stored version does not know is lost, and what was dropped has its defaults again. */
function asStored(object: KubeObject, { custom, stored, setDefaults, isDefaultedAgain }: ObjectSchema): Stored {
  if (custom === undefined) {
    if (isDefaultedAgain !== true) return { object, isOther: false }
    const whole = setDefaults(object)
    return { object: whole, isOther: !isSame(whole, object) }
  }
  const kept = stored?.toStored(withoutEmptyMetadata(object)) ?? object
  const whole = stored?.fromStored(kept) ?? setDefaults(object)
  const isOther = hasEmptyMetadata(kept) || (stored === undefined ? whole !== object : !custom.isCurrent(kept))
  return { object: withoutEmptyMetadata(whole), isOther }
}

export function withVersion(object: KubeObject, revision: Revision): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: `${revision}` } }
}
