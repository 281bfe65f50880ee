/** Creates the encryption providers of a configuration, and the KMS plugins that they call. */
import type { Log } from '../../lib/telemetry/log.ts'
import type { Time } from '../../lib/time/timers.ts'
import type { ProvidersByResource } from './encryption.ts'
import { KmsV1 } from './kms/kms-v1.ts'
import { KmsV2 } from './kms/kms-v2.ts'
import type { KmsMetrics } from './kms/metrics.ts'
import { KmsPlugin } from './kms/plugin.ts'
import { RandomPool } from '../../lib/bytes/random-pool.ts'
import {
  identityProvider,
  type KeyedAlgorithm,
  keyedProvider,
  type NamedKey,
  type Provider,
} from './provider.ts'

export type ProviderConfig =
  | { readonly kind: 'identity' }
  | { readonly kind: KeyedAlgorithm; readonly keys: readonly NamedKey[] }
  | KmsConfig

type KmsConfig = {
  readonly kind: 'kms'
  readonly version: 'v1' | 'v2'
  readonly name: string
  readonly path: string
  readonly timeoutMs: number
  readonly keysMax: number
}

/**
 * A rule of the configuration file. The rules have been validated: no earlier rule hides a later
 * one, and no list is empty. Resources and providers are in the order of the file.
 */
export type RuleConfig = {
  readonly resources: readonly string[]
  readonly providers: readonly ProviderConfig[]
}

export type ConfiguredProvidersOptions = {
  readonly time: Time
  readonly log: Log
  readonly metrics: KmsMetrics
}

/** The health check of a KMS plugin. */
export type KmsCheck = {
  readonly version: 'v1' | 'v2'
  /** Returns an error message, or undefined if the KMS plugin is healthy. Never rejects. */
  readonly fault: () => Promise<string | undefined>
}

type BuiltProviders = {
  readonly byResource: ProvidersByResource
  readonly plugins: readonly (KmsV1 | KmsV2)[]
  readonly callsMs: number
}

export class ConfiguredProviders implements Disposable {
  readonly byResource: ProvidersByResource
  /** The health checks of all KMS plugins, in the order of the configuration. */
  readonly checks: readonly KmsCheck[]
  /** Maximum time for which calls can still be in progress after the providers were replaced. */
  readonly callsMs: number
  readonly #plugins: readonly (KmsV1 | KmsV2)[]

  private constructor({ byResource, plugins, callsMs }: BuiltProviders) {
    this.byResource = byResource
    this.#plugins = plugins
    this.callsMs = callsMs
    this.checks = plugins.map((plugin) => ({
      version: plugin instanceof KmsV1 ? 'v1' : 'v2',
      fault: () => plugin.health.fault(),
    }))
  }

  static async create(
    rules: readonly RuleConfig[],
    options: ConfiguredProvidersOptions,
  ): Promise<ConfiguredProviders> {
    const nonces = new RandomPool()
    const plugins: (KmsV1 | KmsV2)[] = []
    const create = async (config: ProviderConfig): Promise<Provider> => {
      if (config.kind === 'identity') return identityProvider
      if (config.kind !== 'kms') return keyed(config.kind, config.keys, nonces)
      const plugin = createPlugin(config, nonces, options)
      plugins.push(plugin)
      return plugin.provider
    }
    const byResource = new Map<string, [Provider, ...Provider[]]>()
    for (const { resources, providers } of rules) {
      const [first, ...others] = await Promise.all(providers.map(create))
      if (first === undefined) continue
      for (const name of resources) {
        const known = byResource.get(name)
        if (known === undefined) byResource.set(name, [first, ...others])
        // Bounded: a configuration file has few providers, so they can be passed as arguments
        else known.push(first, ...others)
      }
    }
    const timeouts = rules.flatMap(({ providers }) =>
      providers.map((one) => (one.kind === 'kms' ? one.timeoutMs : 0)),
    )
    return new ConfiguredProviders({
      byResource,
      plugins,
      callsMs: 2 * timeouts.reduce((sum, ms) => sum + ms, 0),
    })
  }

  /** Resolves after the first check of every KMS v2 plugin, whatever its result. */
  async start(): Promise<void> {
    await Promise.all(
      this.#plugins.flatMap((plugin) => (plugin instanceof KmsV2 ? [plugin.start()] : [])),
    )
  }

  [Symbol.dispose](): void {
    for (const plugin of this.#plugins) plugin[Symbol.dispose]()
  }
}

function keyed(
  kind: KeyedAlgorithm,
  [first, ...others]: readonly NamedKey[],
  nonces: RandomPool,
): Promise<Provider> {
  if (first === undefined) throw new Error(`broken invariant: a provider ${kind} has a key`)
  return keyedProvider(kind, [first, ...others], nonces)
}

function createPlugin(
  { version, keysMax, ...options }: KmsConfig,
  nonces: RandomPool,
  parts: ConfiguredProvidersOptions,
): KmsV1 | KmsV2 {
  const plugin = new KmsPlugin(options, parts)
  const { time, metrics, log } = parts
  return version === 'v1'
    ? new KmsV1({ plugin, keysMax, nonces, metrics, time })
    : new KmsV2({ plugin, nonces, metrics, time, log })
}
