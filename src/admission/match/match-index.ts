/**
 * Finds the webhooks or policies that match a request. Whether rules match depends only on the
 * resource, the subresource and the operation. Therefore the result is cached for each combination
 * of these. A write that no rule matches requires only two lookups.
 */
import type { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { type MatchCriteria, matchRules } from './criteria.ts'

/**
 * A webhook or policy that matches a request. `resource` is the resource in the version that the
 * matching rule names. Objects must be converted to this version.
 */
export type Candidate<T> = { readonly entry: T; readonly resource: Resource }

type ServedResources = Pick<Registry, 'inGroup' | 'changes'>

/**
 * The webhooks and policies that match requests for one resource. The keys are operations, followed
 * by a slash and the subresource if there is one.
 */
type MatchCache<T> = Map<string, MatchResult<T>>

/**
 * The webhooks or policies that match an operation on a resource. `candidates` match at least one
 * object name, and `names` are all resourceNames in their rules. `byName` has the candidates for
 * each of these names. Its key `undefined` stands for all other names.
 */
type MatchResult<T> = {
  readonly candidates: readonly Candidate<T>[]
  readonly names: ReadonlySet<string>
  readonly byName: Map<string | undefined, readonly Candidate<T>[]>
}

/** Maximum number of object names for which candidates are cached, per resource and operation. */
const NAMES_MAX = 100

export class MatchIndex<T extends { readonly criteria: MatchCriteria }> {
  readonly #registry: ServedResources
  #entries: readonly T[] = []
  #known = new WeakMap<Resource, MatchCache<T>>()
  /**
   * The change count of the registry when the cache `#known` was last cleared. When the count
   * changes, the cache is cleared, because webhooks may also match versions that were added.
   */
  #changes = 0

  constructor(registry: ServedResources) {
    this.#registry = registry
  }

  /** Webhooks or policies, in the order in which `candidates` returns them. */
  set entries(entries: readonly T[]) {
    this.#entries = entries
    this.#known = new WeakMap()
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /**
   * Returns the webhooks or policies whose rules match, in order. The caller must check the
   * selectors.
   */
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

/** Returns all resourceNames in the rules of the candidates. */
const namesIn = (
  candidates: readonly Candidate<{ readonly criteria: MatchCriteria }>[],
): ReadonlySet<string> =>
  new Set(
    candidates.flatMap(({ entry: { criteria } }) =>
      [...(criteria.rules ?? []), ...criteria.excluded].flatMap(({ names }) => [...(names ?? [])]),
    ),
  )

const none: readonly never[] = []

/**
 * Returns the criteria without their resourceNames. They then match every request that the original
 * criteria match for at least one object name.
 */
function withoutNames(criteria: MatchCriteria): MatchCriteria {
  if (!criteria.hasNames) return criteria
  return {
    ...criteria,
    rules: criteria.rules?.map((rule) => ({ ...rule, names: undefined })),
    excluded: criteria.excluded.filter((rule) => rule.names === undefined),
  }
}

/** The two API groups that serve the same stored Events. */
const eventGroups = ['', 'events.k8s.io'] as const

/**
 * Returns the other served versions of the resource that have the subresource, in the order of
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
      // Bounded: this filter runs for at most two groups.
      .filter(
        (other) =>
          other.plural === plural &&
          other !== resource &&
          (subresource === '' || other.subresources.some(({ name }) => name === subresource)),
      ),
  )
}
