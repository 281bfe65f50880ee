/** Builds the audit log from its configuration. */
import type { AuditConfig, AuditLog, AuditMode, AuditWebhook } from '../../config/audit.ts'
import { goFileError } from '../../config/files/go-file-error.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Dial } from '../../lib/net/dial.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Metrics } from '../../lib/telemetry/metrics.ts'
import { systemTimers, type Time } from '../../lib/time/timers.ts'
import { KubeconfigClient } from '../../net/outbound/kubeconfig-client.ts'
import { Audit } from './audit.ts'
import type { AuditBackend, EventSink } from './backend.ts'
import { BatchBackend } from './batch.ts'
import { BlockingBackend } from './blocking.ts'
import { LogFile } from './log-file.ts'
import { type Lines, LogSink } from './log-sink.ts'
import { createReportLost, type ReportLost } from './lost.ts'
import { addAuditMetrics } from './metrics.ts'
import { compilePolicy } from './policy.ts'
import { standardOutput } from './standard-output.ts'
import { WebhookSink } from './webhook-sink.ts'

export type AuditEnvironment = {
  readonly metrics: Metrics
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  /** Maximum memory for all requests together, in bytes. */
  readonly requestBytes: number
  /** Opens connections to the webhook. If undefined, the connections are direct. */
  readonly dial?: Dial | undefined
}

/**
 * Creates the audit log. Returns undefined if no policy or no backend is configured. Fails if the
 * log file cannot be opened.
 */
export async function createAudit(
  config: AuditConfig,
  environment: AuditEnvironment,
): Promise<Audit | undefined> {
  const { policy, log, webhook } = config
  const { clock } = environment
  // As in kube-apiserver, register the metrics and open the file even if no policy is configured.
  const metrics = addAuditMetrics(environment.metrics)
  const lines = log === null ? undefined : await openLines(log, environment)
  if (policy === null || (lines === undefined && webhook === null)) return undefined
  const time: Time = { ...clock, ...systemTimers }
  const { random, dial, requestBytes } = environment
  const bufferBytes = Math.min(BUFFER_BYTES_MAX, requestBytes * BUFFER_SHARE)
  const parts = {
    time,
    reportLost: createReportLost(metrics, environment.log),
    random,
    dial,
    bufferBytes,
  }
  const backends: AuditBackend[] = []
  if (log !== null && lines !== undefined) {
    const { format, mode } = log
    // In the blocking modes, a request waits for each pending event, so pending events can use as
    // much memory as all requests together.
    const waitingBytesMax = mode.kind === 'batch' ? bufferBytes : requestBytes
    const sink = new LogSink(lines, {
      format,
      reportLost: parts.reportLost,
      timers: time,
      waitingBytesMax,
    })
    // Lines are written in order, so only one batch is written at a time.
    backends.push(createBackend(sink, { ...log, batchesMax: 1 }, parts))
  }
  if (webhook !== null)
    backends.push(
      createBackend(createWebhook(webhook, parts), { ...webhook, batchesMax: 64 }, parts),
    )
  return new Audit({ evaluate: compilePolicy(policy), backends, metrics, clock })
}

type SinkOptions = {
  readonly time: Time
  readonly random: () => number
  readonly reportLost: ReportLost
  readonly dial?: Dial | undefined
  readonly bufferBytes: number
}

/**
 * Limit of the buffer for events for which no request waits. The limit is a share of the memory for
 * requests, because events can have a size of megabytes. kube-apiserver limits only the number of
 * events.
 */
const BUFFER_SHARE = 1 / 4
const BUFFER_BYTES_MAX = 256 << 20

/**
 * Maximum size of a batch, and the default value if truncation is enabled. A batch is joined and
 * encoded in one tick of the event loop.
 */
const BATCH_BYTES_MAX = 10 << 20

type BackendOptions = Pick<AuditLog, 'truncate'> & {
  readonly mode: AuditMode
  readonly batchesMax: number
}

function createBackend(
  sink: EventSink,
  { mode, truncate, batchesMax }: BackendOptions,
  { time, reportLost, bufferBytes }: SinkOptions,
): AuditBackend {
  const { eventBytesMax, batchBytesMax } = truncate ?? {
    eventBytesMax: Infinity,
    batchBytesMax: BATCH_BYTES_MAX,
  }
  if (mode.kind === 'batch') {
    return new BatchBackend(sink, {
      mode,
      batchesMax,
      eventBytesMax,
      batchBytesMax,
      bufferBytes,
      time,
      reportLost,
    })
  }
  return new BlockingBackend(sink, {
    isStrict: mode.kind === 'blocking-strict',
    eventBytesMax,
    reportLost,
  })
}

/** Timeout of a call, as in kube-apiserver's client. The retries of a batch can take longer. */
const WEBHOOK_TIMEOUT_MS = 30_000

const createWebhook = (
  { kubeconfig, initialBackoffMs }: AuditWebhook,
  { time, random, reportLost, dial, bufferBytes }: SinkOptions,
): EventSink =>
  new WebhookSink(new KubeconfigClient(kubeconfig, { timeoutMs: WEBHOOK_TIMEOUT_MS, time, dial }), {
    initialBackoffMs,
    timers: time,
    random,
    reportLost,
    // In `batch` mode, the buffer reaches its own limit first. Therefore, the limit of the sink
    // (the destination of events) causes no additional loss of events.
    charactersMax: bufferBytes,
  })

async function openLines(
  { path, rotation, isCompressed }: AuditLog,
  { clock, log }: AuditEnvironment,
): Promise<Lines> {
  if (path === '-') return standardOutput
  const { wallMs, monotonicMs } = clock
  const { megabytesMax, backupsMax, daysMax } = rotation
  try {
    const old = { filesMax: backupsMax, daysMax, isCompressed, wallMs, log }
    return await LogFile.create({ path, megabytesMax, old, wallMs, monotonicMs })
  } catch (cause) {
    const why = goFileError('open', path, cause)
    throw new Error(`ensureLogFile: ${why}: correct --audit-log-path`, { cause })
  }
}
