/** The Kubernetes versions that `keelson check-crd` can check, and the feature gates of each. */
import type { Gates } from '../../api/gates.ts'
import { oldestMinor, parseRelease } from '../../api/releases.ts'
import { parseFeatureGates } from '../../config/feature-gates.ts'

/**
 * Returns the minor versions that can be checked. `releases` are the releases that Keelson can
 * serve. Older versions can also be checked if the oldest release can emulate them.
 */
export function checkableMinors(releases: readonly number[]): readonly number[] {
  const oldest = Math.min(...releases)
  const emulated = Array.from({ length: oldest - oldestMinor }, (_, at) => oldestMinor + at)
  return [...emulated, ...releases]
}

/**
 * Returns the feature gates of a version. `releases` are the releases that Keelson can serve. CEL
 * rules in new definitions can use the libraries of the previous version, as on a real server of
 * this version. A server that only emulates 1.31 would also allow libraries that 1.31 added.
 */
export function gatesOfMinor(minor: number, releases: readonly number[]): Gates {
  const release = Math.max(minor, Math.min(...releases))
  return parseFeatureGates([], { release, minor, minCompatibility: minor - 1 }).gates
}

export type ParsedVersions =
  | { readonly minors: readonly number[] }
  | { readonly faults: readonly string[] }

/** Parses versions and ranges of versions, separated by commas, such as `1.31-1.33,1.35`. */
export function parseVersions(text: string, known: readonly number[]): ParsedVersions {
  const faults: string[] = []
  const chosen = new Set<number>()
  const read = (version: string): number | undefined => {
    const parsed = parseRelease(version, known)
    if ('minor' in parsed) return parsed.minor
    faults.push(`--versions: ${parsed.fault}`)
    return undefined
  }
  for (const range of text.split(',')) {
    const at = range.indexOf('-')
    const first = read(at === -1 ? range : range.slice(0, at))
    const last = at === -1 ? first : read(range.slice(at + 1))
    if (first === undefined || last === undefined) continue
    if (first > last) faults.push(`--versions: the range ${range} ends before it begins`)
    for (const minor of known) if (minor >= first && minor <= last) chosen.add(minor)
  }
  if (faults.length > 0) return { faults }
  return { minors: known.filter((minor) => chosen.has(minor)) }
}
