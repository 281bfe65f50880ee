/**
 * Converts objects to the versions of their field managers. Built-in kinds are converted as for a
 * client. Custom objects are not pruned. Their conversion fails if they do not match the schema of
 * the version.
 */
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { Versions } from '../../objects/apply/differences.ts'
import type { Owners } from '../../objects/apply/managers.ts'
import type { StructMerge } from '../../objects/apply/merge-type.ts'
import { mergeTypeOfObjects } from '../../objects/apply/object-merge-type.ts'
import { formatFaults, validateApplied } from '../../objects/apply/validate.ts'
import {
  changedWires,
  convertedWire,
  givenWire,
  storedWire,
  type WirePair,
} from '../../objects/apply/wire.ts'
import { ApiError } from '../../api/errors.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import type { ResourceRequest } from '../resource-request.ts'
import type { ObjectSchema } from '../../objects/schema/object-schema.ts'
import type { VersionAccess } from './access.ts'

/**
 * Thrown if an object cannot be converted to the version of one of its managers. The message is
 * that of kube-apiserver.
 */
export class UnknownVersionError extends Error {
  override readonly name = 'UnknownVersionError'
}

/** An object before and after a write. Both states are created on demand. */
type Change = { readonly before: () => KubeObject; readonly after: () => KubeObject }

/** Results of a conversion webhook by apiVersion: the object before and after the write. */
type ConvertedVersions = ReadonlyMap<
  string,
  { readonly before: KubeObject; readonly after: KubeObject }
>

const nobody: ConvertedVersions = new Map()

/** Calls the webhook to convert the object to every version that its managers use. */
export function askWebhook(
  request: ResourceRequest,
  { inVersion, convertTo }: VersionAccess,
  asking: { readonly owners: Owners; readonly objects: Change },
): MaybePromise<ConvertedVersions> {
  if (convertTo === undefined || request.view !== undefined) return nobody
  return convertForOwners(request.resource, { inVersion, convertTo }, asking)
}

async function convertForOwners(
  resource: Resource,
  { inVersion, convertTo }: Required<VersionAccess>,
  { owners, objects }: { readonly owners: Owners; readonly objects: Change },
): Promise<ConvertedVersions> {
  const asked = new Map<string, { readonly before: KubeObject; readonly after: KubeObject }>()
  for (const { apiVersion } of owners.values()) {
    const to =
      apiVersion === apiVersionOf(resource) || asked.has(apiVersion)
        ? undefined
        : inVersion(apiVersion)
    if (to === undefined) continue
    const versions = { from: resource, to }
    const [before] = await orUnknown('', () => convertTo([objects.before()], versions))
    const [after] = await orUnknown(ofNewObject, () => convertTo([objects.after()], versions))
    if (before !== undefined && after !== undefined) asked.set(apiVersion, { before, after })
  }
  return asked
}

const ofNewObject = 'failed to convert new object: '

async function orUnknown<T>(what: string, convert: () => Promise<T>): Promise<T> {
  try {
    return await convert()
  } catch (error) {
    throw error instanceof ApiError
      ? new UnknownVersionError(what + error.message, { cause: error })
      : error
  }
}

type VersionsOptions = Change & {
  readonly asked: ConvertedVersions
  readonly wires?: Wires
  /**
   * Whether fields that did not change may be left out of the result. Only fields that are easy to
   * compare are left out.
   */
  readonly isChangeOnly?: boolean
}

/**
 * Returns a function that converts the object to a manager's version, both before and after a
 * write. The function returns undefined if the kind does not have that version.
 */
export function versionsOf(
  request: ResourceRequest,
  { inVersion }: Pick<VersionAccess, 'inVersion'>,
  { before, after, asked, wires, isChangeOnly = false }: VersionsOptions,
): (apiVersion: string) => Versions | undefined {
  const own = request.view ?? request.resource
  return (apiVersion) => {
    if (apiVersion === apiVersionOf(own)) {
      const { struct } = own.shape
      const type = mergeTypeOfObjects(struct)
      const stored = before()
      if (isChangeOnly) return { type, ...changedWires(stored, after(), struct) }
      return { type, before: storedWire(stored, struct), after: givenWire(after(), struct, stored) }
    }
    const other = otherVersion(request, inVersion, apiVersion)
    if (other === undefined) return undefined
    const made = asked.get(apiVersion)
    const written =
      made === undefined &&
      other.ofWires !== undefined &&
      wires !== undefined &&
      other.ofWires(wires)
    return {
      type: other.type,
      ...(written || {
        before: other.before(made?.before ?? before()),
        after: other.after(made?.after ?? after()),
      }),
      isWhole: comparesWhole(request),
    }
  }
}

/**
 * An object before and after an apply, in the form that clients receive. In contrast to decoded
 * objects, this form contains null and empty values.
 */
export type Wires = WirePair

type OtherVersion = {
  readonly type: StructMerge
  /**
   * Converts the object before the write to this version. The result has the form that clients
   * receive. `after` converts the object after the write.
   */
  readonly before: (object: KubeObject) => Fields
  readonly after: (object: KubeObject) => Fields
  /**
   * Converts both states, which have the form that clients receive. Present only for custom
   * resources. Without a webhook, their versions differ only in apiVersion.
   */
  readonly ofWires?: (wires: Wires) => Wires
}

/**
 * Returns the conversion to another version of the resource. If that version does not exist,
 * returns undefined for a built-in kind, and fails for a custom resource.
 */
export function otherVersion(
  request: ResourceRequest,
  inVersion: VersionAccess['inVersion'],
  apiVersion: string,
): OtherVersion | undefined {
  const { resource } = request
  if (request.view !== undefined) return undefined
  const other = inVersion(apiVersion)
  if (other !== undefined)
    return resource.isCustom ? customVersion(other) : builtInVersion(resource.shape, other)
  if (!resource.isCustom) return undefined
  throw new UnknownVersionError(`request to convert CR to an invalid group/version: ${apiVersion}`)
}

function builtInVersion(from: ObjectSchema, to: Resource): OtherVersion {
  const { struct } = to.shape
  return {
    type: mergeTypeOfObjects(struct),
    before: (object) => fittingIn(storedWire(converted(object, from, to), struct), to, ''),
    after: (object) => fittingIn(givenWire(converted(object, from, to), struct), to, ofNewObject),
  }
}

/** Converts a built-in object to another version. The result has the form that clients receive. */
export const wireIn = (object: KubeObject, from: ObjectSchema, to: Resource): Fields =>
  convertedWire(converted(object, from, to), to.shape.struct)

function converted(object: KubeObject, from: ObjectSchema, to: Resource): KubeObject {
  const stored = from.stored?.toStored(object) ?? object
  return to.shape.stored?.fromStored(stored) ?? { ...stored, apiVersion: apiVersionOf(to) }
}

function customVersion(to: Resource): OtherVersion {
  const { struct } = to.shape
  const type = mergeTypeOfObjects(struct)
  const apiVersion = apiVersionOf(to)
  const fitting = (wire: Fields, what: string): Fields => fittingIn(wire, to, what)
  const wireOf = (object: KubeObject): Fields => storedWire({ ...object, apiVersion }, struct)
  return {
    type,
    before: (object) => fitting(wireOf(object), ''),
    after: (object) => fitting(wireOf(object), ofNewObject),
    ofWires: ({ before, after }) => ({
      before: fitting({ ...before, apiVersion }, ''),
      after: fitting({ ...after, apiVersion }, ofNewObject),
    }),
  }
}

/**
 * Fails if the fields do not match the schema of a version, or if they repeat an item of a set or a
 * map. The error message begins with `what`.
 */
export function fittingIn(wire: Fields, { shape }: Resource, what: string): Fields {
  const faults = validateApplied(wire, mergeTypeOfObjects(shape.struct))
  if (faults.length > 0) throw new UnknownVersionError(what + formatFaults(faults))
  return wire
}

/** The first release in which a write of the status ignores other fields in all versions. */
const IGNORED_EVERYWHERE_SINCE = 35

/**
 * Whether fields that the path of the request cannot change are compared in other versions than
 * that of the request. kube-apiserver does this for custom kinds.
 */
const comparesWhole = ({ resource, subresource }: ResourceRequest): boolean =>
  resource.isCustom && (subresource !== 'status' || resource.release < IGNORED_EVERYWHERE_SINCE)
