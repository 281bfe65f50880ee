/** Finds, sets and deletes values at paths in JSON. */
import { isRecord, type Json } from '../../recorded/compat/json.ts'

export type Path = (string | number)[]
export type JsonPosition = { readonly path: Path; readonly value: Json }

/** Yields every position in a value, beginning with the root. */
export function* places(value: Json, path: Path = []): Generator<JsonPosition> {
  yield { path, value }
  if (Array.isArray(value))
    for (const [index, entry] of value.entries()) yield* places(entry, [...path, index])
  else if (isRecord(value))
    for (const [key, entry] of Object.entries(value)) yield* places(entry, [...path, key])
}

export const valueAt = (value: Json | undefined, path: Path): Json | undefined =>
  path.reduce(child, value)

export function child(value: Json | undefined, key: string | number): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)]
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Returns the string at a field, or an empty string. */
export function textAt(value: Json | undefined, key: string): string {
  const text = child(value, key)
  return typeof text === 'string' ? text : ''
}

/**
 * Sets a value in place. Missing parents become objects. Does nothing if a parent is a scalar.
 */
export function setAt(root: Json, path: Path, value: Json): void {
  let here: Json = root
  for (const key of path.slice(0, -1)) {
    const next: Json = child(here, key) ?? {}
    put(here, key, next)
    here = next
  }
  const last = path.at(-1)
  if (last !== undefined) put(here, last, value)
}

function put(holder: Json, key: string | number, value: Json): void {
  if (Array.isArray(holder)) holder[Math.min(Number(key) || 0, holder.length)] = value
  else if (isRecord(holder)) holder[key] = value
}

/** Deletes a value in place. Returns whether the value existed. */
export function deleteAt(root: Json, path: Path): boolean {
  const holder = valueAt(root, path.slice(0, -1))
  const last = path.at(-1)
  if (last === undefined || child(holder, last) === undefined) return false
  if (Array.isArray(holder)) holder.splice(Number(last), 1)
  else if (isRecord(holder)) delete holder[last]
  return true
}
