/**
 * Creates a transformer that encrypts Secrets with one provider. It has the configuration and the
 * metrics that it would have in a server.
 */
import { silent } from '../../src/lib/telemetry/log.ts'
import { Metrics } from '../../src/lib/telemetry/metrics.ts'
import { systemTime } from '../../src/lib/time/timers.ts'
import {
  ConfiguredProviders,
  type ProviderConfig,
} from '../../src/storage/encryption/configured-providers.ts'
import { Encryption } from '../../src/storage/encryption/encryption.ts'
import { KmsMetrics } from '../../src/storage/encryption/kms/metrics.ts'
import { TransformationMetrics } from '../../src/storage/encryption/metrics.ts'
import type { Transformer } from '../../src/storage/transform.ts'
import { root } from '../../test/support/harness/plain-cache.ts'

export const kmsConfig = (path: string): ProviderConfig => ({
  kind: 'kms',
  version: 'v2',
  name: 'bench',
  path,
  timeoutMs: 10_000,
  keysMax: 0,
})

export async function transformerOf(
  config: ProviderConfig,
): Promise<Disposable & { readonly transformer: Transformer }> {
  const metrics = new Metrics()
  const kmsMetrics = new KmsMetrics(metrics, 'bench', systemTime)
  const rules = [{ resources: ['secrets'], providers: [config] }]
  const providers = await ConfiguredProviders.create(rules, {
    time: systemTime,
    log: silent,
    metrics: kmsMetrics,
  })
  await providers.start()
  const transformer = new Encryption(providers.byResource, {
    root,
    resourceOf: (folder) => (folder === 'secrets' ? { group: '', resource: 'secrets' } : undefined),
    metrics: new TransformationMetrics(metrics, systemTime),
  })
  return { transformer, [Symbol.dispose]: () => providers[Symbol.dispose]() }
}
