/**
 * Encryption at rest, set up from the configuration. The providers are replaced when the file in
 * --encryption-provider-config changes.
 */
import { aggregate } from '../../api/aggregate.ts'
import type { Gates } from '../../api/gates.ts'
import type { Config } from '../../config/config.ts'
import { rereadEncryption } from '../../config/encryption.ts'
import type { EncryptionRule } from '../../config/files/encryption.ts'
import { ConfigReloader } from '../../config/files/reload.ts'
import type { HealthCheck } from '../../request/discovery/health.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Metrics } from '../../lib/telemetry/metrics.ts'
import { sleep, type Time } from '../../lib/time/timers.ts'
import { knownMinors } from '../../api/releases.ts'
import { resourcesOf } from '../../registry/read-resources.ts'
import { addReloadMetrics } from '../reload-metrics.ts'
import {
  ConfiguredProviders,
  type KmsCheck,
} from '../../storage/encryption/configured-providers.ts'
import { Encryption, type StoredResource } from '../../storage/encryption/encryption.ts'
import { KmsMetrics } from '../../storage/encryption/kms/metrics.ts'
import { TransformationMetrics } from '../../storage/encryption/metrics.ts'
import type { Key } from '../../storage/engine.ts'
import { resourcePrefix } from '../../storage/keys.ts'
import { identity, type Transformer } from '../../storage/transform.ts'

export type EncryptionSetUp = AsyncDisposable & {
  readonly transformer: Transformer
  readonly checks: readonly HealthCheck[]
  /** Checks whether the configuration file has changed. Undefined if the file is not reloaded. */
  readonly reloader: { readonly check: () => Promise<void> } | undefined
  /**
   * Registers a listener that is called after the encryption providers were replaced. The listener
   * receives a function that returns whether the replacement affects values with a key prefix.
   */
  readonly onReplaced: (listener: OnReplaced) => void
}

type OnReplaced = (isConcerned: (prefix: Key) => boolean) => void

export type ServerEncryptionOptions = {
  /** Prefix of all keys. */
  readonly root: Key
  readonly time: Time
  readonly log: Log
  readonly metrics: Metrics
  /** The name of this server, for metrics. */
  readonly serverId: string
}

export type EncryptionSource = Pick<Config['storage'], 'encryption'> & {
  readonly featureGates: Gates
}

/**
 * Sets up encryption. Resolves when each KMS plugin was called once, whether or not it responded.
 */
export async function createEncryption(
  config: EncryptionSource,
  options: ServerEncryptionOptions,
): Promise<EncryptionSetUp> {
  const { encryption: file, featureGates } = config
  if (file === null) return none
  const { root, time, log, metrics, serverId } = options
  const kmsMetrics = new KmsMetrics(metrics, serverId, time)
  const build = (rules: readonly EncryptionRule[]): Promise<ConfiguredProviders> =>
    ConfiguredProviders.create(rules, { time, log, metrics: kmsMetrics })
  const current = new CurrentProviders(await build(file.rules), time)
  await current.providers.start()
  const transformer = new Encryption(current.providers.byResource, {
    root,
    resourceOf: storedResources(),
    metrics: new TransformationMetrics(metrics, time),
  })
  const owned = new AsyncDisposableStack()
  owned.use(current)
  const listeners: OnReplaced[] = []
  const reloader =
    file.reloaded === null
      ? undefined
      : owned.use(
          new ConfigReloader(file.path, file.reloaded, {
            read: (bytes) => rereadEncryption(bytes, file.path, featureGates),
            use: async (rules, signal) => {
              const next = await build(rules)
              await useIfHealthy(next, signal)
              current.replace(next)
              const isConcerned = transformer.replace(next.byResource)
              for (const listener of listeners) listener(isConcerned)
            },
            what: 'encryption config',
            log,
            clock: time,
          }),
        )
  if (reloader !== undefined) {
    addReloadMetrics(metrics, { what: 'encryption', serverId, reloads: () => reloader.reloads })
  }
  const checks = kmsChecks(current, reloader !== undefined)
  return {
    transformer,
    checks,
    reloader,
    onReplaced: (listener) => listeners.push(listener),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const none: EncryptionSetUp = {
  transformer: identity,
  checks: [],
  reloader: undefined,
  onReplaced: () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
}

/**
 * Fails if the KMS plugins of a new configuration do not work. The configuration is then not used,
 * and the next check of the file tries again.
 */
async function useIfHealthy(next: ConfiguredProviders, signal: AbortSignal): Promise<void> {
  using owned = new DisposableStack()
  owned.use(next)
  await next.start()
  const fault = await faultOf(next.checks)
  if (fault !== undefined) throw new Error(fault)
  signal.throwIfAborted()
  owned.move()
}

/**
 * The current providers. Replaced providers may still be in use for a while, so they are disposed
 * later.
 */
class CurrentProviders implements AsyncDisposable {
  readonly #time: Time
  readonly #ended = new AbortController()
  #providers: ConfiguredProviders

  constructor(providers: ConfiguredProviders, time: Time) {
    this.#providers = providers
    this.#time = time
  }

  get providers(): ConfiguredProviders {
    return this.#providers
  }

  replace(next: ConfiguredProviders): void {
    const old = this.#providers
    this.#providers = next
    void this.#disposeLater(old)
  }

  async #disposeLater(old: ConfiguredProviders): Promise<void> {
    try {
      await sleep(this.#time, old.callsMs, this.#ended.signal)
    } catch {
      // The wait was aborted because the server is stopping. Dispose of the old providers now
      // instead of later.
    }
    old[Symbol.dispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    this.#providers[Symbol.dispose]()
  }
}

/**
 * Returns one health check for all plugins, with the same name as in kube-apiserver. If the file is
 * not reloaded and a plugin uses KMS v1, returns one health check for each plugin.
 */
function kmsChecks(current: CurrentProviders, isReloaded: boolean): readonly HealthCheck[] {
  const { checks } = current.providers
  const hasV1 = checks.some(({ version }) => version === 'v1')
  if (isReloaded || (checks.length > 0 && !hasV1)) {
    return [
      {
        name: 'kms-providers',
        fault: () => faultOf(current.providers.checks),
        isForLiveness: false,
      },
    ]
  }
  return checks.map(({ fault }, at) => ({ name: checkName(at), fault, isForLiveness: false }))
}

const checkName = (at: number): string => `kms-provider-${at}`

async function faultOf(checks: readonly KmsCheck[]): Promise<string | undefined> {
  const faults = await Promise.all(checks.map(({ fault }) => fault()))
  const reported = faults.flatMap((fault, at) =>
    fault === undefined ? [] : [`${checkName(at)}: ${fault}`],
  )
  return reported.length === 0 ? undefined : aggregate(reported)
}

/**
 * Returns a function that finds the resource that is stored in a folder (a key prefix relative to
 * the root prefix). The Events of both API groups are stored in one folder. For this folder, the
 * function returns the resource of the core group. The function knows the resources of all
 * releases, because a rewrite of a database does not know the release of its servers.
 */
function storedResources(): (folder: string) => StoredResource | undefined {
  const byFolder = new Map<string, StoredResource>()
  for (const { group, plural } of knownMinors.flatMap(resourcesOf)) {
    const folder = resourcePrefix({ group, plural, isCustom: false })
    if (!byFolder.has(folder)) byFolder.set(folder, { group, resource: plural })
  }
  return (folder) => byFolder.get(folder)
}
