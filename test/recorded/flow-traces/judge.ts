/**
 * Compares the results of two servers for the same trace: each priority level's share of the served
 * requests, and the rejected requests of each user.
 */
import type { Outcome } from './send.ts'

/**
 * Maximum difference between the two servers: in a priority level's share of the served requests,
 * and in the fraction of a flow's requests that are rejected.
 */
export const DIFFERENCE_MAX = 0.1
/**
 * Minimum number of requests of a flow. The results of flows with fewer requests are not
 * significant.
 */
const REQUESTS_MIN = 30

export type Verdict = { readonly lines: readonly string[]; readonly faults: readonly string[] }

type RequestCounts = { served: number; refused: number }

const keelson = 'Keelson'
const reference = 'reference'

/**
 * Compares the outcomes. For each server, `levels` maps the UIDs of priority levels to their names.
 */
export function judge(
  ours: readonly Outcome[],
  theirs: readonly Outcome[],
  levels: {
    readonly [keelson]: ReadonlyMap<string, string>
    readonly [reference]: ReadonlyMap<string, string>
  },
): Verdict {
  const lines: string[] = []
  const faults: string[] = []
  const note = (what: string, one: number, other: number): void => {
    const line = `${what}: ${percent(one)} ${keelson}, ${percent(other)} ${reference}`
    lines.push(line)
    if (Math.abs(one - other) > DIFFERENCE_MAX) faults.push(line)
  }
  const wrong = [...ours, ...theirs].filter(({ status }) => ![200, 201, 404, 429].includes(status))
  if (wrong.length > 0)
    lines.push(
      `${wrong.length} responses with other statuses, such as ${wrong[0]?.status}, are not counted`,
    )
  if (wrong.length > (ours.length + theirs.length) / 20)
    faults.push('too many requests failed for a comparison: check whether the machine is busy')
  const byLevel = countBy(ours, ({ level }) => levels[keelson].get(level) ?? level)
  const byTheirs = countBy(theirs, ({ level }) => levels[reference].get(level) ?? level)
  const [served, theirServed] = [totalOf(byLevel), totalOf(byTheirs)]
  for (const level of new Set([...byLevel.keys(), ...byTheirs.keys()])) {
    note(
      `share of ${level}`,
      (byLevel.get(level)?.served ?? 0) / served,
      (byTheirs.get(level)?.served ?? 0) / theirServed,
    )
  }
  const byUser = countBy(ours, groupOf)
  const byTheirUser = countBy(theirs, groupOf)
  const ratios: { readonly user: string; readonly one: number; readonly other: number }[] = []
  for (const [user, counted] of byUser) {
    const other = byTheirUser.get(user)
    if (other === undefined || counted.served + counted.refused < REQUESTS_MIN) continue
    const [one, their] = [refusedPart(counted), refusedPart(other)]
    ratios.push({ user, one, other: their })
    note(`refused of ${user}`, one, their)
  }
  for (const first of ratios) {
    for (const second of ratios) {
      // If kube-apiserver rejects the requests of one user clearly more often than those of another
      // user, Keelson must not do the opposite.
      if (first.other - second.other > DIFFERENCE_MAX && first.one < second.one) {
        faults.push(
          `${first.user} is refused more often than ${second.user} by the ${reference}, but less often by ${keelson}`,
        )
      }
    }
  }
  return { lines, faults }
}

/**
 * Returns the group of a user. Users with the same behavior count as one flow, because a single
 * user has too few requests.
 */
const groupOf = ({ arrival }: Outcome): string => arrival.user.replace(/-\d+$/, '-*')

const isRefused = ({ status }: Outcome): boolean => status === 429

function countBy(
  outcomes: readonly Outcome[],
  keyOf: (outcome: Outcome) => string,
): Map<string, RequestCounts> {
  const counts = new Map<string, RequestCounts>()
  for (const outcome of outcomes) {
    // Responses with other status codes are not related to flow control. Most of them occur after
    // the machine was paused.
    if (![200, 201, 404, 429].includes(outcome.status)) continue
    const key = keyOf(outcome)
    const counted = counts.get(key) ?? { served: 0, refused: 0 }
    counted[isRefused(outcome) ? 'refused' : 'served']++
    counts.set(key, counted)
  }
  return counts
}

const totalOf = (counts: ReadonlyMap<string, RequestCounts>): number =>
  Math.max(
    1,
    [...counts.values()].reduce((sum, { served }) => sum + served, 0),
  )

const refusedPart = ({ served, refused }: RequestCounts): number =>
  refused / Math.max(1, served + refused)

const percent = (part: number): string => `${(part * 100).toFixed(1)} %`
