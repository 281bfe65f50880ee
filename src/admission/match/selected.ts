/**
 * Drops the webhooks and policies whose selectors do not match, before any other work is done for
 * them. The results of namespace selectors are cached for each namespace until its labels change.
 * Object selectors are looked up by the labels of the object.
 */
import { matchesLabels } from '../../api/label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import { isSame } from '../../objects/schema/equal.ts'
import type { Attributes } from '../admission.ts'
import type { Objects } from '../../api/object-access.ts'
import { type MatchCriteria, matchesObjectSelector } from './criteria.ts'
import { LabelIndex } from './label-index.ts'
import type { Candidate } from './match-index.ts'
import { knownNamespace } from './namespaces.ts'

/**
 * A webhook or policy with selectors. `bindings` are the bindings of a policy. If no binding
 * matches, the policy has no effect.
 */
type Selecting = {
  readonly criteria: MatchCriteria
  readonly bindings?: readonly { readonly criteria: MatchCriteria }[]
}

/** Maximum number of namespaces for which results are cached, per list of webhooks or policies. */
const NAMESPACES_MAX = 1_000
/**
 * Maximum total size of the caches. There can be a cache for each combination of a resource and an
 * operation. If the total size exceeds this maximum, all caches are cleared.
 */
const MEMORY_BYTES_MAX = 32 << 20
/** Approximate size of a cached namespace. */
const PLACE_BYTES = 200
/**
 * Approximate size per webhook or policy in a cached result: one byte in `isLeft`, one character in
 * a key, and a position in `others`.
 */
const CANDIDATE_BYTES = 10

export class SelectorIndex<T extends Selecting> {
  readonly #objects: Pick<Objects, 'get'>
  /**
   * Caches by list of webhooks or policies. When configurations change, the match index creates new
   * lists, and the caches of the old lists are garbage collected.
   */
  #known = new WeakMap<readonly Candidate<T>[], Selectors<T>>()
  #memory: Memory = { bytes: 0 }

  constructor(objects: Pick<Objects, 'get'>) {
    this.#objects = objects
  }

  /**
   * Returns the candidates whose selectors may match, in order. If the namespace is not in memory
   * or a selector is not valid, the candidate is included, and the caller has to check the
   * selectors (see `isDecided`).
   */
  of(candidates: readonly Candidate<T>[], attributes: Attributes): readonly Candidate<T>[] {
    if (candidates.length === 0) return candidates
    if (this.#memory.bytes > MEMORY_BYTES_MAX) {
      this.#known = new WeakMap()
      this.#memory = { bytes: 0 }
    }
    let selectors = this.#known.get(candidates)
    if (selectors === undefined)
      this.#known.set(candidates, (selectors = new Selectors(candidates, this.#memory)))
    return selectors.of(attributes, knownNamespace(attributes, this.#objects))
  }
}

/**
 * Returns whether both selectors of a webhook or policy were checked, so that the caller need not
 * check them again.
 */
export const isDecided = (
  { namespaceSelector, objectSelector }: MatchCriteria,
  { known }: Attributes,
): boolean =>
  known.namespace !== undefined && namespaceSelector !== undefined && objectSelector !== undefined

/** Approximate total size of the caches of all lists of candidates. */
type Memory = { bytes: number }

/**
 * The webhooks or policies that remain after their namespace selectors were checked. `isLeft` has a
 * 1 at the position of each of them. `others` has the positions of those whose object selectors do
 * not require a certain label.
 */
type RemainingCandidates = { readonly isLeft: Uint8Array; readonly others: readonly number[] }

/** The cached result for a namespace. It is valid as long as the namespace has these labels. */
type NamespaceSelection = {
  readonly labels: KubeObject['metadata']['labels']
  readonly left: RemainingCandidates
}

/** The selectors of one list of candidates. */
class Selectors<T extends Selecting> {
  readonly #candidates: readonly Candidate<T>[]
  readonly #labels: LabelIndex
  readonly #places = new Map<string, NamespaceSelection>()
  /**
   * All different results. Most namespaces share one result, because few selectors distinguish
   * them.
   */
  readonly #distinct = new Map<string, RemainingCandidates>()
  readonly #anywhere: RemainingCandidates
  readonly #memory: Memory

  constructor(candidates: readonly Candidate<T>[], memory: Memory) {
    this.#candidates = candidates
    this.#memory = memory
    this.#labels = new LabelIndex(candidates.map(({ entry }) => entry.criteria.objectSelector))
    this.#anywhere = this.#leftWhere(() => true)
  }

  of(attributes: Attributes, namespace: KubeObject | undefined): readonly Candidate<T>[] {
    const { object, oldObject } = attributes
    const { isLeft, others } = namespace === undefined ? this.#anywhere : this.#leftIn(namespace)
    const found = this.#labels.find(object?.metadata.labels, oldObject?.metadata.labels)
    const left: Candidate<T>[] = []
    const add = (position: number): void => {
      const candidate = this.#candidates[position]
      if (candidate === undefined) return
      const { criteria } = candidate.entry
      if (criteria.objectSelector === undefined || matchesObjectSelector(criteria, attributes))
        left.push(candidate)
    }
    if (found === undefined) {
      for (const position of others) add(position)
      return left
    }
    const all = [...others]
    for (const position of found) if (isLeft[position] === 1) all.push(position)
    for (const position of all.sort((a, b) => a - b)) add(position)
    return left
  }

  /**
   * Returns the selection for a namespace. Selections are cached by labels and not by
   * resourceVersion, because the same resourceVersion can have other labels after a restore of
   * etcd.
   */
  #leftIn({ metadata: { name = '', labels } }: KubeObject): RemainingCandidates {
    const known = this.#places.get(name)
    if (known !== undefined && isSame(known.labels, labels)) return known.left
    const isIn = ({ namespaceSelector }: MatchCriteria): boolean =>
      namespaceSelector === undefined || matchesLabels(namespaceSelector, labels)
    if (this.#places.size >= NAMESPACES_MAX) {
      this.#places.clear()
      this.#distinct.clear()
    }
    const left = this.#leftWhere(
      ({ criteria, bindings }) =>
        isIn(criteria) && (bindings === undefined || bindings.some((one) => isIn(one.criteria))),
    )
    this.#places.set(name, { labels, left })
    this.#memory.bytes += PLACE_BYTES
    return left
  }

  #leftWhere(isIn: (entry: T) => boolean): RemainingCandidates {
    const isLeft = Uint8Array.from(this.#candidates, ({ entry }) => (isIn(entry) ? 1 : 0))
    const key = Buffer.from(isLeft.buffer).toString('latin1')
    const known = this.#distinct.get(key)
    if (known !== undefined) return known
    const left = {
      isLeft,
      others: this.#labels.others.filter((position) => isLeft[position] === 1),
    }
    this.#distinct.set(key, left)
    this.#memory.bytes += isLeft.length * CANDIDATE_BYTES
    return left
  }
}
