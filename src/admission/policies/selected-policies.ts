/**
 * Leaves out policies whose selectors do not match, before anything of a request is prepared for expressions. What the namespace selectors
 * of many policies say is worked out once for each namespace, and again when it changes.
 */
import { matchesLabels } from '../../api/label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Attributes } from '../admission.ts'
import { type MatchCriteria, matchesObjectSelector } from '../match/criteria.ts'
import type { Candidate } from '../match/match-index.ts'
import { isOfNamespaces } from '../match/namespaces.ts'
import type { Objects } from '../objects.ts'
import type { BoundPolicy } from './policy-index.ts'

type Candidates = readonly Candidate<BoundPolicy>[]
type Known = { readonly resourceVersion: string | undefined; readonly candidates: Candidates }

/** Namespaces that are remembered for one list of policies. */
const NAMESPACES_MAX = 1_000
const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const

export class SelectedPolicies {
  readonly #objects: Pick<Objects, 'get'>
  /** By the lists of the index, which are replaced when policies change. */
  readonly #known = new WeakMap<Candidates, Map<string, Known>>()

  constructor(objects: Pick<Objects, 'get'>) {
    this.#objects = objects
  }

  /** What remains may still not match: a namespace that is not in memory, or a selector that is not valid, is left to the caller. */
  of(candidates: Candidates, attributes: Attributes): Candidates {
    const { namespace } = attributes
    if (candidates.length === 0 || namespace === '' || isOfNamespaces(attributes))
      return withObject(candidates, attributes)
    const found = this.#objects.get(namespaces, { namespace: '', name: namespace }, 'any')
    const isKnown = found !== undefined && !(found instanceof Promise)
    return withObject(isKnown ? this.#inNamespace(candidates, namespace, found) : candidates, attributes)
  }

  #inNamespace(candidates: Candidates, name: string, { metadata }: KubeObject): Candidates {
    const { resourceVersion, labels } = metadata
    let known = this.#known.get(candidates)
    if (known === undefined) this.#known.set(candidates, (known = new Map<string, Known>()))
    const before = known.get(name)
    if (before !== undefined && before.resourceVersion === resourceVersion) return before.candidates
    const isIn = ({ namespaceSelector }: MatchCriteria): boolean =>
      namespaceSelector === undefined || matchesLabels(namespaceSelector, labels)
    const selected = candidates.filter(
      ({ entry }) => isIn(entry.criteria) && entry.bindings.some(({ criteria }) => isIn(criteria)),
    )
    if (known.size >= NAMESPACES_MAX) known.clear()
    known.set(name, { resourceVersion, candidates: selected })
    return selected
  }
}

function withObject(candidates: Candidates, attributes: Attributes): Candidates {
  const isSelected = (criteria: MatchCriteria): boolean =>
    criteria.objectSelector === undefined || matchesObjectSelector(criteria, attributes)
  return candidates.filter(({ entry }) => isSelected(entry.criteria))
}
