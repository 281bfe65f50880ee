/**
 * Field managers for server-side apply: the owners of an object's fields, and the manager of the
 * current write. If the request is for a subresource, the field paths are those in the subresource.
 */
import { fieldSetOf } from '../../objects/apply/field-paths.ts'
import type { FieldSet } from '../../objects/apply/field-set.ts'
import { type Owners, printOwners, readOwners, type Writer } from '../../objects/apply/managers.ts'
import { ownersInObject, ownersInView } from '../../objects/apply/view-owners.ts'
import { storedWire } from '../../objects/apply/wire.ts'
import type { Fields, Json, KubeObject } from '../../api/object.ts'
import { managerOfAgent } from '../../api/manager-name.ts'
import { firstHeader } from '../../api/request.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { once } from '../../lib/scheduling/parts.ts'
import type { Struct } from '../../objects/schema/schema.ts'
import type { WriteOptions } from './write-options.ts'

export function hasOtherVersion(owners: Owners, apiVersion: string): boolean {
  for (const owner of owners.values()) if (owner.apiVersion !== apiVersion) return true
  return false
}

export type Tracking = {
  /** The owners, with field paths as in the resource or subresource of the request. */
  readonly owners: Owners
  /** Returns the managedFields to store if the fields have these owners. */
  readonly finish: (owners: Owners) => Json | undefined
}

/**
 * Returns the owners of a stored object, with field paths as in the resource or subresource of the
 * request.
 */
export function trackingOf(request: ResourceRequest, stored: KubeObject | undefined): Tracking {
  const owners = readOwners(stored?.metadata['managedFields']) ?? new Map()
  const view = request.view
  if (view === undefined) return { owners, finish: printOwners }
  const { ownedPath, objectPath } = view
  const inView = fieldSetOf([ownedPath])
  const inObject = (apiVersion: string): FieldSet | undefined => {
    const path = objectPath === undefined ? ownedPath : objectPath(apiVersion)
    return path === undefined ? undefined : fieldSetOf([path])
  }
  const versions = {
    objectVersion: apiVersionOf(request.resource),
    viewVersion: apiVersionOf(view),
  }
  const field = { inObject, inView, ...versions }
  return {
    owners: ownersInView(owners, field),
    finish: (after) => printOwners(ownersInObject(owners, after, field)),
  }
}

/**
 * Returns the manager of the current write. If the query has no fieldManager, its name is derived
 * from the User-Agent.
 */
export function writerOf(request: ResourceRequest, { fieldManager }: WriteOptions): Writer {
  const { resource, subresource, http } = request
  const manager =
    fieldManager === ''
      ? managerOfAgent(firstHeader(http.headers, 'user-agent') ?? '')
      : fieldManager
  return {
    manager,
    operation: 'Update',
    apiVersion: apiVersionOf(request.view ?? resource),
    subresource,
  }
}

/**
 * Fields that a write does not own. The result is cached, because it depends only on the resource
 * and the subresource.
 */
const ignored = new WeakMap<Resource, Map<string, FieldSet>>()

export function ignoredAt({
  resource,
  subresource,
}: Pick<ResourceRequest, 'resource' | 'subresource'>): FieldSet {
  const known = ignored.get(resource) ?? new Map<string, FieldSet>()
  ignored.set(resource, known)
  const found = known.get(subresource) ?? fieldSetOf(resource.rules.resetPaths(subresource))
  known.set(subresource, found)
  return found
}

const emptyWires = new WeakMap<Struct, Fields>()

/**
 * Returns the fields of an object that does not exist, in the form that clients receive. These are
 * the zero values that are always serialized.
 */
export function emptyWire(struct: Struct): Fields {
  const known = once('empty wire', () => emptyWires.get(struct) ?? storedWire(emptyObject, struct))
  emptyWires.set(struct, known)
  return known
}

export const emptyObject: KubeObject = { kind: '', apiVersion: '', metadata: {} }
