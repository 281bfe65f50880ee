/**
 * Compares the results of two servers for the same trace: each priority level's share of the served
 * requests, and the rejected requests of each user.
 */
import type { Outcome } from './send.ts'

/**
 * Maximum difference between the two servers. It applies to each priority level's share of the
 * served requests, and to the fraction of each flow's requests that are rejected.
 */
export const DIFFERENCE_MAX = 0.1
/**
 * Minimum number of requests of a flow. Flows with fewer requests are not compared, because their
 * results depend on chance.
 */
const REQUESTS_MIN = 30

export type Verdict = { readonly lines: readonly string[]; readonly faults: readonly string[] }

type RequestCounts = { served: number; refused: number }

const keelson = 'Keelson'
const reference = 'reference'

/**
 * Compares the outcomes on the two servers. `levels` maps the UIDs of each server's priority levels
 * to their names.
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
      // If kube-apiserver rejects a clearly larger part of one user's requests than of another
      // user's, Keelson must not reject a smaller part.
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
 * Returns the flow to which a user belongs. Users with the same behavior form one flow, because a
 * single user sends too few requests.
 */
const groupOf = ({ arrival }: Outcome): string => arrival.user.replace(/-\d+$/, '-*')

const isRefused = ({ status }: Outcome): boolean => status === 429

function countBy(
  outcomes: readonly Outcome[],
  keyOf: (outcome: Outcome) => string,
): Map<string, RequestCounts> {
  const counts = new Map<string, RequestCounts>()
  for (const outcome of outcomes) {
    // Skip responses with other status codes, which are not related to flow control. Most of them
    // occur when the machine was paused.
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
