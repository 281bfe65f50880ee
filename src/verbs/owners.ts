/**
 * Who owns which fields after a write: what verbs know of a request, told to apply/. Owners are recorded before admission sees the
 * object: what that changes belongs to nobody.
 */
import { fieldSetOf } from '../apply/field-paths.ts'
import { Differences, type Versions } from '../apply/differences.ts'
import type { FieldSet } from '../apply/field-set.ts'
import { type Owners, printOwners, readOwners, type Writer } from '../apply/managers.ts'
import { mergeTypeOf } from '../apply/merge-type.ts'
import { recordUpdate } from '../apply/record.ts'
import { wireOf } from '../apply/wire.ts'
import { type Fields, isFields, type Json, type KubeObject } from '../api/object.ts'
import { firstHeader } from '../api/request.ts'
import { apiVersionOf, type Resource, type ResourceRequest } from '../registry/resource.ts'
import type { WriteAccess } from './access.ts'
import type { WriteOptions } from './write-options.ts'

const MANAGER_BYTES_MAX = 128

export type Recording = { readonly options: WriteOptions; readonly access: WriteAccess }

/** The list of a new object; undefined: none. What the client sent of it does not count. */
export function ownersAfterCreate(
  request: ResourceRequest,
  object: KubeObject,
  recording: Recording,
): Json | undefined {
  const { struct } = request.resource.shape
  const versions = { type: mergeTypeOf(struct), before: emptyWire(request.resource), after: wireOf(object, struct) }
  const differences = new Differences(() => versions, ignoredAt(request))
  const update = { writer: writerOf(request, recording.options), now: recording.access.now(), differences }
  return printOwners(recordUpdate(new Map(), update))
}

/** The list after an update or a patch. */
export function ownersAfterUpdate(
  request: ResourceRequest,
  { before, after }: { readonly before: KubeObject; readonly after: KubeObject },
  { options, access }: Recording,
): Json | undefined {
  const owners = ownersToBegin(request, before, after)
  // What was never tracked begins to be with the first apply.
  if (owners.size === 0) return undefined
  const differences = new Differences(versionsOf(request, access, { before, after }), ignoredAt(request))
  return printOwners(recordUpdate(owners, { writer: writerOf(request, options), now: access.now(), differences }))
}

/** An update may write the list itself, all of it or nothing; one that cannot be read does not count. */
function ownersToBegin({ subresource }: ResourceRequest, before: KubeObject, after: KubeObject): Owners {
  const live = before.metadata['managedFields']
  const given = after.metadata['managedFields']
  if (subresource !== '' || given === undefined || given === live) return readOwners(live) ?? new Map()
  if (isReset(given)) return new Map()
  const owners = readOwners(given)
  if (owners === undefined || owners.size === 0) return readOwners(live) ?? new Map()
  return new Map([...owners].map(([identity, owner]) => [identity, { ...owner, entry: undefined }]))
}

/** An empty list, or one empty entry. */
const isReset = (given: Json): boolean =>
  Array.isArray(given) &&
  (given.length === 0 || (given.length === 1 && isFields(given[0]) && Object.keys(given[0]).length === 0))

/** An object before and after a write, in the versions in which its owners know it. */
export function versionsOf(
  { resource }: ResourceRequest,
  { inVersion }: Pick<WriteAccess, 'inVersion'>,
  { before, after }: { readonly before: KubeObject; readonly after: KubeObject },
): (apiVersion: string) => Versions | undefined {
  return (apiVersion) => {
    const other = apiVersion === apiVersionOf(resource) ? resource : inVersion(apiVersion)
    if (other === undefined) return undefined
    const { struct } = other.shape
    const show = (object: KubeObject): Fields => wireOf(converted(object, resource, other), struct)
    return { type: mergeTypeOf(struct), before: show(before), after: show(after) }
  }
}

function converted(object: KubeObject, from: Resource, to: Resource): KubeObject {
  if (from === to) return object
  const stored = from.shape.stored?.toStored(object) ?? object
  return to.shape.stored?.fromStored(stored) ?? { ...stored, apiVersion: apiVersionOf(to) }
}

/** Without a name of its own a client is known by its program. */
export function writerOf({ resource, subresource, http }: ResourceRequest, { fieldManager }: WriteOptions): Writer {
  const manager = fieldManager === '' ? managerOfAgent(firstHeader(http.headers, 'user-agent') ?? '') : fieldManager
  return { manager, operation: 'Update', apiVersion: apiVersionOf(resource), subresource }
}

function managerOfAgent(agent: string): string {
  const end = agent.indexOf('/')
  const name = (end === -1 ? agent : agent.slice(0, end)).replace(unprintable, '')
  return cutBytes(name, MANAGER_BYTES_MAX) || 'unknown'
}

const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu

/** No character is cut in two. */
function cutBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text
  let cut = ''
  for (const character of text) {
    if (Buffer.byteLength(cut + character) > bytesMax) break
    cut += character
  }
  return cut
}

/** These depend on nothing but the resource. */
const ignored = new WeakMap<Resource, Map<string, FieldSet>>()

export function ignoredAt({ resource, subresource }: Pick<ResourceRequest, 'resource' | 'subresource'>): FieldSet {
  const known = ignored.get(resource) ?? new Map<string, FieldSet>()
  ignored.set(resource, known)
  const found = known.get(subresource) ?? fieldSetOf(resource.resetPaths(subresource))
  known.set(subresource, found)
  return found
}

const emptyWires = new WeakMap<Resource, Fields>()

/** What is there before an object is: the zero values that are always written. */
export function emptyWire(resource: Resource): Fields {
  const known = emptyWires.get(resource) ?? wireOf(emptyObject, resource.shape.struct)
  emptyWires.set(resource, known)
  return known
}

const emptyObject: KubeObject = { kind: '', apiVersion: '', metadata: {} }

export function withOwners(object: KubeObject, managedFields: Json | undefined): KubeObject {
  const { managedFields: given, ...metadata } = object.metadata
  if (given === managedFields) return object
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } }
}
