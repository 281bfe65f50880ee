/**
 * The legacy-serviceaccount-token-cleaner-controller. It handles tokens that were generated for
 * service accounts and stored in Secrets. A token that was not used for a period (a year) is marked
 * as invalid. It is deleted when it has been invalid for the same period.
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

/** Interval between passes, as in kube-controller-manager. */
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
  /** How long a token can be unused before it is invalidated. */
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

/**
 * Makes one pass over all tokens. Rejects if it is unknown since when the use of tokens has been
 * recorded.
 */
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
  // The list is ordered by namespace, so the Pods of each namespace are listed only once.
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
    const what = isMarked
      ? 'deleting an unused legacy token'
      : 'invalidating an unused legacy token'
    log('info', what, { namespace, name })
    // The write requires the resourceVersion that was read. If the token is used in the meantime,
    // the use is recorded in its Secret, so the resourceVersion changes and the write fails.
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
    // If a Secret has changed, the next pass handles it.
    if (outcomeOf(response) === undefined)
      log('error', `${what} failed`, { error: failureOf(path, response) })
  }
}

function accessTo(
  { registry, accessOf }: LegacyTokenCleanerOptions,
  plural: string,
): CacheAccess | undefined {
  const resource = registry.find({ group: '', version: 'v1', plural })
  return resource && accessOf(resource)
}

/** Returns the end of the day on which the recording of token uses began. */
async function trackedSinceMs(handle: Handler, signal: AbortSignal): Promise<number> {
  const path = pathOf(trackingConfigMap(''))
  const response = await request(handle, { method: 'GET', path, signal })
  if (response.status >= FAILURE) throw new Error(failureOf(path, response))
  const since = textOf(fieldsOf(fieldsOf(objectOf(response))['data'])['since'])
  if (!isDay(since))
    throw new Error(`${path} has no valid date since which uses of tokens are recorded`)
  return Date.parse(since) + DAY_MS
}

/**
 * Whether the Secret contains a token that was created before `beforeMs` and has not been used
 * since then.
 */
function isUnused({ type, metadata }: KubeObject, beforeMs: number): boolean {
  if (type !== tokenType || metadata.deletionTimestamp !== undefined) return false
  if (!(Date.parse(textOf(metadata.creationTimestamp)) < beforeMs)) return false
  const lastUsed = metadata.labels?.[lastUsedLabel]
  // If the label cannot be parsed, it is unknown whether the token is unused.
  return lastUsed === undefined || (isDay(lastUsed) && lastUsed < dayOf(beforeMs))
}

/**
 * Whether Kubernetes itself generated the token. This is certain only if the service account refers
 * to the Secret, because users can also create Secrets with tokens.
 */
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

/** Returns the names of the Secrets that Pods of the namespace mount. */
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
