/**
 * Computes the next step of a coordinated election (KEP-4355) from the stored objects. Candidates
 * that have not renewed recently are pinged. The best candidate among those that answer in time
 * becomes the holder of the Lease. If the Lease already has a holder, the best candidate is
 * recorded as the preferred holder, and the current holder then steps down.
 */
import { type Fields, fieldsOf, numberOf, textOf } from '../../api/object.ts'
import { microTime } from '../../api/timestamps.ts'
import { type Candidate, hasAnswered, oldestOf, strategyOf, timeOf } from './candidate.ts'

/**
 * Time that candidates have to answer a ping, and time for which a renewal counts as an answer.
 * This value and the values below are the same as in kube-apiserver.
 */
export const ELECTION_MS = 5_000
/** A candidate that has not renewed for this time is no longer considered. */
export const CANDIDATE_VALID_MS = 30 * 60 * 1000
const LEASE_SECONDS = 5
/**
 * The strategy that this controller implements. For other strategies, it creates the Lease without
 * a holder, and another program chooses the holder.
 */
const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion'

export type Step =
  /** The election is over. No action is needed until a candidate or the Lease changes. */
  | { readonly kind: 'settled' }
  /** Some candidates that were pinged still have time to answer. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'ping'; readonly candidates: readonly Candidate[] }
  /** The Lease must get this spec. */
  | { readonly kind: 'write'; readonly spec: Fields }

export const isExpiredCandidate = ({ renewedMs }: Candidate, nowMs: number): boolean =>
  renewedMs === undefined || renewedMs + CANDIDATE_VALID_MS < nowMs

/**
 * Returns the next step. `lease` is the spec of the Lease, or undefined if it does not exist.
 * `candidates` must not contain expired ones.
 */
export function nextStep(
  candidates: readonly Candidate[],
  lease: Fields | undefined,
  nowMs: number,
): Step {
  if (candidates.length === 0 || !needsElection(candidates, lease, nowMs))
    return { kind: 'settled' }
  const pinged = candidates.filter((candidate) => isSilent(candidate, nowMs))
  if (pinged.length > 0) return { kind: 'ping', candidates: pinged }
  if (candidates.some((candidate) => isAwaited(candidate, nowMs))) return { kind: 'wait' }
  const present = candidates.filter(({ renewedMs }) => isWithin(renewedMs, nowMs))
  const strategy = strategyOf(present)
  if (strategy === undefined) return { kind: 'wait' }
  // If the Lease has expired, its last holder is treated like any other candidate.
  const holder =
    lease === undefined || isExpired(lease, nowMs) ? '' : textOf(lease['holderIdentity'])
  const elected =
    strategy === OLDEST_EMULATION_VERSION ? oldestOf(present, holder)?.name : undefined
  const spec = specOf({ strategy, elected }, lease, nowMs)
  return spec === undefined ? { kind: 'settled' } : { kind: 'write', spec }
}

function needsElection(
  candidates: readonly Candidate[],
  lease: Fields | undefined,
  nowMs: number,
): boolean {
  if (lease === undefined || isExpired(lease, nowMs) || textOf(lease['holderIdentity']) === '')
    return true
  // Candidates must be pinged before they expire.
  if (candidates.some(({ renewedMs = 0 }) => renewedMs + CANDIDATE_VALID_MS / 2 < nowMs))
    return true
  if (strategyOf(candidates) !== OLDEST_EMULATION_VERSION) return false
  const holder = textOf(lease['holderIdentity'])
  const best = oldestOf(candidates, holder)
  return best !== undefined && best.name !== holder
}

const isWithin = (ms: number | undefined, nowMs: number): boolean =>
  ms !== undefined && ms + ELECTION_MS > nowMs

const isAwaited = (candidate: Candidate, nowMs: number): boolean =>
  !hasAnswered(candidate) && isWithin(candidate.pingedMs, nowMs)

/**
 * Whether to ping a candidate. If the candidate did not answer its last ping, it gets no further
 * ping, and is considered again only after it has renewed by itself.
 */
const isSilent = (candidate: Candidate, nowMs: number): boolean =>
  !isWithin(candidate.renewedMs, nowMs) &&
  !isWithin(candidate.pingedMs, nowMs) &&
  hasAnswered(candidate)

function isExpired(lease: Fields, nowMs: number): boolean {
  const renewedMs = timeOf(lease['renewTime'])
  const seconds = lease['leaseDurationSeconds'] ?? null
  return renewedMs === undefined || seconds === null || renewedMs + 1000 * numberOf(seconds) < nowMs
}

type Result = { readonly strategy: string; readonly elected: string | undefined }

/** Returns the spec that the Lease should have, or undefined if it is already right. */
function specOf(
  { strategy, elected }: Result,
  lease: Fields | undefined,
  nowMs: number,
): Fields | undefined {
  const renewed = { leaseDurationSeconds: LEASE_SECONDS, renewTime: microTime(nowMs) }
  if (lease === undefined)
    return { strategy, ...renewed, ...(elected === undefined ? {} : { holderIdentity: elected }) }
  const holder = textOf(lease['holderIdentity'])
  if (elected !== undefined && elected !== holder) {
    if (holder !== '' && !isExpired(lease, nowMs)) {
      const isRecorded = lease['preferredHolder'] === elected && lease['strategy'] === strategy
      return isRecorded ? undefined : { ...lease, strategy, preferredHolder: elected }
    }
    const { preferredHolder: _, acquireTime: __, ...kept } = lease
    return { ...fieldsOf(kept), strategy, holderIdentity: elected, ...renewed }
  }
  return lease['strategy'] === strategy ? undefined : { ...lease, strategy }
}
