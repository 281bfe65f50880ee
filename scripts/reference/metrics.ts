/**
 * Generates docs/reference/metrics.md, the metrics that /metrics can contain. Starts a server with
 * flags that make most components register their metrics, and registers the other metrics directly.
 * Fails if a source file that registers metrics did not run, so that no metric is left out.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignerMetrics } from '../../src/access/authentication/signer/signer-metrics.ts'
import { DialerMetrics } from '../../src/net/egress/metrics.ts'
import { checkArgs } from '../../src/config/config.ts'
import { systemClock } from '../../src/lib/time/clock.ts'
import { type MetricOptions, Metrics } from '../../src/lib/telemetry/metrics.ts'
import { addReloadMetrics } from '../../src/server/reload-metrics.ts'
import { realEnvironment } from '../../src/server/environment.ts'
import { startServer } from '../../src/server/server.ts'
import { KmsMetrics } from '../../src/storage/encryption/kms/metrics.ts'
import { TransformationMetrics } from '../../src/storage/encryption/metrics.ts'
import { freePorts } from '../../test/support/harness/etcd.ts'
import recorded from '../../test/recorded/metrics/recorded.json' with { type: 'json' }
import { reasonOf } from './absent-metrics.ts'
import { code, type Page, page, table } from './markdown.ts'

export type RegisteredMetric = MetricOptions & {
  readonly type: string
  readonly bounds: readonly number[] | undefined
}

const src = join(import.meta.dirname, '..', '..', 'src')

export async function metricsPage(): Promise<Page> {
  const all = await registeredMetrics()
  const byName = new Map(all.map((metric) => [metric.name, metric]))
  const rows = [...byName.values()]
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, type, labels = [], stability = 'ALPHA', help }) => [
      code(name),
      type,
      stability,
      labels.map(code).join(' '),
      help,
    ])
  return page(
    'metrics.md',
    'Metrics',
    `\`GET /metrics\` returns these ${rows.length} metrics in the Prometheus text format, to clients that may \`get\`
that path. A metric that kube-apiserver also has keeps its name. A metric with labels appears when
it has its first value.`,
    table(['Metric', 'Type', 'Stability', 'Labels', 'Description'], rows),
    '## Metrics that only kube-apiserver has',
    `These metrics were recorded from a kube-apiserver v1.33 after some requests, and Keelson does not
have them. All others have the same type, stability level, labels and buckets in Keelson.
\`test/recorded/metrics/record.ts\` records them, and \`test/integration/metrics-recorded.test.ts\`
compares them.`,
    table(['Metric', 'Reason'], absentRows(new Set(byName.keys()))),
  )
}

/**
 * Returns one row for each reason why metrics are missing. The row lists all metrics with this
 * reason.
 */
function absentRows(registered: ReadonlySet<string>): string[][] {
  const absent = [...Object.keys(recorded.metrics), ...recorded.runtime].filter(
    (name) => !registered.has(name),
  )
  const byReason = Map.groupBy(absent, (name) => reasonOf(name))
  return [...byReason].map(([reason, names]) => [shownNames(names), reason])
}

/**
 * Maximum number of names in a table row. If more metrics have the same reason, only their common
 * prefix and their number are shown.
 */
const NAMES_SHOWN_MAX = 12

function shownNames(names: readonly string[]): string {
  const [first = ''] = names
  if (names.length <= NAMES_SHOWN_MAX) return names.map(code).join(' ')
  return `${code(`${first.slice(0, first.indexOf('_') + 1)}*`)} (${names.length})`
}

/** Returns all metrics that a server can register. */
export async function registeredMetrics(): Promise<readonly RegisteredMetric[]> {
  const { all, files, stop } = record()
  const folder = mkdtempSync(join(tmpdir(), 'keelson-reference-'))
  try {
    await runServer(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  // Register the metrics of sockets and files that the server above does not use.
  const metrics = new Metrics()
  void new SignerMetrics(metrics, systemClock)
  void new DialerMetrics(metrics, systemClock)
  void new TransformationMetrics(metrics, systemClock)
  void new KmsMetrics(metrics, '', systemClock)
  for (const what of ['authentication', 'authorization', 'encryption'] as const)
    addReloadMetrics(metrics, {
      what,
      serverId: '',
      reloads: () => ({
        success: { count: 0, lastSeconds: 0 },
        failure: { count: 0, lastSeconds: 0 },
      }),
    })
  stop()
  const missed = globSync('**/*.ts', { cwd: src })
    .filter((file) => !file.endsWith('.test.ts') && file !== 'lib/telemetry/metrics.ts')
    .filter((file) =>
      /\bmetrics\s*\.(counter|gauge|histogram|summary)\(/.test(
        readFileSync(join(src, file), 'utf8'),
      ),
    )
    .filter((file) => !files.has(file))
  if (missed.length > 0)
    throw new Error(
      `scripts/reference/metrics.ts must call the files that register these metrics: ${missed.join(', ')}`,
    )
  return all
}

async function runServer(folder: string): Promise<void> {
  const [port = 0] = await freePorts(1)
  // Configure tracing, with a file that needs neither kind nor apiVersion. No requests are traced,
  // so the server never connects to the endpoint.
  const tracing = join(folder, 'tracing.yaml')
  writeFileSync(tracing, 'endpoint: 127.0.0.1:1\n')
  const checked = checkArgs([
    '--store=memory',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${folder}`,
    '--controllers=*',
    `--audit-log-path=${join(folder, 'audit.log')}`,
    `--tracing-config-file=${tracing}`,
    // The server never calls this issuer, because no client sends a token.
    '--oidc-issuer-url=https://127.0.0.1:1',
    '--oidc-client-id=reference',
    '--allow-metric-labels="apiserver_request_total,verb=GET"',
  ])
  if (checked.kind === 'faults') throw new Error(checked.faults.join('\n'))
  await using server = await startServer(
    checked.config,
    realEnvironment(() => undefined),
  )
  await server.reloadCertificate()
}

/** Starts to record which metrics are registered, and which files in src register them. */
function record(): {
  readonly all: RegisteredMetric[]
  readonly files: ReadonlySet<string>
  readonly stop: () => void
} {
  const all: RegisteredMetric[] = []
  const files = new Set<string>()
  const stops = (['counter', 'gauge', 'histogram', 'summary'] as const).map((type) => {
    const original: unknown = Reflect.get(Metrics.prototype, type)
    if (typeof original !== 'function') throw new Error(`Metrics has no ${type}`)
    Reflect.set(
      Metrics.prototype,
      type,
      function (this: Metrics, options: MetricOptions, ...rest: readonly unknown[]) {
        const [bounds] = rest
        all.push({ ...options, type, bounds: Array.isArray(bounds) ? bounds : undefined })
        for (const [, file = ''] of (new Error('who').stack ?? '').matchAll(/\/src\/(\S+?\.ts):/g))
          files.add(file)
        return Reflect.apply(original, this, [options, ...rest])
      },
    )
    return () => Reflect.set(Metrics.prototype, type, original)
  })
  const stop = (): void => {
    for (const restore of stops) restore()
  }
  return { all, files, stop }
}
