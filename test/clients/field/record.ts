/**
 * Records responses without the values that differ between runs, so that the responses of two
 * servers can be compared.
 */
import { parseJson } from '../../recorded/compat/client.ts'
import type { HttpAnswer } from '../../recorded/compat/client.ts'
import { isRecord } from '../../recorded/compat/json.ts'

export type Verdict = {
  readonly status: number
  /** The causes in the Status, if the server rejected the request. */
  readonly causes: readonly string[]
  readonly warnings: readonly string[]
  readonly body: unknown
}

export type Records = Map<string, Verdict>

export function verdictOf({ status, headers, raw }: HttpAnswer): Verdict {
  const body = parseJson(raw.toString('utf8'))
  const warning = headers['warning']
  return {
    status,
    causes: status < 300 ? [] : causesOf(body),
    warnings: warning === undefined ? [] : warning.split(/, (?=299)/).toSorted(),
    body: status < 300 ? comparable(body) : undefined,
  }
}

/** Returns the causes in sorted order, because kube-apiserver reports errors in random order. */
function causesOf(body: unknown): readonly string[] {
  if (!isRecord(body)) return [String(body)]
  const { details, message, reason } = body
  const causes =
    isRecord(details) && Array.isArray(details['causes']) ? details['causes'].filter(isRecord) : []
  if (causes.length === 0) return [`${String(reason)}: ${String(message)}`]
  return causes
    .map((cause) =>
      masked(`${String(cause['reason'])} ${String(cause['field'])}: ${String(cause['message'])}`),
    )
    .toSorted()
}

/** Masks times, ids and versions, because some error messages contain the whole object. */
const masked = (text: string): string =>
  text
    .replace(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UID')
    .replace(/(resourceVersion\\*":\\*")\d+/g, '$1VERSION')

/** Removes times, ids and revisions, which differ between servers. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value === 'string') return age.test(value) ? 'AGE' : value
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(([key]) => !ofServer.has(key))
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, byChance.has(key) ? sorted(inner) : comparable(inner)]),
  )
}

const age = /^\d+(s|ms|m\d*s?)$/
const ofServer: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'lastTransitionTime',
  'time',
])

/**
 * Lists whose order differs between servers. It depends on the order of writes inside a server, or
 * on elapsed time.
 */
const byChance: ReadonlySet<string> = new Set(['managedFields', 'conditions'])

const sorted = (owners: unknown): unknown =>
  Array.isArray(owners)
    ? owners.map((owner) => JSON.stringify(comparable(owner))).toSorted()
    : owners

/** Removes descriptions, because Keelson's descriptions differ from those of kube-apiserver. */
export function undescribed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(undescribed)
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(
    ([key, inner]) => key !== 'description' || typeof inner !== 'string',
  )
  return Object.fromEntries(kept.map(([key, inner]) => [key, undescribed(inner)]))
}
