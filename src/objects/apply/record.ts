/**
 * Computes the field managers of an object after a create, an update or a patch. The writer becomes
 * the only owner of the fields that it changed. Fields that it removed no longer have an owner.
 */
import { taken } from './compare.ts'
import type { Differences } from './differences.ts'
import { fitOwners } from './fit-owners.ts'
import { difference, type FieldSet, isEmptySet, noFields, union, unionOf } from './field-set.ts'
import { neverOwned } from './field-paths.ts'
import { identityOf, type Owner, type Owners, type Writer } from './managers.ts'

/**
 * Maximum number of entries with the operation Update, as in kube-apiserver. Beyond it, the oldest
 * entries are merged.
 */
const UPDATE_OWNERS_MAX = 10
const ancientManager = 'ancient-changes'

export type Update = {
  readonly writer: Writer
  readonly now: string
  readonly differences: Differences
}

export function recordUpdate(owners: Owners, { writer, now, differences }: Update): Owners {
  const own = differences.in(writer.apiVersion)
  const left = differences.release(fitOwners(owners, differences.typeIn))
  const fields = difference(own === undefined ? noFields : taken(own), neverOwned)
  if (!isEmptySet(fields)) {
    const identity = identityOf(writer)
    const before = left.get(identity)?.fields
    const after = before === undefined ? fields : union(before, fields)
    left.set(identity, { ...writer, time: now, fields: after, entry: undefined })
  }
  return left.size <= UPDATE_OWNERS_MAX ? left : capped(left)
}

/**
 * Reduces the number of Update entries to UPDATE_OWNERS_MAX. The oldest entries of each apiVersion
 * are merged into one entry named `ancient-changes`.
 */
function capped(owners: Map<string, Owner>): Owners {
  const updaters = [...owners].filter(([, { operation }]) => operation === 'Update')
  if (updaters.length <= UPDATE_OWNERS_MAX) return owners
  const oldestFirst = updaters.toSorted(
    ([one, { time: first = '' }], [other, { time: second = '' }]) =>
      compareText(first, second) || compareText(one, other),
  )
  const firstOf = new Map<string, readonly [string, Owner]>()
  const merged = new Map<string, FieldSet[]>()
  let count = updaters.length
  for (const [identity, owner] of oldestFirst) {
    if (count <= UPDATE_OWNERS_MAX) break
    const { apiVersion, time } = owner
    const first = firstOf.get(apiVersion)
    if (first === undefined) {
      firstOf.set(apiVersion, [identity, owner])
      continue
    }
    const writer: Writer = {
      manager: ancientManager,
      operation: 'Update',
      apiVersion,
      subresource: '',
    }
    const ancient = identityOf(writer)
    const known = owners.get(ancient) ?? first[1]
    if (!owners.has(ancient)) owners.delete(first[0])
    owners.delete(identity)
    owners.set(ancient, { ...writer, time, fields: noFields, entry: undefined })
    const sets = merged.get(ancient) ?? [known.fields]
    sets.push(owner.fields)
    merged.set(ancient, sets)
    count--
  }
  // Joins field sets only at the end. There can be thousands of them, and joining them one by one
  // would copy a growing set each time.
  for (const [ancient, sets] of merged) {
    const owner = owners.get(ancient)
    if (owner !== undefined) owners.set(ancient, { ...owner, fields: unionOf(sets) })
  }
  return owners
}

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
