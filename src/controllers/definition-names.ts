/** Which names of a CustomResourceDefinition are accepted: within a group each stands for one resource, or for one kind. */
import { quote } from '../api/quote.ts'
import type { Names } from '../registry/custom/definition.ts'

export type NameConflict = { readonly reason: string; readonly message: string }

/** The names in use, by group. Plurals, singulars and short names are of one sort, kinds and list kinds of another. */
export class NamesInUse {
  readonly #owners = new Map<string, Set<string>>()

  add(owner: string, group: string, names: Names): void {
    for (const key of keysOf(group, names)) {
      const owners = this.#owners.get(key) ?? new Set()
      this.#owners.set(key, owners.add(owner))
    }
  }

  remove(owner: string, group: string, names: Names): void {
    for (const key of keysOf(group, names)) {
      const owners = this.#owners.get(key)
      owners?.delete(owner)
      if (owners?.size === 0) this.#owners.delete(key)
    }
  }

  isTaken(owner: string, key: string): boolean {
    const owners = this.#owners.get(key)
    return owners !== undefined && (owners.size > 1 || !owners.has(owner))
  }
}

const resourceKey = (group: string, name: string): string => `${group} ${name}`
const kindKey = (group: string, name: string): string => `${group}  ${name}`

const keysOf = (group: string, { plural, singular, shortNames, kind, listKind }: Names): string[] => [
  ...[plural, singular, ...shortNames].filter((name) => name !== '').map((name) => resourceKey(group, name)),
  ...[kind, listKind].filter((name) => name !== '').map((name) => kindKey(group, name)),
]

type Asked = { readonly owner: string; readonly group: string; readonly wanted: Names; readonly accepted: Names }

/** What is accepted of the names that a definition wants; of what is not, it keeps what it had. */
export function acceptNames(
  { owner, group, wanted, accepted }: Asked,
  inUse: NamesInUse,
): { readonly names: Names; readonly conflict: NameConflict | undefined } {
  let conflict: NameConflict | undefined
  const isFree = (name: string, had: string, key: string): boolean => name === had || !inUse.isTaken(owner, key)
  const choose = (
    name: string,
    had: string,
    { key, reason }: { readonly key: string; readonly reason: string },
  ): string => {
    if (isFree(name, had, key)) return name
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
  const taken = wanted.shortNames.filter(
    (name) => !accepted.shortNames.includes(name) && inUse.isTaken(owner, resourceKey(group, name)),
  )
  if (taken.length > 0) {
    const texts = taken.map((name) => `${quote(name)} is already in use`)
    conflict = {
      reason: 'ShortNamesConflict',
      message: texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`,
    }
  }
  const kind = choose(wanted.kind, accepted.kind, { key: kindKey(group, wanted.kind), reason: 'KindConflict' })
  const listKind = choose(wanted.listKind, accepted.listKind, {
    key: kindKey(group, wanted.listKind),
    reason: 'ListKindConflict',
  })
  const shortNames = taken.length > 0 ? accepted.shortNames : wanted.shortNames
  return { names: { plural, singular, kind, listKind, shortNames, categories: wanted.categories }, conflict }
}
