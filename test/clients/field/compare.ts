/** Finds differences between the responses of two servers. */
import { isDeepStrictEqual } from 'node:util'
import type { Records, Verdict } from './record.ts'

/**
 * Maximum length of a value in a report, so that the report stays readable when all values differ.
 */
const TEXT_MAX = 400

export function compareRecords(ours: Records, theirs: Records): readonly string[] {
  const faults: string[] = []
  for (const id of new Set([...ours.keys(), ...theirs.keys()])) {
    const [own, other] = [ours.get(id), theirs.get(id)]
    if (own === undefined || other === undefined)
      faults.push(`${id}: only ${own === undefined ? 'the reference' : 'Keelson'} has a response`)
    else if (!isDeepStrictEqual(own, other)) faults.push(`${id} ${differenceOf(own, other)}`)
  }
  return faults
}

function differenceOf(own: Verdict, other: Verdict): string {
  if (own.status !== other.status || !isDeepStrictEqual(own.causes, other.causes)) {
    const mine = only(own.causes, other.causes)
    const yours = only(other.causes, own.causes)
    return [
      `${own.status} instead of ${other.status}`,
      ...mine.map((text) => `  Keelson:   ${text}`),
      ...yours.map((text) => `  reference: ${text}`),
    ].join('\n')
  }
  return difference({ ...own }, { ...other }, '')
}

/** Describes the first difference between two values. */
function difference(one: unknown, other: unknown, path: string): string {
  if (typeof one === 'object' && typeof other === 'object' && one !== null && other !== null) {
    const mine = new Map<string, unknown>(Object.entries(one))
    const yours = new Map<string, unknown>(Object.entries(other))
    for (const key of new Set([...mine.keys(), ...yours.keys()])) {
      if (!isDeepStrictEqual(mine.get(key), yours.get(key)))
        return difference(mine.get(key), yours.get(key), `${path}.${key}`)
    }
  }
  return `${path}: ${JSON.stringify(one)?.slice(0, TEXT_MAX)} instead of ${JSON.stringify(other)?.slice(0, TEXT_MAX)}`
}

const only = (one: readonly string[], other: readonly string[]): readonly string[] =>
  one.filter((text) => !other.includes(text))
