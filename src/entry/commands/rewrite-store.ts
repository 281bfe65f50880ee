/** `keelson store rewrite`: encrypts the stored values according to an EncryptionConfiguration. */
import { readFileSync } from 'node:fs'
import { defaultGates } from '../../api/gates.ts'
import { readEncryptionConfiguration } from '../../config/files/encryption.ts'
import { createEncryption } from '../../server/storage/encryption.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { type RewriteResult, rewriteStale } from '../../storage/encryption/rewrite.ts'
import { rootOf, toText } from '../../storage/keys.ts'
import { Leases } from '../../storage/leases.ts'
import { type EngineConfig, openEngine } from '../../storage/open-engine.ts'
import { Store } from '../../storage/store.ts'

export type RewriteRequest = {
  readonly store: EngineConfig['store']
  readonly etcdPrefix: string
  /** The path of an EncryptionConfiguration. */
  readonly config: string
  readonly eventTtlSeconds: number
  readonly showProgress: ((line: string) => void) | null
}

/** Maximum number of keys in an error message. More keys would fill the screen. */
const KEYS_SHOWN = 10

const log = (): void => undefined

/** Encrypts the values, and returns the text to print. Throws an Error that says what to do. */
export async function rewriteStore(request: RewriteRequest): Promise<string> {
  const { store: place, etcdPrefix, config: path, eventTtlSeconds, showProgress } = request
  // Enable KMS v1, because users also migrate from it to another provider with this command.
  const gates = {
    ...defaultGates,
    isOn: (name: string) => name === 'KMSv1' || defaultGates.isOn(name),
  }
  const read = readEncryptionConfiguration(readFileSync(path), { path, gates, isReloaded: false })
  if ('fault' in read) throw new Error(read.fault)
  const root = rootOf(etcdPrefix)
  await using parts = new AsyncDisposableStack()
  const { engine } = await openEngine(
    { store: place, compactionMs: 0 },
    { clock: systemClock, log },
  )
  parts.use(engine)
  const { transformer } = parts.use(
    await createEncryption(
      { encryption: { rules: read.value, path, reloaded: null }, featureGates: gates },
      { root, time: systemTime, log, metrics: new Metrics(), serverId: 'store-rewrite' },
    ),
  )
  const leases = new Leases(
    (ttlSeconds, options) => engine.grantLease(ttlSeconds, options),
    systemClock,
  )
  const store = new Store(engine, { transformer, leases })
  const events = `${root}events/`
  const done = await rewriteStale(store, {
    root,
    ttlSecondsOf: (key) => (key.startsWith(events) ? eventTtlSeconds : undefined),
    onProgress: ({ keys, rewritten }) => showProgress?.(`${keys} keys, ${rewritten} rewritten`),
  })
  return summaryOf(done)
}

function summaryOf({ keys, rewritten, unreadable }: RewriteResult): string {
  const said = `rewrote ${rewritten} of ${keys} values\n`
  if (unreadable.length === 0) return said
  const shown = unreadable.slice(0, KEYS_SHOWN).map(({ key, why }) => `  ${toText(key)}: ${why}`)
  const others =
    unreadable.length > KEYS_SHOWN ? [`  and ${unreadable.length - KEYS_SHOWN} more`] : []
  const what = `${unreadable.length} values cannot be read: add the key or the provider that wrote them to the file`
  throw new Error([`${said}${what}`, ...shown, ...others].join('\n'))
}
