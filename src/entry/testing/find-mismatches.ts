/** Finds the fields in which an object differs from the expected fields. */
import { isDeepStrictEqual } from 'node:util'

export type Mismatch = {
  /** The path, such as `.spec.containers[0].image`. */
  readonly path: string
  readonly actual: unknown
  readonly wanted: unknown
}

/** Maximum number of fields that are reported. */
const MISMATCHES_MAX = 5

/**
 * Returns the first few expected fields that the object does not have or that have other values.
 */
export function findMismatches(actual: unknown, wanted: unknown): Mismatch[] {
  const mismatches: Mismatch[] = []
  for (const mismatch of compare(actual, wanted, '')) {
    mismatches.push(mismatch)
    if (mismatches.length === MISMATCHES_MAX) break
  }
  return mismatches
}

function* compare(actual: unknown, wanted: unknown, path: string): Generator<Mismatch> {
  if (Array.isArray(actual) && Array.isArray(wanted) && actual.length === wanted.length) {
    for (const [at, item] of wanted.entries()) yield* compare(actual[at], item, `${path}[${at}]`)
  } else if (isRecord(actual) && isRecord(wanted)) {
    for (const [name, value] of Object.entries(wanted))
      yield* compare(actual[name], value, `${path}.${name}`)
  } else if (!isDeepStrictEqual(actual, wanted)) yield { path, actual, wanted }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
