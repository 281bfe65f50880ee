/** Finds the fields in which two versions of an object differ. */
import { isDeepStrictEqual } from 'node:util'

/** A field of an object that a write changed. */
export type FieldChange = {
  /**
   * The path, such as `.spec.replicas` or `.status.conditions[type="Ready"].status`. If a whole
   * object or list was added or removed, its path is reported once.
   */
  readonly path: string
  /** The value before the write. Undefined if the field did not exist. */
  readonly before: unknown
  /** The value after the write. Undefined if the field no longer exists. */
  readonly after: unknown
}

/** Maximum number of changes that are reported for a write. */
export const CHANGES_MAX = 50
/**
 * Maximum nesting depth at which fields are compared one by one. Values that are nested more deeply
 * are compared as a whole.
 */
const DEPTH_MAX = 32

/** Fields that the server itself changes in each write. */
const maintained: ReadonlySet<string> = new Set([
  '.metadata.managedFields',
  '.metadata.resourceVersion',
  '.metadata.generation',
])

/** The value that replaces the data of a Secret. */
export const HIDDEN = '(hidden)'

/**
 * Returns the changed fields of an object, in the order of the fields, up to the maximum number.
 * Omits fields that the server itself changes in each write.
 */
export function changesBetween(before: object, after: object): FieldChange[] {
  const changes: FieldChange[] = []
  for (const change of compare(before, after, { path: '', depth: 0 })) {
    changes.push(change)
    if (changes.length === CHANGES_MAX) break
  }
  return changes
}

/**
 * Replaces the values of a Secret, except for metadata. Annotations are also replaced, because they
 * may contain the whole object.
 */
export const withoutSecrets = (changes: readonly FieldChange[]): FieldChange[] =>
  changes.map(({ path, before, after }) =>
    path.startsWith('.metadata.') && !path.startsWith('.metadata.annotations')
      ? { path, before, after }
      : { path, before: hidden(before), after: hidden(after) },
  )

const hidden = (value: unknown): unknown => (value === undefined ? undefined : HIDDEN)

type Position = { readonly path: string; readonly depth: number }

function* compare(
  before: unknown,
  after: unknown,
  { path, depth }: Position,
): Generator<FieldChange> {
  if (maintained.has(path)) return
  const pairs = depth < DEPTH_MAX ? pairsOf(before, after) : undefined
  if (pairs === undefined) {
    if (!isDeepStrictEqual(before, after)) yield { path, before, after }
    return
  }
  for (const [step, [old, now]] of pairs)
    yield* compare(old, now, { path: path + step, depth: depth + 1 })
}

type Pairs = ReadonlyMap<string, readonly [unknown, unknown]>

/**
 * Returns pairs of fields or list items that must be compared. Each pair has a key such as `.spec`
 * or `[0]`, which is a part of its path. Returns undefined if the two values are not both objects
 * or both lists, so that they must be compared as a whole.
 */
function pairsOf(before: unknown, after: unknown): Pairs | undefined {
  if (Array.isArray(before) && Array.isArray(after)) return pairsOfLists(before, after)
  if (!isRecord(before) || !isRecord(after)) return undefined
  return merged(
    new Map(Object.entries(before).map(([name, value]) => [`.${name}`, value])),
    new Map(Object.entries(after).map(([name, value]) => [`.${name}`, value])),
  )
}

/**
 * Compares list items that have the same key, as server-side apply does. The schema of the list is
 * not known here. The first field among `name`, `type` and `key` that identifies all items is
 * therefore used as the key.
 */
function pairsOfLists(before: readonly unknown[], after: readonly unknown[]): Pairs {
  for (const key of ['name', 'type', 'key']) {
    const [old, now] = [byKey(before, key), byKey(after, key)]
    if (old !== undefined && now !== undefined) return merged(old, now)
  }
  return merged(byIndex(before), byIndex(after))
}

/**
 * Returns the items of a list by a part of their path, such as `[name="web"]`. Returns undefined
 * unless the field `key` identifies each item.
 */
function byKey(items: readonly unknown[], key: string): ReadonlyMap<string, unknown> | undefined {
  const found = new Map<string, unknown>()
  for (const item of items) {
    const value: unknown = isRecord(item) ? item[key] : undefined
    const step = `[${key}=${JSON.stringify(value)}]`
    if (typeof value !== 'string' || found.has(step)) return undefined
    found.set(step, item)
  }
  return found
}

const byIndex = (items: readonly unknown[]): ReadonlyMap<string, unknown> =>
  new Map(items.map((item, at) => [`[${at}]`, item]))

const merged = (before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): Pairs =>
  new Map(
    [...new Set([...before.keys(), ...after.keys()])].map((step) => [
      step,
      [before.get(step), after.get(step)],
    ]),
  )

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
