/**
 * The fields of a LeaseCandidate that an election needs. A time that is absent or invalid is
 * undefined.
 */
import { fieldsOf, type KubeObject, textOf } from '../../api/object.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { compareSemver, parseSemver, type Semver } from '../../api/semver.ts'

export type Candidate = {
  readonly object: KubeObject
  readonly name: string
  readonly leaseName: string
  readonly strategy: string
  readonly emulationVersion: Semver | undefined
  readonly binaryVersion: Semver | undefined
  readonly createdMs: number
  readonly renewedMs: number | undefined
  readonly pingedMs: number | undefined
}

export function candidateOf(object: KubeObject): Candidate {
  const spec = fieldsOf(object['spec'])
  return {
    object,
    name: object.metadata.name ?? '',
    leaseName: textOf(spec['leaseName']),
    strategy: textOf(spec['strategy']),
    emulationVersion: versionOf(textOf(spec['emulationVersion'])),
    binaryVersion: versionOf(textOf(spec['binaryVersion'])),
    createdMs: timeOf(object.metadata.creationTimestamp) ?? 0,
    renewedMs: timeOf(spec['renewTime']),
    pingedMs: timeOf(spec['pingTime']),
  }
}

/** The Lease that candidates compete for. */
export type LeaseReference = { readonly namespace: string; readonly leaseName: string }

/**
 * Returns the Lease of a candidate. The result is retained as long as the object exists. Copy its
 * strings, because a substring would also retain the text from which the object was decoded.
 */
export const placeOf = ({ metadata, spec }: KubeObject): LeaseReference => ({
  namespace: ownText(metadata.namespace ?? ''),
  leaseName: ownText(textOf(fieldsOf(spec)['leaseName'])),
})

/**
 * Whether the candidate has answered the last ping of the server. A candidate answers by renewing
 * its LeaseCandidate.
 */
export const hasAnswered = ({ renewedMs, pingedMs }: Candidate): boolean =>
  pingedMs === undefined || (renewedMs !== undefined && renewedMs >= pingedMs)

/**
 * Returns the strategy of the candidates with the newest binary version. Returns undefined if these
 * candidates disagree.
 */
export function strategyOf(candidates: readonly Candidate[]): string | undefined {
  const [first, ...others] = candidates
  if (first === undefined) return undefined
  let newest = first
  let isAgreed = true
  for (const candidate of others) {
    const order = compare(candidate.binaryVersion, newest.binaryVersion)
    if (order < 0) continue
    if (order > 0) [newest, isAgreed] = [candidate, true]
    else isAgreed &&= candidate.strategy === newest.strategy
  }
  return isAgreed ? newest.strategy : undefined
}

/**
 * Returns the best candidate: the one with the oldest emulation version, then the oldest binary
 * version, then the oldest object. All servers of a cluster are compatible with the oldest version.
 * Creation times have a resolution of one second, so several candidates can be equally good. Of
 * these, returns the current holder of the Lease, or otherwise the first by name.
 */
export function oldestOf(candidates: readonly Candidate[], holder: string): Candidate | undefined {
  const valid = candidates.filter(
    ({ emulationVersion, binaryVersion }) =>
      emulationVersion !== undefined && binaryVersion !== undefined,
  )
  return valid.toSorted(
    (one, other) =>
      compare(one.emulationVersion, other.emulationVersion) ||
      compare(one.binaryVersion, other.binaryVersion) ||
      one.createdMs - other.createdMs ||
      Number(other.name === holder) - Number(one.name === holder) ||
      (one.name < other.name ? -1 : 1),
  )[0]
}

const zero: Semver = { numbers: [0n, 0n, 0n], pre: [] }
const compare = (one = zero, other = zero): number => compareSemver(one, other)

function versionOf(text: string): Semver | undefined {
  const version = parseSemver(text)
  return 'fault' in version ? undefined : version
}

export function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
