/**
 * Decides which names of a CustomResourceDefinition are accepted. In a group, each name can belong
 * to only one definition.
 */
import { quote } from '../api/quote.ts'
import type { Names } from '../registry/custom/crd.ts'

export type NameConflict = { readonly reason: string; readonly message: string }

/**
 * The names that a definition has (`accepted`) and requests (`wanted`), at a revision of the
 * definition.
 */
export type Claim = {
  readonly group: string
  readonly accepted: Names
  readonly wanted: Names
  readonly revision: number
}

/**
 * A name that a definition requests and does not have yet. The definition gets the name only if all
 * names in `together` are free.
 */
type PendingName = { readonly revision: number; readonly together: readonly string[] }

/**
 * The names in use, by API group. Within a group, a plural, singular or short name must differ from
 * all others, and a kind or list kind must differ from all others.
 *
 * A requested name that is not accepted yet blocks requests for the same name at later revisions.
 * Replicas decide on definitions concurrently, and revisions have the same order on all of them.
 */
export class NamesInUse {
  readonly #claims = new Map<string, Claim>()
  readonly #owners = new Map<string, Set<string>>()
  readonly #wishes = new Map<string, Map<string, PendingName>>()

  /**
   * Sets the accepted and requested names of the definition `owner`. Returns whether a name may
   * have become free for other definitions.
   */
  set(owner: string, claim: Claim): boolean {
    const before = this.#claims.get(owner)
    this.delete(owner)
    this.#claims.set(owner, claim)
    const { group, accepted } = claim
    for (const key of keysOf(group, accepted)) {
      const owners = this.#owners.get(key) ?? new Set()
      this.#owners.set(key, owners.add(owner))
    }
    for (const [key, wish] of wishesOf(claim)) {
      const wishes = this.#wishes.get(key) ?? new Map<string, PendingName>()
      this.#wishes.set(key, wishes.set(owner, wish))
    }
    if (before === undefined) return keysOf(group, accepted).length > 0
    return !(isSettled(before) && isSettled(claim) && hasSameNames(before, claim))
  }

  delete(owner: string): void {
    const claim = this.#claims.get(owner)
    if (claim === undefined) return
    this.#claims.delete(owner)
    for (const key of keysOf(claim.group, claim.accepted)) deleteFrom(this.#owners, key, owner)
    for (const [key] of wishesOf(claim)) deleteFrom(this.#wishes, key, owner)
  }

  /**
   * Whether a name is not free for `owner`, which requested it at `revision`: another definition
   * has the name, or has requested it at an earlier revision and can get it.
   */
  isTaken(owner: string, key: string, revision: number): boolean {
    if (this.#hasOther(owner, key)) return true
    for (const [other, wish] of this.#wishes.get(key) ?? []) {
      if (other === owner || wish.revision >= revision) continue
      if (!wish.together.some((one) => this.#hasOther(other, one))) return true
    }
    return false
  }

  #hasOther(owner: string, key: string): boolean {
    const owners = this.#owners.get(key)
    return owners !== undefined && (owners.size > 1 || !owners.has(owner))
  }
}

function deleteFrom(
  index: Map<string, Set<string> | Map<string, PendingName>>,
  key: string,
  owner: string,
): void {
  const found = index.get(key)
  found?.delete(owner)
  if (found?.size === 0) index.delete(key)
}

const resourceKey = (group: string, name: string): string => `${group} ${name}`
const kindKey = (group: string, name: string): string => `${group}  ${name}`

const keysOf = (
  group: string,
  { plural, singular, shortNames, kind, listKind }: Names,
): string[] => [
  ...[plural, singular, ...shortNames]
    .filter((name) => name !== '')
    .map((name) => resourceKey(group, name)),
  ...[kind, listKind].filter((name) => name !== '').map((name) => kindKey(group, name)),
]

/**
 * Returns the requested names that are not accepted yet. Short names are accepted all together or
 * not at all.
 */
function wishesOf({
  group,
  accepted,
  wanted,
  revision,
}: Claim): readonly (readonly [string, PendingName])[] {
  const had = new Set(keysOf(group, accepted))
  const short = wanted.shortNames.map((name) => resourceKey(group, name))
  const single = keysOf(group, { ...wanted, shortNames: [] }).filter((key) => !had.has(key))
  return [
    ...single.map((key) => [key, { revision, together: [key] }] as const),
    ...short
      .filter((key) => !had.has(key))
      .map((key) => [key, { revision, together: short }] as const),
  ]
}

/** Whether all requested names are accepted. */
const isSettled = (claim: Claim): boolean => wishesOf(claim).length === 0

const hasSameNames = (one: Claim, other: Claim): boolean =>
  keysOf(one.group, one.accepted).join() === keysOf(other.group, other.accepted).join()

type OwnedClaim = Claim & { readonly owner: string }

/**
 * Returns the names that a definition gets: each requested name if it is free, and otherwise the
 * name that the definition already had.
 */
export function acceptNames(
  { owner, group, wanted, accepted, revision }: OwnedClaim,
  inUse: NamesInUse,
): { readonly names: Names; readonly conflict: NameConflict | undefined } {
  let conflict: NameConflict | undefined
  const choose = (
    name: string,
    had: string,
    { key, reason }: { readonly key: string; readonly reason: string },
  ): string => {
    if (name === had || !inUse.isTaken(owner, key, revision)) return name
    conflict = { reason, message: `${quote(name)} is already in use` }
    return had
  }
  const plural = choose(wanted.plural, accepted.plural, {
    key: resourceKey(group, wanted.plural),
    reason: 'PluralConflict',
  })
  const singular = choose(wanted.singular, accepted.singular, {
    key: resourceKey(group, wanted.singular),
    reason: 'SingularConflict',
  })
  const had = new Set(accepted.shortNames)
  const taken = wanted.shortNames.filter(
    (name) => !had.has(name) && inUse.isTaken(owner, resourceKey(group, name), revision),
  )
  if (taken.length > 0) {
    const texts = taken.map((name) => `${quote(name)} is already in use`)
    conflict = {
      reason: 'ShortNamesConflict',
      message: texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`,
    }
  }
  const kind = choose(wanted.kind, accepted.kind, {
    key: kindKey(group, wanted.kind),
    reason: 'KindConflict',
  })
  const listKind = choose(wanted.listKind, accepted.listKind, {
    key: kindKey(group, wanted.listKind),
    reason: 'ListKindConflict',
  })
  const shortNames = taken.length > 0 ? accepted.shortNames : wanted.shortNames
  return {
    names: { plural, singular, kind, listKind, shortNames, categories: wanted.categories },
    conflict,
  }
}
