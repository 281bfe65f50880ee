/** Finds the differences between two responses, and removes values that are not compared. */
import { isRecord, type Json } from './json.ts'

/**
 * Maximum number of differences that are printed. Completely different lists have thousands of
 * differences.
 */
const DIFFERENCES_MAX = 40
/** Maximum length of a printed value, in characters. */
const SHOWN_LENGTH_MAX = 300

/**
 * Returns the differences as lines, each with the path of the value. An empty list means that the
 * values are equal.
 */
export function diff(want: Json | undefined, got: Json | undefined): string[] {
  const lines: string[] = []
  collect(want, got, '$', lines)
  return lines
}

function collect(
  want: Json | undefined,
  got: Json | undefined,
  path: string,
  lines: string[],
): void {
  if (lines.length > DIFFERENCES_MAX) return
  if (!isTree(want) || !isTree(got) || Array.isArray(want) !== Array.isArray(got)) {
    if (want !== got) lines.push(`${path}: expected ${shown(want)}, got ${shown(got)}`)
    return
  }
  if (Array.isArray(want) && Array.isArray(got) && want.length !== got.length)
    lines.push(`${path}: ${want.length} entries expected, got ${got.length}`)
  const wanted = new Map(Object.entries(want))
  const came = new Map(Object.entries(got))
  for (const key of new Set([...wanted.keys(), ...came.keys()])) {
    const at = Array.isArray(want) ? `${path}[${key}]` : `${path}.${key}`
    if (!wanted.has(key)) lines.push(`${at}: not expected, got ${shown(came.get(key))}`)
    else if (!came.has(key)) lines.push(`${at}: expected ${shown(wanted.get(key))}, absent`)
    else collect(wanted.get(key), came.get(key), at, lines)
  }
}

/**
 * Deletes the values at the given paths, such as 'metadata.managedFields' or
 * 'items.*.metadata.uid', because a step ignores them. Changes the object itself.
 */
export function dropPaths(value: unknown, paths: readonly string[] = []): void {
  for (const path of paths) dropPath(value, path.split('.'))
}

function dropPath(value: unknown, [head, ...rest]: readonly string[]): void {
  if (typeof value !== 'object' || value === null || head === undefined) return
  for (const key of head === '*' ? Object.keys(value) : [head]) {
    if (!(key in value)) continue
    if (rest.length === 0) Reflect.deleteProperty(value, key)
    else dropPath(Reflect.get(value, key), rest)
  }
}

/** Returns a copy without the fields that have one of these names, at any depth. */
export function withoutFields(value: Json, names: readonly string[]): Json {
  if (names.length === 0 || !isTree(value)) return value
  if (Array.isArray(value)) return value.map((entry) => withoutFields(entry, names))
  const kept = Object.entries(value).filter(([key]) => !names.includes(key))
  return Object.fromEntries(kept.map(([key, entry]) => [key, withoutFields(entry, names)]))
}

/**
 * Returns a copy in which the entries of managedFields are sorted by name. Servers sort them by the
 * second in which they were written, which differs between runs. Scenarios that compare times do
 * not use this copy.
 */
export function sortManagedFields(value: Json): Json {
  if (!isTree(value)) return value
  if (Array.isArray(value)) return value.map(sortManagedFields)
  const entries = Object.entries(value).map(([key, entry]): [string, Json] =>
    key === 'managedFields' && Array.isArray(entry)
      ? [key, entry.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))]
      : [key, sortManagedFields(entry)],
  )
  return Object.fromEntries(entries)
}

const rank = (entry: Json): string => {
  const field = (name: string): unknown => (isRecord(entry) ? (entry[name] ?? '') : '')
  return [field('operation'), field('manager'), field('apiVersion'), field('subresource')].join(
    '\0',
  )
}

const isTree = (value: Json | undefined): value is Json[] | { [key: string]: Json } =>
  typeof value === 'object' && value !== null

const shown = (value: Json | undefined): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text
}
