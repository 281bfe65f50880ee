/**
 * Matches objects against a label selector and a field selector. Reads the encoded labels and
 * fields that are stored with an object's bytes (facts.ts). If there are none yet, reads the
 * decoded object.
 */
import { matchesLabels, matchesRequirement, type Requirement } from '../../api/label-selector.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Key } from '../engine.ts'
import { type Facts, FactsReader, SoughtText } from './facts.ts'
import { type Item, LOOK_BYTES, type Matches } from './item.ts'

export type Selector = {
  readonly requirements: readonly Requirement[]
  readonly terms: readonly SelectorTerm[]
}

export type SelectorTerm = {
  readonly isEqual: boolean
  readonly value: string
} & (
  | { readonly field: string; readonly read: (object: KubeObject) => string }
  /** A term for metadata.name or metadata.namespace. `isOf` returns whether a key has the value. */
  | { readonly isOf: (key: Key) => boolean }
)

/**
 * Returns a function that matches items. Create one function per list or watch, because it caches
 * the numbers of its strings in the vocabulary (facts.ts).
 */
export function selects(selector: Selector): Matches {
  const byFacts = new ByFacts(selector)
  const matches = (item: Item): boolean => byFacts.selects(item) ?? selectsObject(selector, item)
  return Object.assign(matches, { lookBytes: lookBytes(selector) })
}

/**
 * Cost of checking one requirement or term. Like LOOK_BYTES, it is the number of bytes that could
 * be sent in the same time. Checking a requirement takes about sixty nanoseconds.
 */
const ASK_BYTES = 16

/**
 * Returns the cost of matching an object. The values of fields may be long, and they are compared
 * completely.
 */
function lookBytes({ requirements, terms }: Selector): number {
  const characters = terms.reduce((sum, { value }) => sum + value.length, 0)
  return Math.max(LOOK_BYTES, ASK_BYTES * (requirements.length + terms.length) + characters / 4)
}

/**
 * Matches the decoded object. Stores its labels and fields in encoded form, so that the next
 * selector does not have to decode it. Retains a selected object, because it is sent to the client.
 */
function selectsObject({ requirements, terms }: Selector, item: Item): boolean {
  const object = item.peek()
  item.recordFacts(object)
  const isSelected =
    terms.every((term) => hasValue(term, item, object) === term.isEqual) &&
    matchesLabels(requirements, object.metadata.labels)
  if (isSelected) item.keepObject(object)
  return isSelected
}

const hasValue = (term: SelectorTerm, item: Item, object: KubeObject): boolean =>
  'isOf' in term ? term.isOf(item.key) : term.read(object) === term.value

type FieldSought = {
  readonly sought: SoughtText
  readonly isEqual: boolean
  readonly field: string
  place: number
}
type LabelSought = {
  readonly requirement: Requirement
  readonly key: SoughtText
  /**
   * The values to compare with, in encoded form. Undefined if the label's value must be decoded to
   * a string for the comparison.
   */
  readonly values: readonly SoughtText[] | undefined
}

/**
 * Maximum number of requirements, or of values in a requirement, that are compared one by one in
 * encoded form. If there are more, the labels of the object are decoded.
 */
const FEW = 8

class ByFacts {
  readonly #keyTerms: readonly Extract<SelectorTerm, { isOf: unknown }>[]
  readonly #fields: readonly FieldSought[]
  readonly #labels: readonly LabelSought[]
  /** All requirements, if there are too many for `#labels`. */
  readonly #byText: readonly Requirement[]
  readonly #reader = new FactsReader()
  /**
   * The encoder (facts.ts) in whose vocabulary the strings of the selector were last looked up, and
   * its value of `changes` at that time.
   */
  #facts: Facts | undefined
  #changes = 0
  #hasAllFields = false

  constructor({ requirements, terms }: Selector) {
    this.#keyTerms = terms.filter((term) => 'isOf' in term)
    this.#fields = terms
      .filter((term) => 'field' in term)
      .map(({ field, value, isEqual }) => ({
        sought: new SoughtText(value),
        isEqual,
        field,
        place: 0,
      }))
    const areFew = requirements.length <= FEW
    this.#byText = areFew ? [] : requirements
    this.#labels = (areFew ? requirements : []).map((requirement) => ({
      requirement,
      key: new SoughtText(requirement.key),
      values: soughtValues(requirement),
    }))
  }

  /**
   * Returns whether the item is selected. Returns undefined if the encoded labels and fields are
   * not sufficient to decide this.
   */
  selects(item: Item): boolean | undefined {
    for (const { isOf, isEqual } of this.#keyTerms) if (isOf(item.key) !== isEqual) return false
    if (this.#fields.length === 0 && this.#labels.length === 0 && this.#byText.length === 0)
      return true
    if (item.tailBytes === 0) item.settle()
    const { facts, slab } = item
    if (facts === undefined || slab === undefined || !item.hasFacts) return undefined
    if (facts !== this.#facts || facts.changes !== this.#changes) this.#lookUp(facts)
    if (!this.#hasAllFields) return undefined
    const start = item.at + item.length
    const reader = this.#reader
    for (const { sought, isEqual, place } of this.#fields) {
      reader.openField(facts, slab.bytes, { at: start, place })
      if (reader.is(sought) !== isEqual) return false
    }
    for (const label of this.#labels) {
      const has = reader.openLabel(facts, slab.bytes, { at: start, key: label.key })
      if (
        !(has ? hasValueOf(reader, label, facts) : matchesRequirement(label.requirement, undefined))
      )
        return false
    }
    if (this.#byText.length === 0) return true
    const labels = reader.labels(facts, slab.bytes, start)
    return this.#byText.every((requirement) =>
      matchesRequirement(requirement, labels.get(requirement.key)),
    )
  }

  #lookUp(facts: Facts): void {
    this.#facts = facts
    this.#changes = facts.changes
    const places = this.#fields.map(({ field }) => facts.placeOf(field))
    this.#hasAllFields = !places.includes(undefined)
    for (const [at, field] of this.#fields.entries()) field.place = places[at] ?? 0
    const all = [...this.#fields, ...this.#labels].flatMap((one) =>
      'sought' in one ? one.sought : [one.key, ...(one.values ?? [])],
    )
    for (const sought of all) facts.lookUp(sought)
  }
}

const soughtValues = (requirement: Requirement): SoughtText[] | undefined =>
  'values' in requirement && requirement.values.size <= FEW
    ? [...requirement.values].map((value) => new SoughtText(value))
    : undefined

/**
 * Whether the value of a label meets the requirement. `reader` must be positioned before this
 * value.
 */
function hasValueOf(
  reader: FactsReader,
  { requirement, values }: LabelSought,
  facts: Facts,
): boolean {
  if (values === undefined) return matchesRequirement(requirement, reader.text(facts))
  return isOneOf(reader, values) === (requirement.operator === 'in')
}

function isOneOf(reader: FactsReader, values: readonly SoughtText[]): boolean {
  const first = values[0]
  if (values.length === 1 && first !== undefined) return reader.is(first)
  const { at } = reader
  return values.some((value) => reader.isAt(at, value))
}
