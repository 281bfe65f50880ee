/**
 * Measures what audit costs a get: `node bench/parts/audit-events.ts`. A get has two audit events
 * at level Metadata. For each of them, the policy is evaluated, and the event is serialized and
 * passed to the log in `batch` mode. The figure is CPU time of this thread. Nothing is written to
 * disk; bench/server/audit.ts measures the rest.
 */
import { RequestContext } from '../../src/api/context.ts'
import type { ApiRequest, ApiResponse } from '../../src/api/request.ts'
import { Audit } from '../../src/request/audit/audit.ts'
import { BatchBackend } from '../../src/request/audit/batch.ts'
import { LogSink } from '../../src/request/audit/log-sink.ts'
import { addAuditMetrics } from '../../src/request/audit/metrics.ts'
import { compilePolicy } from '../../src/request/audit/policy.ts'
import { requestInfo } from '../../src/request/filters/request-info.ts'
import { Metrics } from '../../src/lib/telemetry/metrics.ts'
import { systemTime } from '../../src/lib/time/timers.ts'

const TURNS = 20_000
const WARM_UP_TURNS = 10_000
/** Number of requests that arrive in one tick of the event loop. */
const TURN_REQUESTS = 16

let writes = 0
let bytes = 0
const lines = {
  append: async (written: Buffer): Promise<void> => {
    writes++
    bytes += written.length
  },
  appendLong: async (pieces: readonly Buffer[]): Promise<void> => {
    for (const piece of pieces) bytes += piece.length
    writes++
  },
  close: () => Promise.resolve(),
}
const reportLost = (): void => {
  throw new Error('an event was lost')
}
const sink = new LogSink(lines, {
  format: 'json',
  reportLost,
  timers: systemTime,
  waitingBytesMax: Infinity,
})
const backend = new BatchBackend(sink, {
  // The defaults of `--audit-log-mode=batch`.
  mode: { kind: 'batch', bufferEventsMax: 10_000, batchEventsMax: 1, waitMs: 0, throttle: null },
  batchesMax: 1,
  eventBytesMax: Infinity,
  batchBytesMax: 10 << 20,
  bufferBytes: Infinity,
  time: systemTime,
  reportLost,
})
const rule = {
  level: 'Metadata',
  users: [],
  userGroups: [],
  verbs: [],
  resources: [],
  namespaces: [],
  nonResourceUrls: [],
  omitStages: [],
  omitsManagedFields: null,
} as const
const audit = new Audit({
  evaluate: compilePolicy({ rules: [rule], omitStages: [], omitsManagedFields: false }),
  backends: [backend],
  metrics: addAuditMetrics(new Metrics()),
  clock: systemTime,
})

const user = { name: 'alice', uid: 'alice-uid', groups: ['dev', 'system:authenticated'] }
const decision = {
  verdict: 'allow',
  reason: 'RBAC: allowed by ClusterRoleBinding "dev" of ClusterRole "view" to Group "dev"',
} as const
const response: ApiResponse = { status: 200, headers: {}, body: Buffer.alloc(100) }
const { signal } = new AbortController()
/** Headers that the requests of one connection share. */
const headers = Object.freeze({
  host: 'localhost',
  authorization: 'Bearer a',
  'user-agent': 'h2load nghttp2/1.52.0',
})
const requests = Array.from(
  { length: 64 },
  (_, at): ApiRequest => ({
    method: 'GET',
    path: `/api/v1/namespaces/default/configmaps/bench-${at}`,
    rawQuery: '',
    query: new URLSearchParams(),
    headers,
    hasBody: false,
    body: async () => Buffer.alloc(0),
    pipeBody: async () => undefined,
    signal,
    remoteAddress: '127.0.0.1',
    peerCertificate: () => undefined,
  }),
)
const infos = requests.map(requestInfo)
const auditId = '0fcbe3f2-4a2c-4f31-9d1e-0a3c5a0f7c11'

function ask(at: number): void {
  const request = requests[at % requests.length]
  const info = infos[at % infos.length]
  if (request === undefined || info === undefined) return
  const startMs = performance.now()
  const { monotonicMs } = systemTime
  const context = new RequestContext({
    auditId,
    info,
    timeoutMs: 1000,
    startMs,
    client: { signal },
    monotonicMs,
  })
  context.identify(user)
  const audited = audit.begin(
    { request, info, auditId, startMs, nowMs: startMs, isLongRunning: false },
    user,
  )
  void audited?.received(context)
  context.decision = decision
  void audited?.answered(response, { nowMs: startMs })
}

async function askInTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    for (let at = 0; at < TURN_REQUESTS; at++) ask(turn * TURN_REQUESTS + at)
    await new Promise((resolve) => void setImmediate(resolve))
  }
}

await askInTurns(WARM_UP_TURNS)
for (let run = 0; run < 3; run++) {
  writes = 0
  bytes = 0
  const before = process.threadCpuUsage()
  await askInTurns(TURNS)
  const { user: inUser, system } = process.threadCpuUsage(before)
  const gets = TURNS * TURN_REQUESTS
  console.log(
    `${((inUser + system) / gets).toFixed(2)} µs a get, ${(gets / writes).toFixed(0)} gets and ${(bytes / writes / 1024).toFixed(0)} KB a write`,
  )
}
await audit[Symbol.asyncDispose]()
