/**
 * Finds selectors by a label that they require. The duration of a lookup depends on the labels of
 * the object, not on the number of selectors.
 */
import type { Labels, Requirement } from '../../api/label-selector.ts'

type Selector = readonly Requirement[]

/**
 * The selectors that require a certain label, by their position in the list. `any` has the
 * selectors that accept any value of the label, and `byValue` those that accept certain values.
 */
type Requiring = { readonly any: number[]; readonly byValue: Map<string, number[]> }

export class LabelIndex {
  /** Positions of selectors that do not require a label, and of selectors that are not valid. */
  readonly others: readonly number[]
  readonly #byKey = new Map<string, Requiring>()

  /** Builds the index. Undefined stands for a selector that is not valid. */
  constructor(selectors: readonly (Selector | undefined)[]) {
    const others: number[] = []
    for (const [position, selector] of selectors.entries()) {
      const required = selector?.find(requiresLabel)
      if (required === undefined) others.push(position)
      else this.#add(required, position)
    }
    this.others = others
  }

  /**
   * Returns the positions of the selectors that require a label which one of the given objects has.
   * The caller must check the other requirements of these selectors. Returns undefined if there are
   * no such selectors.
   */
  find(...each: readonly (Labels | undefined)[]): ReadonlySet<number> | undefined {
    if (this.#byKey.size === 0) return undefined
    let found: Set<number> | undefined
    for (const labels of each) {
      if (labels === undefined) continue
      for (const key in labels) {
        const requiring = this.#byKey.get(key)
        if (requiring === undefined || !Object.hasOwn(labels, key)) continue
        const ofValue = requiring.byValue.get(labels[key] ?? '') ?? none
        if (requiring.any.length === 0 && ofValue.length === 0) continue
        found ??= new Set()
        for (const position of requiring.any) found.add(position)
        for (const position of ofValue) found.add(position)
      }
    }
    return found
  }

  #add(required: Requirement, position: number): void {
    let requiring = this.#byKey.get(required.key)
    if (requiring === undefined)
      this.#byKey.set(required.key, (requiring = { any: [], byValue: new Map() }))
    if (required.operator !== 'in') {
      requiring.any.push(position)
      return
    }
    for (const value of required.values) {
      const known = requiring.byValue.get(value)
      if (known === undefined) requiring.byValue.set(value, [position])
      else known.push(position)
    }
  }
}

const none: readonly number[] = []

/** Returns whether the requirement excludes all objects without the label. */
const requiresLabel = ({ operator }: Requirement): boolean =>
  operator !== 'absent' && operator !== 'notin'
