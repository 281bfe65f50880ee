/**
 * The legacy-serviceaccount-token-cleaner-controller: of tokens that were generated for service
 * accounts into Secrets, those that nobody has used for the period (a year) are marked as invalid,
 * and deleted when they have been that for as long.
 */
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Log } from '../lib/telemetry/log.ts'
import type { Timers } from '../lib/time/timers.ts'
import { Slices } from '../lib/scheduling/slices.ts'
import { secretNames } from '../registry/kinds/core/pod/references.ts'
import type { Registry } from '../registry/registry.ts'
import { dayOf, isDay, trackingConfigMap } from './legacy-token-tracking.ts'
import { Loop } from '../lib/concurrency/loop.ts'
import type { CacheAccess, CacheAccessOf } from './cache-access.ts'
import { pathOf } from './wanted.ts'
import { failureOf, outcomeOf } from './write-outcome.ts'

/** Upstream's interval. */
const LOOK_MS = 24 * 60 * 60_000
const DAY_MS = 24 * 60 * 60_000

const tokenType = 'kubernetes.io/service-account-token'
const accountName = 'kubernetes.io/service-account.name'
const accountUid = 'kubernetes.io/service-account.uid'
const lastUsedLabel = 'kubernetes.io/legacy-token-last-used'
const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since'

export type LegacyTokenCleanerOptions = {
  readonly handle: Handler
  readonly registry: Registry
  readonly accessOf: CacheAccessOf
  /** How long a token may be unused. */
  readonly periodMs: number
  readonly clock: Pick<Clock, 'wallMs'>
  readonly log: Log
  readonly timers?: Timers | undefined
}

export const cleanLegacyTokens = (options: LegacyTokenCleanerOptions): AsyncDisposable =>
  new Loop({
    name: 'the cleaning of legacy tokens',
    intervalMs: LOOK_MS,
    run: (signal) => cleanOnce(options, signal),
    log: options.log,
    timers: options.timers,
  })

/** Fails if it cannot be told what is unused. */
export async function cleanOnce(
  options: LegacyTokenCleanerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { handle, periodMs, clock, log } = options
  const nowMs = clock.wallMs()
  if (nowMs < (await trackedSinceMs(handle, signal)) + periodMs) return
  const [secrets, accounts, pods] = ['secrets', 'serviceaccounts', 'pods'].map((plural) =>
    accessTo(options, plural),
  )
  if (secrets === undefined || accounts === undefined || pods === undefined) return
  const slices = new Slices()
  // The list is in the order of namespaces.
  let mounted: { readonly namespace: string; readonly names: ReadonlySet<string> } | undefined
  const { items } = await secrets.reader.list(secrets.keys.range(), 'latest')
  for (const item of items) {
    if (slices.isOver) await slices.turn()
    signal.throwIfAborted()
    const secret = await item.peekInParts()
    if (!isUnused(secret, nowMs - periodMs)) continue
    const { namespace = '', name = '' } = secret.metadata
    if (!(await isGenerated(secret, accounts))) continue
    if (mounted?.namespace !== namespace)
      mounted = { namespace, names: await mountedNames(pods, namespace) }
    if (mounted.names.has(name)) continue
    const invalidSince = textOf(secret.metadata.labels?.[invalidSinceLabel])
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
    const isMarked = isDay(invalidSince)
    if (isMarked && invalidSince >= dayOf(nowMs - periodMs)) continue
    const what = isMarked ? 'a legacy token is deleted' : 'a legacy token is marked as invalid'
    log('info', what, { namespace, name })
    // One that is used meanwhile has another version: the use is recorded in it.
    const { uid = '', resourceVersion = '' } = secret.metadata
    const response = isMarked
      ? await request(handle, {
          method: 'DELETE',
          path,
          body: { preconditions: { resourceVersion } },
          signal,
        })
      : await request(handle, {
          method: 'PATCH',
          path,
          body: {
            metadata: { uid, resourceVersion, labels: { [invalidSinceLabel]: dayOf(nowMs) } },
          },
          isMergePatch: true,
          signal,
        })
    // One that has changed is looked at the next time.
    if (outcomeOf(response) === undefined)
      log('error', `${what}: it failed`, { error: failureOf(path, response) })
  }
}

function accessTo(
  { registry, accessOf }: LegacyTokenCleanerOptions,
  plural: string,
): CacheAccess | undefined {
  const resource = registry.find({ group: '', version: 'v1', plural })
  return resource && accessOf(resource)
}

/** The end of the day on which the recording of uses began. */
async function trackedSinceMs(handle: Handler, signal: AbortSignal): Promise<number> {
  const path = pathOf(trackingConfigMap(''))
  const response = await request(handle, { method: 'GET', path, signal })
  if (response.status >= FAILURE) throw new Error(failureOf(path, response))
  const since = textOf(fieldsOf(fieldsOf(objectOf(response))['data'])['since'])
  if (!isDay(since)) throw new Error(`${path} does not say since when uses of tokens are recorded`)
  return Date.parse(since) + DAY_MS
}

/** Whether it is a token from before that time that was not used since. */
function isUnused({ type, metadata }: KubeObject, beforeMs: number): boolean {
  if (type !== tokenType || metadata.deletionTimestamp !== undefined) return false
  if (!(Date.parse(textOf(metadata.creationTimestamp)) < beforeMs)) return false
  const lastUsed = metadata.labels?.[lastUsedLabel]
  // What cannot be read does not say that nobody uses it.
  return lastUsed === undefined || (isDay(lastUsed) && lastUsed < dayOf(beforeMs))
}

/** Only of those that its account refers to is it known that no person made them. */
async function isGenerated(
  { metadata }: KubeObject,
  { keys, reader }: CacheAccess,
): Promise<boolean> {
  const { namespace, name = '', annotations } = metadata
  const ofAccount = annotations?.[accountName] ?? ''
  if (ofAccount === '') return false
  const account = await (
    await reader.get(keys.key(namespace, ofAccount), 'latest')
  ).item?.peekInParts()
  const uid = annotations?.[accountUid] ?? ''
  if (account === undefined || (uid !== '' && uid !== account.metadata.uid)) return false
  return itemsOf(account['secrets']).some((reference) => reference['name'] === name)
}

/** The names of Secrets that Pods of the namespace mount. */
async function mountedNames(
  { keys, reader }: CacheAccess,
  namespace: string,
): Promise<ReadonlySet<string>> {
  const { items } = await reader.list(keys.range(namespace), 'latest')
  const names = new Set<string>()
  const slices = new Slices()
  for (const item of items) {
    if (slices.isOver) await slices.turn()
    const { spec } = await item.peekInParts()
    for (const name of secretNames(fieldsOf(spec))) names.add(name)
  }
  return names
}

const FAILURE = 400
