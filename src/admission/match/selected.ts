/**
 * Leaves out webhooks and policies whose selectors do not match, before anything is done for each
 * of them. What many namespace selectors say is worked out once for each namespace, and again when
 * it changes; object selectors are found by the labels of the object.
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

/** `bindings`: of a policy, which does nothing where none of them matches. */
type Selecting = {
  readonly criteria: MatchCriteria
  readonly bindings?: readonly { readonly criteria: MatchCriteria }[]
}

/** Namespaces that are remembered for one list of candidates. */
const NAMESPACES_MAX = 1_000
/**
 * For all lists together, of which there may be one for each resource and operation. Beyond it,
 * everything is forgotten.
 */
const MEMORY_BYTES_MAX = 32 << 20
/** Roughly, of a namespace that is remembered. */
const PLACE_BYTES = 200
/** Roughly, of what is said about a candidate: a byte, a character of the key, and a position. */
const CANDIDATE_BYTES = 10

export class SelectorIndex<T extends Selecting> {
  readonly #objects: Pick<Objects, 'get'>
  /** By the lists of the index, which are replaced when configurations change. */
  #known = new WeakMap<readonly Candidate<T>[], Selectors<T>>()
  #memory: Memory = { bytes: 0 }

  constructor(objects: Pick<Objects, 'get'>) {
    this.#objects = objects
  }

  /**
   * In their order. What remains may still not match: a namespace that is not in memory, or a
   * selector that is not valid, is left to the caller (`isDecided`).
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

/** Whether the selectors of what remained have been looked at. */
export const isDecided = (
  { namespaceSelector, objectSelector }: MatchCriteria,
  { known }: Attributes,
): boolean =>
  known.namespace !== undefined && namespaceSelector !== undefined && objectSelector !== undefined

/** What all lists take, roughly. */
type Memory = { bytes: number }

/**
 * Which candidates are left in a namespace, and of these the positions of those whose object
 * selectors require no label.
 */
type RemainingCandidates = { readonly isLeft: Uint8Array; readonly others: readonly number[] }

/** A namespace: `left` holds while it has these labels. */
type NamespaceSelection = {
  readonly labels: KubeObject['metadata']['labels']
  readonly left: RemainingCandidates
}

/** The selectors of one list of candidates. */
class Selectors<T extends Selecting> {
  readonly #candidates: readonly Candidate<T>[]
  readonly #labels: LabelIndex
  readonly #places = new Map<string, NamespaceSelection>()
  /** Most namespaces are alike to selectors. */
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
   * By its labels, not by its resourceVersion: after a restore of etcd the same one may mean other
   * labels.
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
