/**
 * Reads and validates the audit flags and the files that they name. All errors are reported, with
 * the messages of kube-apiserver.
 */
import { type AuditPolicy, readAuditPolicy } from './files/audit-policy.ts'
import { readKubeconfig } from './files/kubeconfig.ts'
import type { ClientConfig } from '../net/outbound/kubeconfig.ts'
import { readFlagBytes } from './flag-file.ts'
import type { Values } from './values.ts'

export type AuditConfig = {
  /**
   * The audit policy. If null, no events are recorded, even if a log file or a webhook is
   * configured.
   */
  readonly policy: AuditPolicy | null
  readonly log: AuditLog | null
  readonly webhook: AuditWebhook | null
}

type Backend = {
  readonly mode: AuditMode
  /** Size limits above which events are truncated. If null, events are not truncated. */
  readonly truncate: { readonly batchBytesMax: number; readonly eventBytesMax: number } | null
}

export type AuditMode =
  /**
   * Modes in which each request waits until its audit events are written. In the mode
   * `blocking-strict`, a request fails if its events cannot be written.
   */
  | { readonly kind: 'blocking' | 'blocking-strict' }
  | {
      readonly kind: 'batch'
      readonly bufferEventsMax: number
      readonly batchEventsMax: number
      readonly waitMs: number
      readonly throttle: { readonly batchesPerSecond: number; readonly burst: number } | null
    }

export type AuditLog = Backend & {
  /** Path of the log file. `-` means standard output. */
  readonly path: string
  readonly format: 'json' | 'legacy'
  /** Limits for rotated files. 0 means no limit, except for the size, where it means 100 MB. */
  readonly rotation: {
    readonly megabytesMax: number
    readonly daysMax: number
    readonly backupsMax: number
  }
  readonly isCompressed: boolean
}

export type AuditWebhook = Backend & {
  readonly kubeconfig: ClientConfig
  readonly initialBackoffMs: number
}

export function readAudit(values: Values, warn: (text: string) => void): AuditConfig {
  const policy = readPolicy(values, warn)
  return { policy, log: readLog(values), webhook: readWebhook(values, policy !== null) }
}

function readPolicy(values: Values, warn: (text: string) => void): AuditPolicy | null {
  const path = values.string('audit-policy-file')
  if (path === '') return null
  const refuse = (why: string): void => values.fault(`loading audit policy file: ${why}`)
  const bytes = readFlagBytes(
    { fault: (why) => refuse(`failed to read file path ${JSON.stringify(path)}: ${why}`) },
    path,
  )
  if (bytes === undefined) return null
  const read = readAuditPolicy(bytes, path)
  for (const warning of read.warnings) warn(warning)
  if (!('fault' in read)) return read.value
  refuse(read.fault)
  return null
}

/** Reads the flags for the log. If the log is disabled, the flags are parsed but not validated. */
function readLog(values: Values): AuditLog | null {
  const path = values.string('audit-log-path')
  const numbers = readNumbers(values, 'log')
  const rotation = {
    daysMax: values.integer('audit-log-maxage'),
    backupsMax: values.integer('audit-log-maxbackup'),
    megabytesMax: values.integer('audit-log-maxsize'),
  }
  const isCompressed = values.boolean('audit-log-compress')
  if (path === '') return null
  const backend = checkBackend(values, 'log', numbers)
  const format = values.string('audit-log-format')
  if (format !== 'legacy' && format !== 'json') {
    values.fault(`invalid audit log format ${format}, allowed formats are "legacy,json"`)
  }
  refuseNegative(values, 'maxage', rotation.daysMax)
  refuseNegative(values, 'maxbackup', rotation.backupsMax)
  refuseNegative(values, 'maxsize', rotation.megabytesMax)
  return {
    path,
    ...backend,
    format: format === 'legacy' ? 'legacy' : 'json',
    rotation,
    isCompressed,
  }
}

function refuseNegative(values: Values, name: string, count: number): void {
  if (count < 0) values.fault(`--audit-log-${name} ${count} can't be a negative number`)
}

/**
 * Reads the flags for the webhook that receives audit events. If there is no audit policy, the
 * kubeconfig of the webhook is not read.
 */
function readWebhook(values: Values, hasPolicy: boolean): AuditWebhook | null {
  const path = values.string('audit-webhook-config-file')
  const numbers = readNumbers(values, 'webhook')
  // `oldName` is a deprecated alias of the flag `name`.
  const [name, oldName] = [
    'audit-webhook-initial-backoff',
    'audit-webhook-batch-initial-backoff',
  ] as const
  const backoffMs = values.durationMs(name)
  const oldBackoffMs = values.isGiven(oldName) ? values.durationMs(oldName) : 0
  const initialBackoffMs = values.isGivenAfter(oldName, name) ? oldBackoffMs : backoffMs
  if (path === '') return null
  const backend = checkBackend(values, 'webhook', numbers)
  if (!hasPolicy) return null
  const kubeconfig = readKubeconfig(path)
  if (!('fault' in kubeconfig)) return { ...backend, kubeconfig, initialBackoffMs }
  values.fault(`initializing audit webhook: ${kubeconfig.fault}`)
  return null
}

type BackendName = 'log' | 'webhook'

type Numbers = {
  readonly batch: Omit<AuditMode & { readonly kind: 'batch' }, 'kind' | 'throttle'>
  readonly throttle: { readonly batchesPerSecond: number; readonly burst: number }
  readonly isThrottled: boolean
  readonly truncate: { readonly batchBytesMax: number; readonly eventBytesMax: number }
  readonly isTruncated: boolean
}

const readNumbers = (values: Values, name: BackendName): Numbers => ({
  batch: {
    bufferEventsMax: values.integer(`audit-${name}-batch-buffer-size`),
    batchEventsMax: values.integer(`audit-${name}-batch-max-size`),
    waitMs: values.durationMs(`audit-${name}-batch-max-wait`),
  },
  throttle: {
    batchesPerSecond: values.float(`audit-${name}-batch-throttle-qps`),
    burst: values.integer(`audit-${name}-batch-throttle-burst`),
  },
  isThrottled: values.boolean(`audit-${name}-batch-throttle-enable`),
  truncate: {
    batchBytesMax: values.integer(`audit-${name}-truncate-max-batch-size`),
    eventBytesMax: values.integer(`audit-${name}-truncate-max-event-size`),
  },
  isTruncated: values.boolean(`audit-${name}-truncate-enabled`),
})

function checkBackend(values: Values, name: BackendName, numbers: Numbers): Backend {
  const mode = checkMode(values, name, numbers)
  checkTruncation(values, name, numbers)
  const version = values.string(`audit-${name}-version`)
  if (version.split('/').length > 2) values.fault(`unexpected GroupVersion string: ${version}`)
  else if (version !== 'audit.k8s.io/v1') {
    values.fault('invalid group version, allowed versions are ["audit.k8s.io/v1"]')
  }
  return { mode, truncate: numbers.isTruncated ? numbers.truncate : null }
}

/** Validates the mode and the batch flags. Only the first error is reported. */
function checkMode(
  values: Values,
  name: BackendName,
  { batch, throttle, isThrottled }: Numbers,
): AuditMode {
  const mode = values.string(`audit-${name}-mode`)
  if (mode === 'blocking' || mode === 'blocking-strict') return { kind: mode }
  if (mode !== 'batch') {
    values.fault(
      `invalid audit ${name} mode ${mode}, allowed modes are "batch,blocking,blocking-strict"`,
    )
    return { kind: 'blocking' }
  }
  const amounts: readonly (readonly [string, number])[] = [
    ['buffer size', batch.bufferEventsMax],
    ['max batch size', batch.batchEventsMax],
    ['throttle QPS', isThrottled ? throttle.batchesPerSecond : 1],
    ['throttle burst', isThrottled ? throttle.burst : 1],
  ]
  const wrong = amounts.find(([, amount]) => amount <= 0)
  if (wrong !== undefined) {
    values.fault(`invalid audit batch ${name} ${wrong[0]} ${wrong[1]}, must be a positive number`)
  }
  return { kind: 'batch', ...batch, throttle: isThrottled ? throttle : null }
}

/**
 * Validates the truncation limits. As in kube-apiserver, they are validated even if truncation is
 * disabled.
 */
function checkTruncation(values: Values, name: BackendName, { truncate }: Numbers): void {
  const { batchBytesMax, eventBytesMax } = truncate
  const what = `invalid audit truncate ${name}`
  if (eventBytesMax <= 0)
    values.fault(`${what} max event size ${eventBytesMax}, must be a positive number`)
  else if (batchBytesMax < eventBytesMax) {
    values.fault(
      `${what} max batch size ${batchBytesMax}, must be greater than max event size (${eventBytesMax})`,
    )
  }
}
