/**
 * Objects in the versions in which their owners know them. Those of built-in kinds are converted as they are shown; of custom kinds
 * nothing is dropped on the way, but what does not fit there is refused.
 */
import type { Versions } from '../apply/differences.ts'
import type { Owners } from '../apply/managers.ts'
import type { StructMerge } from '../apply/merge-type.ts'
import { mergeTypeOfObjects } from '../apply/object-merge-type.ts'
import { formatFaults, validateApplied } from '../apply/validate.ts'
import { changedWires, convertedWire, givenWire, storedWire, type WirePair } from '../apply/wire.ts'
import { ApiError } from '../api/errors.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { apiVersionOf, type Resource, type ResourceRequest, viewOf } from '../registry/resource.ts'
import type { ObjectSchema } from '../schema/object-schema.ts'
import type { WriteAccess } from './access.ts'

/** An object cannot be shown in the version of one of its owners. The message is upstream's. */
export class UnknownVersionError extends Error {
  override readonly name = 'UnknownVersionError'
}

/** Made when they are needed. */
type Change = { readonly before: () => KubeObject; readonly after: () => KubeObject }

/** By apiVersion: what a webhook made of an object as it was and as it is to be. */
type Asked = ReadonlyMap<string, { readonly before: KubeObject; readonly after: KubeObject }>

const nobody: Asked = new Map()

/** Asks for all versions that owners need. */
export async function askWebhook(
  request: ResourceRequest,
  { inVersion, convertTo }: Pick<WriteAccess, 'inVersion' | 'convertTo'>,
  { owners, objects }: { readonly owners: Owners; readonly objects: Change },
): Promise<Asked> {
  const { resource } = request
  if (convertTo === undefined || viewOf(request) !== undefined) return nobody
  const asked = new Map<string, { readonly before: KubeObject; readonly after: KubeObject }>()
  for (const { apiVersion } of owners.values()) {
    const to = apiVersion === apiVersionOf(resource) || asked.has(apiVersion) ? undefined : inVersion(apiVersion)
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
    throw error instanceof ApiError ? new UnknownVersionError(what + error.message, { cause: error }) : error
  }
}

type VersionsOptions = Change & {
  readonly asked: Asked
  readonly wires?: Wires
  /** Whether what is the same before and after may be left out, where that is cheap to know. */
  readonly isChangeOnly?: boolean
}

/** An object before and after a write, by the version of an owner; undefined where the kind has no such version. */
export function versionsOf(
  request: ResourceRequest,
  { inVersion }: Pick<WriteAccess, 'inVersion'>,
  { before, after, asked, wires, isChangeOnly = false }: VersionsOptions,
): (apiVersion: string) => Versions | undefined {
  const own = viewOf(request) ?? request.resource
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
    const written = made === undefined && other.ofWires !== undefined && wires !== undefined && other.ofWires(wires)
    return {
      type: other.type,
      ...(written || { before: other.before(made?.before ?? before()), after: other.after(made?.after ?? after()) }),
      isWhole: request.resource.isCustom,
    }
  }
}

/** An object before and after an apply as it is written: the nulls and empty values in it are there, too. */
export type Wires = WirePair

type OtherVersion = {
  readonly type: StructMerge
  /** Objects as they were and as they are to be, in this version. */
  readonly before: (object: KubeObject) => Fields
  readonly after: (object: KubeObject) => Fields
  /** Of a custom kind, whose versions differ in nothing but their names unless a webhook says so. */
  readonly ofWires?: (wires: Wires) => Wires
}

/** Undefined where a built-in kind has no such version; fails where a custom one has none. */
export function otherVersion(
  request: ResourceRequest,
  inVersion: WriteAccess['inVersion'],
  apiVersion: string,
): OtherVersion | undefined {
  const { resource } = request
  if (viewOf(request) !== undefined) return undefined
  const other = inVersion(apiVersion)
  if (other !== undefined) return resource.isCustom ? customVersion(other) : builtInVersion(resource.shape, other)
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

/** An object of one version of a built-in kind in another. */
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

/** Fails where what is written of an object does not fit a version, or has an item of a set or a map twice; `what` is told first. */
export function fittingIn(wire: Fields, { shape }: Resource, what: string): Fields {
  const faults = validateApplied(wire, mergeTypeOfObjects(shape.struct))
  if (faults.length > 0) throw new UnknownVersionError(what + formatFaults(faults))
  return wire
}
