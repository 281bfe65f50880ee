/**
 * Collects the audit events of one scenario, from the audit log of the server or from the events
 * that the webhook `audit` has received. Events of other scenarios do not mention its namespace.
 * Requests of the runner itself, which creates and deletes the namespace, have no user agent.
 */
import { join } from 'node:path'
import { readIfThere } from '../../../src/lib/process/files.ts'
import { parseJson } from './client.ts'
import type { Companions } from './companions.ts'
import type { Json, JsonObject } from './json.ts'

/** Prefix of annotations that only slow requests have. */
const LATENCY = 'apiserver.latency.k8s.io/'

/** The audit events of one scenario. Each event is passed to a step of the scenario only once. */
export class AuditTrail {
  readonly #companions: Companions
  readonly #namespace: string
  readonly #taken = new Set<string>()

  constructor(companions: Companions, namespace: string) {
    this.#companions = companions
    this.#namespace = namespace
  }

  /** Returns the events that were not yet passed to a step, as JSON or as lines of the log. */
  untaken(source: 'log' | 'webhook'): string[] {
    const all =
      source === 'log'
        ? this.#logged()
        : this.#companions.auditEvents.map((event) => JSON.stringify(event))
    return all.filter(
      (text) => text.includes(this.#namespace) && !this.#taken.has(text) && !isOfRunner(text),
    )
  }

  take(events: readonly string[]): void {
    for (const event of events) this.#taken.add(event)
  }

  #logged(): string[] {
    const { dir } = this.#companions
    if (dir === undefined)
      throw new Error('cannot read the audit log of a server that this command did not start')
    const lines = (readIfThere(join(dir, 'audit.log')) ?? '').split('\n')
    // Leave out the last line. It is empty, or the server is still writing it.
    return lines.slice(0, -1)
  }
}

/**
 * User agent of the requests that kube-apiserver sends to itself. Its plugins do this for objects
 * that are not in their caches. Clients do not see these requests.
 */
const ofServer = /^kube-apiserver(?:\/|$)/

function isOfRunner(text: string): boolean {
  const event = parseJson(text)
  if (!isObject(event)) return text.includes(' user-agent="" ')
  const agent = event['userAgent']
  return agent === undefined || ofServer.test(textOf(agent))
}

/**
 * Sorts events by the time at which their request was received; the events of one request keep
 * their order. The last event of a request may be written after the first event of the next
 * request.
 */
export function inOrder(events: readonly string[]): Json[] {
  const parsed = events.map(parseJson)
  return parsed.toSorted(
    (a, b) => Number(receivedAt(a) > receivedAt(b)) - Number(receivedAt(a) < receivedAt(b)),
  )
}

const receivedAt = (event: Json): string =>
  isObject(event) ? textOf(event['requestReceivedTimestamp']) : ''

/**
 * Removes values that depend on the speed of the machine, and the resourceVersions of lists, which
 * change when other scenarios write.
 */
export function comparableEvent(event: Json): Json {
  if (!isObject(event)) return event
  const { annotations, requestURI, responseObject, ...rest } = event
  const kept = isObject(annotations)
    ? Object.entries(annotations).filter(([key]) => !key.startsWith(LATENCY))
    : []
  return {
    ...rest,
    requestURI: textOf(requestURI)
      .replace(/([?&]resourceVersion=)[1-9]\d*/g, '$1<rv>')
      .replace(/([?&]continue=)[^&]+/g, '$1<continue>'),
    ...(responseObject === undefined ? {} : { responseObject: withoutListVersion(responseObject) }),
    ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
  }
}

function withoutListVersion(response: Json): Json {
  if (!isObject(response) || !Array.isArray(response['items']) || !isObject(response['metadata']))
    return response
  const { resourceVersion: _, continue: more, ...metadata } = response['metadata']
  return {
    ...response,
    metadata: { ...metadata, ...(more === undefined ? {} : { continue: '<continue>' }) },
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
