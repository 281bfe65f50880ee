/**
 * Reads flags for sizes and intervals. Also validates the values of flags that have no effect or
 * are not supported, as in kube-apiserver.
 */
import { tuningFlags } from './tuning-flags.ts'
import type { Values } from './values.ts'

export type TuningConfig = {
  /** Maximum number of objects that a deletecollection request deletes concurrently. */
  readonly deleteWorkers: number
  /** Whether a deleted object can wait for the garbage collector to delete its dependents. */
  readonly collectsGarbage: boolean
  /**
   * How often the server asks etcd for the size of the database, in milliseconds. 0 means never.
   */
  readonly sizePollMs: number
  /**
   * Maximum time in seconds by which an object outlives its TTL because it shares an etcd lease
   * with other objects.
   */
  readonly leaseReuseSecondsMax: number
}

export function readTuning(values: Values): TuningConfig {
  checkUnused(values)
  checkRefused(values)
  return {
    deleteWorkers: Math.max(1, values.integer('delete-collection-workers')),
    collectsGarbage: values.boolean('enable-garbage-collector'),
    sizePollMs: Math.max(0, values.durationMs('etcd-db-metric-poll-interval')),
    leaseReuseSecondsMax: Math.max(0, values.integer('lease-reuse-duration-seconds')),
  }
}

function checkUnused(values: Values): void {
  values.boolean('contention-profiling')
  values.durationMs('log-flush-frequency')
  values.integer('default-watch-cache-size')
  values.integer('kubelet-read-only-port')
  for (const flag of [
    'etcd-count-metric-poll-period',
    'etcd-healthcheck-timeout',
    'etcd-readycheck-timeout',
    'kubelet-timeout',
  ] as const) {
    values.durationMs(flag)
  }
  for (const size of values.slice('watch-cache-sizes')) checkCacheSize(values, size)
  const servers = values.integer('apiserver-count')
  if (servers < 1)
    values.fault(`--apiserver-count should be a positive number, but value '${servers}' provided`)
}

function checkCacheSize(values: Values, text: string): void {
  const [, size = '', rest] = text.split('#')
  if (!text.includes('#') || rest !== undefined)
    return values.fault(`invalid value of watch cache size: ${text}`)
  if (!/^[+-]?\d+$/.test(size)) return values.fault(`invalid size of watch cache size: ${text}`)
  if (Number(size) < 0) values.fault(`watch cache size cannot be negative: ${text}`)
}

function checkRefused(values: Values): void {
  for (const flag of ['peer-ca-file', 'peer-advertise-ip', 'peer-advertise-port'] as const) {
    if (values.string(flag) === '') continue
    const hint = `--${flag}: ${tuningFlags[flag].refused}; leave it out`
    values.fault(
      `--${flag} requires UnknownVersionInteroperabilityProxy feature to be turned on`,
      hint,
    )
  }
  if (values.boolean('enable-logs-handler')) values.fault(refusalOf('enable-logs-handler'))
  const redirects = 'aggregator-reject-forwarding-redirect'
  if (!values.boolean(redirects)) values.fault(refusalOf(redirects))
  for (const form of ['text', 'json'] as const) checkLogStreams(values, form)
}

/** Rejects flags that require the LoggingAlphaOptions feature gate, which cannot be enabled. */
function checkLogStreams(values: Values, form: 'text' | 'json'): void {
  const forbid = (field: string): void =>
    values.fault(`options.${form}.${field}: Forbidden: Feature LoggingAlphaOptions is disabled`)
  if (values.boolean(`log-${form}-split-stream`)) forbid('splitStream')
  const size = values.string(`log-${form}-info-buffer-size`)
  if (!/^[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*$/.test(size)) {
    const pattern = "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    values.refuse(
      `log-${form}-info-buffer-size`,
      `quantities must match the regular expression ${pattern}`,
    )
  } else if (Number.parseFloat(size) !== 0) forbid('infoBufferSize')
}

type RefusedFlag = 'aggregator-reject-forwarding-redirect' | 'enable-logs-handler'

const refusalOf = (flag: RefusedFlag): string =>
  `--${flag} is not supported, since ${tuningFlags[flag].refused}: leave it out`
