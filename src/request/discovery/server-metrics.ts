/** Metrics about the server itself: its version, its feature gates and its health. */
import type { Metrics } from '../../lib/telemetry/metrics.ts'
import type { OnChecked } from './health.ts'
import { versionDocument } from './version.ts'

type Gates = {
  readonly release: number
  readonly all: readonly { readonly name: string; readonly stage: string; readonly isOn: boolean }[]
}

export function addServerMetrics(metrics: Metrics, gates: Gates): void {
  const {
    buildDate,
    compiler,
    gitCommit,
    gitTreeState,
    gitVersion,
    goVersion,
    major,
    minor,
    platform,
  } = versionDocument(gates.release)
  const labels = [
    'build_date',
    'compiler',
    'git_commit',
    'git_tree_state',
    'git_version',
    'go_version',
    'major',
    'minor',
    'platform',
  ]
  const build = metrics.gauge({
    name: 'kubernetes_build_info',
    help: 'Version of the server, as labels. The value is always 1.',
    labels,
  })
  build.with(
    buildDate,
    compiler,
    gitCommit,
    gitTreeState,
    gitVersion,
    goVersion,
    major,
    minor,
    platform,
  ).value = 1
  const enabled = metrics.gauge({
    name: 'kubernetes_feature_enabled',
    help: '1 if the feature gate is enabled, 0 otherwise.',
    stability: 'BETA',
    labels: ['name', 'stage'],
  })
  metrics.onPrint(() => {
    for (const { name, stage, isOn } of gates.all)
      enabled.with(name, stage === 'GA' ? '' : stage).value = isOn ? 1 : 0
  })
}

/**
 * Returns a function that records the results of checks. A check appears in the metrics after its
 * first run.
 */
export function countChecks(metrics: Metrics): OnChecked {
  const stability = 'STABLE'
  const last = metrics.gauge({
    name: 'kubernetes_healthcheck',
    help: 'Result of the last run of each health check: 1 if it succeeded, 0 otherwise.',
    stability,
    labels: ['name', 'type'],
  })
  const total = metrics.counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Number of runs of each health check, by result.',
    stability,
    labels: ['name', 'status', 'type'],
  })
  return (endpoint, name, isOk) => {
    last.with(name, endpoint).value = isOk ? 1 : 0
    total.with(name, isOk ? 'success' : 'error', endpoint).add()
  }
}
