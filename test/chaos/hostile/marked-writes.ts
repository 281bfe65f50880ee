/**
 * Clients that write objects and check that each stored object has the mark of every matching
 * webhook (marking-webhook.ts). The class Verdict collects the violations.
 */
import { type Fields, fieldsOf, textOf } from '../../../src/api/object.ts'
import type { Client } from '../../integration/support.ts'
import type { Random } from '../simulation/random.ts'
import { markOf } from './marking-webhook.ts'

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
/** Maximum number of faults that are printed. */
const FAULTS_MAX = 20
/**
 * Fraction of the created objects that a client does not delete. These objects are checked at the
 * end.
 */
const KEPT_SHARE = 0.02
const MATCH_SHARE = 0.4
const DENY_SHARE = 0.1
const CHANGE_SHARE = 0.5

export type MarkedWebhook = {
  /** Name of the webhook: `m` (mutating) or `v` (validating), followed by a number. */
  readonly name: string
  readonly failsClosed: boolean
  readonly timeoutMs: number
  /** Returns the writes that a validating webhook has allowed. */
  readonly allowed: () => ReadonlySet<string>
}

/** Returns the webhooks that match an object's labels. */
const matched = (all: readonly MarkedWebhook[], labels: Fields): MarkedWebhook[] =>
  all.filter(({ name }) => labels[name] === 'on')

export class Verdict {
  readonly faults: string[] = []
  readonly statuses = new Map<number, number>()
  writes = 0
  /**
   * Number of marks that are missing because webhooks with failurePolicy Ignore did not respond. If
   * it is zero, these webhooks responded to every write.
   */
  opened = 0
  slowestMs = 0
  readonly #all: readonly MarkedWebhook[]
  /** Writes that were found in the store, each with the webhooks that must have allowed it. */
  readonly #stored = new Map<string, readonly MarkedWebhook[]>()

  constructor(all: readonly MarkedWebhook[]) {
    this.#all = all
  }

  fault(what: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push(what)
  }

  count(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    this.writes++
  }

  /**
   * Checks the duration of a write. Mutating webhooks are called one after the other, validating
   * ones concurrently.
   */
  took(labels: Fields, ms: number, marginMs: number): void {
    this.slowestMs = Math.max(this.slowestMs, ms)
    const asked = matched(this.#all, labels)
    const timeouts = (sort: string): number[] =>
      asked.filter(({ name }) => name.startsWith(sort)).map(({ timeoutMs }) => timeoutMs)
    const limitMs =
      timeouts('m').reduce((sum, one) => sum + one, 0) + Math.max(0, ...timeouts('v')) + marginMs
    if (ms > limitMs)
      this.fault(`a write took ${ms.toFixed()} ms, but its timeouts allow ${limitMs}`)
  }

  /** Checks that the webhooks have marked a stored object. */
  see(object: Fields): void {
    const labels = fieldsOf(fieldsOf(object['metadata'])['labels'])
    const { write, deny } = fieldsOf(object['data'])
    const asked = matched(this.#all, labels)
    for (const { name, failsClosed } of asked) {
      const isMarked = name.startsWith('v') || labels[markOf(name)] === write
      if (!isMarked && failsClosed)
        this.fault(`${textOf(write)} is stored without the mark of ${name}`)
      if (!isMarked) this.opened++
      if (deny === name && failsClosed)
        this.fault(`${textOf(write)} is stored, although ${name} denied it`)
    }
    this.#stored.set(
      textOf(write),
      asked.filter(({ name }) => name.startsWith('v')),
    )
  }

  /** Compares the stored writes with the journals of the validating webhooks. */
  end(): void {
    const journals = new Map(this.#all.map((one) => [one.name, one.allowed()]))
    for (const [write, asked] of this.#stored) {
      for (const { name, failsClosed } of asked) {
        if (journals.get(name)?.has(write)) continue
        this.opened++
        if (failsClosed) this.fault(`${write} is stored, although ${name} never allowed it`)
      }
    }
  }
}

export type Lane = {
  readonly client: Client
  readonly random: Random
  readonly name: string
  readonly webhooks: readonly MarkedWebhook[]
  readonly verdict: Verdict
  readonly marginMs: number
}

/** Creates an object, sometimes updates it, checks it, and usually deletes it. */
export async function writeOnce(lane: Lane, at: number): Promise<void> {
  const { client, random, name: of, webhooks, verdict } = lane
  const name = `${of}-${at}`
  const path = `${CONFIG_MAPS}/${name}`
  const chosen = webhooks.filter(() => random.chance(MATCH_SHARE))
  const labels = Object.fromEntries(chosen.map((one) => [one.name, 'on']))
  const denier =
    chosen.length > 0 && random.chance(DENY_SHARE) ? random.pick(chosen).name : 'nobody'
  const body = { metadata: { name, labels }, data: { write: `${name}-created`, deny: denier } }
  const isCreated = await written(lane, { method: 'POST', path: CONFIG_MAPS, body }, labels)
  if (!isCreated) {
    const { status } = await client.call({ path })
    if (status !== 404) verdict.fault(`${name} was refused, but GET returns ${status}`)
    return
  }
  if (random.chance(CHANGE_SHARE)) {
    const headers = { 'content-type': 'application/merge-patch+json' }
    await written(
      lane,
      { method: 'PATCH', path, headers, body: { data: { write: `${name}-changed` } } },
      labels,
    )
  }
  const { status, text } = await client.call({ path })
  if (status === 200) verdict.see(JSON.parse(text))
  else verdict.fault(`${name} was created, but GET returns ${status}`)
  if (!random.chance(KEPT_SHARE)) await client.call({ method: 'DELETE', path })
}

type Write = Parameters<Client['call']>[0]

async function written(
  { client, verdict, marginMs }: Lane,
  write: Write,
  labels: Fields,
): Promise<boolean> {
  const startMs = performance.now()
  const { status, text } = await client.call(write)
  verdict.took(labels, performance.now() - startMs, marginMs)
  verdict.count(status)
  if (status < 300) verdict.see(JSON.parse(text))
  else if (status !== 500 && status !== 400) verdict.fault(`${status}: ${text.slice(0, 500)}`)
  else if (!/webhook/.test(text))
    verdict.fault(`the error is not from a webhook: ${text.slice(0, 500)}`)
  return status < 300
}
