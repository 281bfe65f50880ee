/**
 * Server-side apply (KEP-555): merges an applied configuration into the live object. The applier
 * becomes an owner of the fields in the configuration. Fields that it applied before and omits now
 * are removed, unless another manager owns them. If the apply would change a field that another
 * manager owns, this is a conflict, unless the apply is forced.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { inParts, once } from '../../lib/scheduling/parts.ts'
import type { Slices } from '../../lib/scheduling/slices.ts'
import { conflictError } from './conflict.ts'
import { Differences, type Versions } from './differences.ts'
import { neverOwned } from './field-paths.ts'
import { fitOwners } from './fit-owners.ts'
import {
  difference,
  type FieldSet,
  isEmptySet,
  isSameSet,
  noFields,
  recursiveDifference,
  union,
  unionOf,
} from './field-set.ts'
import { allowedConflicts, isLastApplier } from './last-applied.ts'
import { identityOf, type Owner, type Owners, withFields, type Writer } from './managers.ts'
import { merge } from './merge.ts'
import type { StructMerge } from './merge-type.ts'
import { appliedSet } from './owned.ts'
import { prune } from './prune.ts'
import { type Convert, pruneAcross } from './prune-across.ts'
import { isEqual } from './value.ts'

export type Application = {
  readonly writer: Writer
  readonly type: StructMerge
  /** The live object and the applied configuration (`applied`), both in JSON form (wire.ts). */
  readonly live: Fields
  readonly applied: Fields
  readonly owners: Owners
  readonly force: boolean
  /**
   * Fields that a request with this URL path cannot set. For example, if the kind has a status
   * subresource, a request for the object itself cannot set `status`.
   */
  readonly ignored: FieldSet
  readonly now: string
  /**
   * Set if the object is large. Each step is then divided into parts (lib/scheduling/parts.ts), so
   * that it does not block the event loop.
   */
  readonly slices?: Slices | undefined
  /**
   * Returns the merge type of the kind in an API version, or undefined if the kind does not have
   * this version. Without a merge type, the field sets of managers that use this version cannot be
   * interpreted.
   */
  readonly typeIn: (apiVersion: string) => StructMerge | undefined
  /**
   * Converts an object in JSON form to another version. Absent if only a webhook can convert it.
   */
  readonly convert?: Convert
  /**
   * Converts the live object and the object after the apply. Resolves to a function that returns
   * both objects in a given version. The function returns undefined if the kind does not have this
   * version.
   */
  readonly versions: (after: Fields) => Promise<(apiVersion: string) => Versions | undefined>
}

export type ApplyResult = {
  /** The object after the apply, or undefined if it is unchanged. */
  readonly result: Fields | undefined
  readonly owners: Owners
}

/**
 * Applies a configuration to the live object. Rejects with a Conflict if the apply would change a
 * field of another manager. Yields to the event loop if the object is large.
 */
export async function applyOver(application: Application): Promise<ApplyResult> {
  const { writer, ignored, now, slices } = application
  const identity = identityOf(writer)
  const change = (): OwnersChange => changedBy(application, identity)
  const { own, all, result, isChanged } =
    slices === undefined ? change() : await inParts(change, slices)
  const versions = await application.versions(result)
  const differences = new Differences(versions, ignored)
  const release = (): Map<string, Owner> => {
    refuseConflicts(differences, all, { ...application, identity })
    return differences.release(all, identity)
  }
  const left = slices === undefined ? release() : await inParts(release, slices)
  if (isEmptySet(own.fields)) left.delete(identity)
  else if (isChanged) left.set(identity, { ...own, time: now, entry: undefined })
  return { result: isChanged ? result : undefined, owners: left }
}

type OwnersChange = {
  /**
   * The applier's entry in managedFields after this apply. `all` contains the entries of all
   * managers, including this one.
   */
  readonly own: Owner
  readonly all: Owners
  readonly result: Fields
  readonly isChanged: boolean
}

function changedBy(application: Application, identity: string): OwnersChange {
  const { writer, live, applied, type, typeIn, ignored } = application
  const owners = once('owners that fit', () => fitOwners(application.owners, typeIn))
  const before = owners.get(identity)
  const stated = once('stated fields', () =>
    recursiveDifference(appliedSet(applied, type), ignored),
  )
  const own = once('own fields', () => ownerAfter(writer, before, stated))
  const all = new Map(owners).set(identity, own)
  const merged = once('merged object', () => merge(live, applied, type))
  const pruned = once('pruned object', () =>
    pruneStated(merged, { before, all, stated, application }),
  )
  const result = isFields(pruned) ? pruned : {}
  return { own, all, result, isChanged: !isEqual(live, result) }
}

type Pruning = {
  /** The applier's entry in managedFields before this apply. Undefined if it had none. */
  readonly before: Owner | undefined
  readonly all: Owners
  readonly stated: FieldSet
  readonly application: Application
}

/**
 * Removes the fields that the applier applied before but omits now, unless another manager owns
 * them.
 */
function pruneStated(merged: Json, { before, all, stated, application }: Pruning): Json {
  const { type, typeIn, convert, writer } = application
  if (before === undefined || typeIn(before.apiVersion) === undefined) return merged
  const isMixed = [before, ...all.values()].some(
    ({ apiVersion }) => apiVersion !== writer.apiVersion,
  )
  if (convert !== undefined && isMixed && !isEmptySet(before.fields) && isFields(merged)) {
    // `stated` contains all fields of the applied configuration, including fields that no manager
    // can own, such as the name. None of them must be removed.
    const owners = new Map(all).set(identityOf(writer), {
      ...before,
      apiVersion: writer.apiVersion,
      fields: stated,
    })
    return pruneAcross(merged, { before, owners, version: writer.apiVersion, typeIn, convert })
  }
  return prune(merged, type, { before: before.fields, owned: union(everything(all), stated) })
}

/**
 * Returns the applier's entry after the apply. If neither its fields nor its version change,
 * returns the object `before` itself.
 */
function ownerAfter(writer: Writer, before: Owner | undefined, applied: FieldSet): Owner {
  const fields = difference(applied, neverOwned)
  if (before === undefined) return { ...writer, time: undefined, fields, entry: undefined }
  if (before.apiVersion === writer.apiVersion && isSameSet(before.fields, fields)) return before
  return { ...before, apiVersion: writer.apiVersion, fields, entry: undefined }
}

const everything = (owners: Owners): FieldSet =>
  unionOf(Array.from(owners.values(), ({ fields }) => fields))

/**
 * Throws a Conflict if the apply changes fields that other managers own, unless the apply is
 * forced. Exception: kubectl can take over the fields that it once set by client-side apply.
 */
function refuseConflicts(
  differences: Differences,
  owners: Owners,
  { writer, live, type, force, identity }: Application & { readonly identity: string },
): void {
  if (force) return
  const conflicts = differences.conflicts(owners, identity)
  if (conflicts.length === 0) return
  const allowed = isLastApplier(writer) ? allowedConflicts(live, type) : noFields
  const refused = conflicts.map((owner) => withFields(owner, difference(owner.fields, allowed)))
  const left = refused.filter(({ fields }) => !isEmptySet(fields))
  if (left.length > 0) throw conflictError(left)
}
