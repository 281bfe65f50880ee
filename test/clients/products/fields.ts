/**
 * Returns the value at a path in a value of unknown structure, or undefined if the path does not
 * exist.
 */
import { isRecord } from '../../recorded/compat/json.ts'

type Path = readonly (string | number)[]

export function at(value: unknown, ...path: Path): unknown {
  let here = value
  for (const key of path) {
    if (Array.isArray(here) && typeof key === 'number') here = here[key]
    else if (isRecord(here)) here = here[key]
    else return undefined
  }
  return here
}

export function arrayAt(value: unknown, ...path: Path): readonly unknown[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

export function textAt(value: unknown, ...path: Path): string {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}

export function recordAt(value: unknown, ...path: Path): Record<string, unknown> {
  const found = at(value, ...path)
  return isRecord(found) ? found : {}
}
