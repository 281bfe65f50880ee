/**
 * Sets the Dangling condition of each FlowSchema, which says whether the referenced priority level
 * is missing. The controller watches both kinds. When anything changes, it checks all FlowSchemas,
 * because they are few and change rarely.
 */
import { type Fields, fieldsOf, itemsOf, textOf } from '../api/object.ts'
import { objectInSlices, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { followWatch } from './follow-watch.ts'
import { Loop } from '../lib/concurrency/loop.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { beginWork, Restores } from '../lib/concurrency/restores.ts'
import { systemTime, type Time, type Timer } from '../lib/time/timers.ts'

const group = '/apis/flowcontrol.apiserver.k8s.io/v1'
const schemas = `${group}/flowschemas`
const levels = `${group}/prioritylevelconfigurations`
const manager = 'api-priority-and-fairness-config-consumer-v1'
/** Delay before an interrupted watch is reopened. */
const RETRY_MS = 1000

/**
 * Maximum number of writes to a FlowSchema within a minute, as in kube-apiserver. Otherwise servers
 * that disagree about a FlowSchema would write it forever.
 */
const WRITES_MAX = 6
const WRITES_MS = 60_000

export type FlowSchemasOptions = {
  readonly handle: Handler
  readonly now: () => string
  /** Clock and timers. Defaults to the system clock and timers. */
  readonly time?: Pick<Time, 'monotonicMs' | 'after'>
  readonly log: Log
}

type FlowSchemasContext = Required<FlowSchemasOptions> & { readonly writes: Writes }

export function followFlowSchemas(given: FlowSchemasOptions): AsyncDisposable {
  const parts: FlowSchemasContext = { time: systemTime, ...given, writes: new Writes() }
  const run = (signal: AbortSignal): Promise<void> => followOnce(parts, signal)
  return new Loop({
    name: 'the check for dangling FlowSchemas',
    intervalMs: RETRY_MS,
    run,
    log: parts.log,
  })
}

/**
 * Watches both kinds. Resolves when one of the watches ends. Rejects if a list or a write fails.
 */
async function followOnce(parts: FlowSchemasContext, signal: AbortSignal): Promise<void> {
  const ending = new AbortController()
  const restores = Restores.current()
  let later: Timer | undefined
  const both = AbortSignal.any([signal, ending.signal])
  const { promise: failed, reject } = Promise.withResolvers<never>()
  let pass: Promise<void> = Promise.resolve()
  let isDue = false
  const look = (): void => {
    // A check that is queued will also see this change, so no further check is needed.
    if (isDue) return
    isDue = true
    pass = pass
      .then(() => {
        isDue = false
        return beginWork(restores, () => reportAll(parts, both))
      })
      .then((waitMs) => {
        later?.close()
        later = waitMs === 0 || both.aborted ? undefined : parts.time.after(waitMs, look)
      })
      .catch(reject)
  }
  look()
  try {
    await Promise.race([
      failed,
      ...[schemas, levels].map((path) => followWatch(parts.handle, { path, signal: both }, look)),
    ])
  } finally {
    ending.abort()
    await pass
    later?.close()
  }
}

/**
 * Checks all FlowSchemas. If the rate limit does not allow all writes, returns the delay until the
 * next write is allowed. Otherwise returns 0.
 */
async function reportAll(parts: FlowSchemasContext, signal: AbortSignal): Promise<number> {
  const { handle } = parts
  const found = await listed(handle, levels, signal)
  const names = new Set(found.map(({ metadata }) => textOf(fieldsOf(metadata)['name'])))
  const all = await listed(handle, schemas, signal)
  if (signal.aborted) return 0
  // Write the conditions in parallel, because there are few FlowSchemas, and a new cluster needs
  // the conditions soon.
  const waits = await Promise.all(all.map((schema) => reportSchema(parts, schema, names, signal)))
  const due = waits.filter((ms) => ms > 0)
  // Bounded: `due` has one entry for each FlowSchema, so they can be passed as arguments
  return due.length === 0 ? 0 : Math.min(...due)
}

async function reportSchema(
  { handle, now, time, writes }: FlowSchemasContext,
  schema: Fields,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<number> {
  const wanted = textOf(fieldsOf(fieldsOf(schema['spec'])['priorityLevelConfiguration'])['name'])
  const known = itemsOf(fieldsOf(schema['status'])['conditions']).find(
    ({ type }) => type === 'Dangling',
  )
  const condition = conditionOf(wanted, names.has(wanted))
  if (known?.['status'] === condition.status && known['message'] === condition.message) return 0
  const name = textOf(fieldsOf(schema['metadata'])['name'])
  const waitMs = writes.waitMs(name, time.monotonicMs())
  if (waitMs > 0) return waitMs
  writes.note(name, time.monotonicMs())
  const body = {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name },
    status: { conditions: [{ ...condition, lastTransitionTime: now() }] },
  }
  const path = `${schemas}/${name}/status`
  const { status } = await request(handle, {
    method: 'PATCH',
    path,
    body,
    manager,
    isApply: true,
    signal,
  })
  // NotFound is not an error, because the FlowSchema may have been deleted in the meantime.
  if (status !== OK && status !== NOT_FOUND) throw new Error(`${path} returned status ${status}`)
  return 0
}

/** The times at which each FlowSchema was written within the last minute. */
class Writes {
  readonly #times = new Map<string, readonly number[]>()

  /**
   * Returns the delay in milliseconds until the rate limit allows another write to the FlowSchema.
   */
  waitMs(name: string, nowMs: number): number {
    const recent = (this.#times.get(name) ?? []).filter((atMs) => nowMs - atMs < WRITES_MS)
    return recent.length < WRITES_MAX ? 0 : Math.ceil((recent[0] ?? nowMs) + WRITES_MS - nowMs)
  }

  note(name: string, nowMs: number): void {
    for (const [other, times] of this.#times)
      if (nowMs - (times.at(-1) ?? 0) >= WRITES_MS) this.#times.delete(other)
    this.#times.set(name, [...(this.#times.get(name) ?? []), nowMs].slice(-WRITES_MAX))
  }
}

function conditionOf(
  level: string,
  isThere: boolean,
): { readonly status: string; readonly message: string } & Fields {
  const what = `This FlowSchema references the PriorityLevelConfiguration object named "${level}"`
  return isThere
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${what} and it exists` }
    : {
        type: 'Dangling',
        status: 'True',
        reason: 'NotFound',
        message: `${what} but there is no such object`,
      }
}

async function listed(
  handle: Handler,
  path: string,
  signal: AbortSignal,
): Promise<readonly Fields[]> {
  const response = await request(handle, {
    method: 'GET',
    path,
    query: { resourceVersion: '0' },
    signal,
  })
  // If the list fails, stop here. An empty list would mean that no objects exist.
  if (response.status !== OK) throw new Error(`${path} returned status ${response.status}`)
  return itemsOf(fieldsOf(await objectInSlices(response))['items'])
}

const OK = 200
const NOT_FOUND = 404
