/**
 * Prunes an object whose managers use different API versions. In the version in which the applier
 * owned fields, these fields are removed. Then the object is converted to each version of another
 * manager. The fields that this manager owns, or that the conversion always sets, are added again.
 */
import { type Fields, isFields, type Json } from '../../api/object.ts'
import { type FieldSet, noFields, union, unionOf } from './field-set.ts'
import type { Owner, Owners } from './managers.ts'
import { once } from '../../lib/scheduling/parts.ts'
import type { StructMerge } from './merge-type.ts'
import { appliedSet } from './owned.ts'
import { prune, type PruneSets } from './prune.ts'

/**
 * Converts fields to another version. Throws if they are not valid in that version. `step` is
 * kube-apiserver's name for the current step, for the error message.
 */
export type Convert = (
  fields: Fields,
  versions: { readonly from: string; readonly to: string },
  step: string,
) => Fields

type PruneAcrossOptions = {
  readonly before: Owner
  readonly owners: Owners
  /** The API version of `merged`, in which the result is also returned. */
  readonly version: string
  readonly typeIn: (apiVersion: string) => StructMerge | undefined
  readonly convert: Convert
}

export function pruneAcross(
  merged: Fields,
  { before, owners, version, typeIn, convert }: PruneAcrossOptions,
): Json {
  const last = before.apiVersion
  const lastType = typeIn(last)
  if (lastType === undefined) return merged
  const owned = once('owned by version', () => ownedByVersion(owners))
  const whole = once('object in the last version', () =>
    convert(
      merged,
      { from: version, to: last },
      'failed to convert merged object to last applied version: ',
    ),
  )
  let shown = last
  let pruned = once('object pruned in the last version', () =>
    pruneIn(whole, lastType, { before: before.fields, owned: owned.get(last) ?? noFields }),
  )
  for (const [other, fields] of owned) {
    const type = typeIn(other)
    if (other === last || type === undefined) continue
    const [from, object] = [shown, pruned]
    pruned = once('object pruned in another version', () => {
      const wholeThere = convert(merged, { from: version, to: other }, ofOwned('merged', other))
      const prunedThere = convert(object, { from, to: other }, ofOwned('pruned', other))
      const kept = union(appliedSet(prunedThere, type), fields)
      return pruneIn(wholeThere, type, { before: appliedSet(wholeThere, type), owned: kept })
    })
    shown = other
  }
  const kept = once('fields that are left', () =>
    appliedSet(convert(pruned, { from: shown, to: last }, ofDangling), lastType),
  )
  const result = once('object without lost fields', () =>
    pruneIn(whole, lastType, { before: before.fields, owned: kept }),
  )
  return convert(result, { from: last, to: version }, '')
}

const pruneIn = (value: Fields, type: StructMerge, sets: PruneSets): Fields =>
  fieldsOf(prune(value, type, sets))

const ofOwned = (object: string, version: string): string =>
  `failed add back owned items: failed to convert ${object} object at version ${version}: `

const ofDangling =
  'failed add back dangling items: failed to convert pruned object to last applied version: '

const fieldsOf = (value: Json): Fields => (isFields(value) ? value : {})

function ownedByVersion(owners: Owners): ReadonlyMap<string, FieldSet> {
  const sets = Map.groupBy(owners.values(), ({ apiVersion }) => apiVersion)
  return new Map(
    Array.from(sets, ([apiVersion, of]) => [apiVersion, unionOf(of.map(({ fields }) => fields))]),
  )
}
