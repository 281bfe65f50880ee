/**
 * Finds which of many webhooks or policies concern a request. What rules say depends on the
 * resource, the subresource and the operation alone, so it is worked out once for each of these
 * that is requested: a write that no rule concerns pays two lookups.
 */
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { type MatchCriteria, matchRules } from './criteria.ts'

/** `resource`: in the version that the entry asks for; its object has to be converted to that. */
export type Candidate<T> = { readonly entry: T; readonly resource: Resource }

type ServedResources = Pick<Registry, 'inGroup' | 'changes'>

/** `groupResource/operation` of one resource to what concerns it. */
type MatchCache<T> = Map<string, MatchResult<T>>

/**
 * `candidates`: whatever the name of the object. `names`: which some rules are about; `byName`:
 * what is left for these, and for all others.
 */
type MatchResult<T> = {
  readonly candidates: readonly Candidate<T>[]
  readonly names: ReadonlySet<string>
  readonly byName: Map<string | undefined, readonly Candidate<T>[]>
}

/** Names whose candidates are remembered, of one resource and operation. */
const NAMES_MAX = 100

export class MatchIndex<T extends { readonly criteria: MatchCriteria }> {
  readonly #registry: ServedResources
  #entries: readonly T[] = []
  #known = new WeakMap<Resource, MatchCache<T>>()
  /** Of the registry, when `#known` was begun: versions that came since may be equivalent. */
  #changes = 0

  constructor(registry: ServedResources) {
    this.#registry = registry
  }

  /** In the order in which candidates are to be returned. */
  set entries(entries: readonly T[]) {
    this.#entries = entries
    this.#known = new WeakMap()
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** The entries whose rules match, in their order. Selectors are left to the caller. */
  candidates(attributes: Attributes): readonly Candidate<T>[] {
    if (this.#entries.length === 0) return none
    if (this.#changes !== this.#registry.changes) {
      this.#changes = this.#registry.changes
      this.#known = new WeakMap()
    }
    const { resource, subresource, operation } = attributes
    let known = this.#known.get(resource)
    if (known === undefined) this.#known.set(resource, (known = new Map<string, MatchResult<T>>()))
    const key = subresource === '' ? operation : `${operation}/${subresource}`
    let found = known.get(key)
    if (found === undefined) known.set(key, (found = this.#find(attributes)))
    return found.names.size === 0 ? found.candidates : this.#named(found, attributes)
  }

  #find(attributes: Attributes): MatchResult<T> {
    const equivalents = equivalentsOf(this.#registry, attributes)
    const candidates = this.#entries.flatMap((entry) => {
      const resource = matchRules(withoutNames(entry.criteria), { target: attributes, equivalents })
      return resource === undefined ? [] : [{ entry, resource }]
    })
    return { candidates, names: namesIn(candidates), byName: new Map() }
  }

  #named(
    { candidates, names, byName }: MatchResult<T>,
    attributes: Attributes,
  ): readonly Candidate<T>[] {
    const key = names.has(attributes.name) ? attributes.name : undefined
    const known = byName.get(key)
    if (known !== undefined) return known
    const equivalents = equivalentsOf(this.#registry, attributes)
    const left = candidates.flatMap((candidate) => {
      const { criteria } = candidate.entry
      if (!criteria.hasNames) return [candidate]
      const resource = matchRules(criteria, { target: attributes, equivalents })
      return resource === undefined ? [] : [{ ...candidate, resource }]
    })
    if (byName.size >= NAMES_MAX) byName.clear()
    byName.set(key, left)
    return left
  }
}

/** All names that rules are about. */
const namesIn = (
  candidates: readonly Candidate<{ readonly criteria: MatchCriteria }>[],
): ReadonlySet<string> =>
  new Set(
    candidates.flatMap(({ entry: { criteria } }) =>
      [...(criteria.rules ?? []), ...criteria.excluded].flatMap(({ names }) => [...(names ?? [])]),
    ),
  )

const none: readonly never[] = []

/** Matches whatever the criteria match for any name. */
function withoutNames(criteria: MatchCriteria): MatchCriteria {
  if (!criteria.hasNames) return criteria
  return {
    ...criteria,
    rules: criteria.rules?.map((rule) => ({ ...rule, names: undefined })),
    excluded: criteria.excluded.filter((rule) => rule.names === undefined),
  }
}

/** Events are served in two groups, and stored once. */
const eventGroups = ['', 'events.k8s.io'] as const

/**
 * The resource in its other versions that are served and have the subresource, in the order of
 * discovery.
 */
export function equivalentsOf(
  registry: Pick<Registry, 'inGroup'>,
  { resource, subresource }: Pick<Attributes, 'resource' | 'subresource'>,
): readonly Resource[] {
  const { group, plural } = resource
  const isEvents = plural === 'events' && eventGroups.some((one) => one === group)
  return (isEvents ? eventGroups : [group]).flatMap((one) =>
    registry
      .inGroup(one)
      // limit: two groups of events
      .filter(
        (other) =>
          other.plural === plural &&
          other !== resource &&
          (subresource === '' || other.subresources.some(({ name }) => name === subresource)),
      ),
  )
}
