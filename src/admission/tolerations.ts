/**
 * Merges tolerations, and compares them with a whitelist. A toleration is redundant if another one
 * covers it. Tolerations are indexed, so that long lists do not take quadratic time.
 */
import { type Fields, textOf } from '../api/object.ts'
import { eachItem, everyItem, mapEach } from '../lib/scheduling/parts.ts'
import { identityOf } from '../objects/schema/equal.ts'

/**
 * Returns the tolerations that no other toleration covers. Of several equal tolerations, the first
 * one is kept.
 */
export function mergeTolerations(tolerations: readonly Fields[]): readonly Fields[] {
  const given = mapEach('tolerations to merge', tolerations, tolerationOf)
  const coveredLater = coveredByLater(given)
  return eachItem('merged tolerations', given, newMerge, ({ cover, ids, kept }, one) => {
    if (ids.has(one.id) || cover.has(one) || coveredLater.has(one)) return true
    ids.add(one.id)
    cover.add(one)
    kept.push(one.fields)
    return true
  }).kept
}

type Merge = {
  readonly cover: TolerationCover
  readonly ids: Set<string>
  readonly kept: Fields[]
}

const newMerge = (): Merge => ({ cover: new TolerationCover(), ids: new Set(), kept: [] })

/** Returns the tolerations that a later toleration covers. */
function coveredByLater(given: readonly Toleration[]): ReadonlySet<Toleration> {
  return eachItem(
    'tolerations covered by later ones',
    given,
    () => ({ later: new TolerationCover(), covered: new Set<Toleration>() }),
    ({ later, covered }, _, at) => {
      const one = given[given.length - 1 - at]
      if (one === undefined) return false
      if (later.hasOther(one)) covered.add(one)
      later.add(one)
      return true
    },
  ).covered
}

/**
 * Returns whether each toleration is in the whitelist or covered by a toleration in the whitelist.
 */
export function areCovered(tolerations: readonly Fields[], whitelist: readonly Fields[]): boolean {
  const { cover, ids } = eachItem(
    'whitelist of tolerations',
    whitelist,
    newMerge,
    (all, fields) => {
      const one = tolerationOf(fields)
      all.ids.add(one.id)
      if (operators.has(one.operator)) all.cover.add(one)
      return true
    },
  )
  return everyItem('allowed tolerations', tolerations, (fields) => {
    const one = tolerationOf(fields)
    return ids.has(one.id) || cover.has(one)
  })
}

/** Operators of the tolerations that can cover other tolerations. An empty operator means Equal. */
const operators: ReadonlySet<string> = new Set(['', 'Equal', 'Exists'])

type Toleration = {
  readonly fields: Fields
  /** A string that is the same for equal tolerations. */
  readonly id: string
  readonly key: string
  readonly operator: string
  readonly value: string
  readonly effect: string
  readonly seconds: number
}

const tolerationOf = (fields: Fields): Toleration => ({
  fields,
  id: identityOf(fields),
  key: textOf(fields['key']),
  operator: textOf(fields['operator']),
  value: textOf(fields['value']),
  effect: textOf(fields['effect']),
  // A toleration without seconds applies forever.
  seconds:
    fields['tolerationSeconds'] === undefined ? Infinity : Number(fields['tolerationSeconds']),
})

/**
 * Returns the index key. Tolerations have the same key if they differ only in their seconds or in
 * fields that have no effect.
 */
const placeOf = ({ key, effect, operator, value }: Toleration): string =>
  printPlace(key, effect, operator === 'Exists' ? null : value)

/**
 * Returns the index keys of tolerations that could cover this one. An empty key means all keys, and
 * an empty effect means all effects.
 */
const placesAround = ({ key, effect, operator, value }: Toleration): readonly string[] =>
  ['', effect].flatMap((wide) => [
    printPlace(key, wide, null),
    printPlace('', wide, null),
    ...(operator === 'Equal' ? [printPlace(key, wide, value)] : []),
  ])

const printPlace = (key: string, effect: string, value: string | null): string =>
  JSON.stringify([key, effect, value])

/**
 * Index of tolerations. Of several tolerations with the same index key, only those that apply for
 * the longest time are needed.
 */
class TolerationCover {
  readonly #places = new Map<string, LongestToleration>()

  add(one: Toleration): void {
    const place = placeOf(one)
    const known = this.#places.get(place)
    if (known === undefined) this.#places.set(place, new LongestToleration(one))
    else known.add(one)
  }

  has(one: Toleration): boolean {
    return this.#around(one).some(({ first }) => isLongEnough(first, one))
  }

  /** Returns whether the index contains a different toleration that covers this one. */
  hasOther(one: Toleration): boolean {
    return this.#around(one).some((longest) => {
      const other = longest.besides(one)
      return other !== undefined && isLongEnough(other, one)
    })
  }

  #around(one: Toleration): readonly LongestToleration[] {
    return placesAround(one).flatMap((place) => this.#places.get(place) ?? [])
  }
}

/**
 * Returns whether `wide` applies at least as long as `narrow`. A duration has an effect only in
 * tolerations of the effect NoExecute.
 */
const isLongEnough = (wide: Toleration, narrow: Toleration): boolean =>
  wide.effect !== 'NoExecute' || wide.seconds >= narrow.seconds

/**
 * Two tolerations with the same index key: the toleration that applies longest (`first`), and the
 * toleration that applies longest among those that differ from the first.
 */
class LongestToleration {
  first: Toleration
  #second: Toleration | undefined

  constructor(first: Toleration) {
    this.first = first
  }

  add(one: Toleration): void {
    if (one.id === this.first.id) return
    if (one.seconds > this.first.seconds) {
      this.#second = this.first
      this.first = one
    } else if (this.#second === undefined || one.seconds > this.#second.seconds) this.#second = one
  }

  besides({ id }: Toleration): Toleration | undefined {
    return id === this.first.id ? this.#second : this.first
  }
}
