/**
 * Measures the cost of request metrics: `node bench/parts/request-metrics.ts`. Runs only the code
 * that counts a get: the filters, the metric series, the duration and the end of the request.
 */
import { RequestContext } from '../../src/api/context.ts'
import type { ApiRequest, ApiResponse } from '../../src/api/request.ts'
import { defaultGates } from '../../src/api/gates.ts'
import { requestInfo } from '../../src/request/filters/request-info.ts'
import { RequestMetrics } from '../../src/request/filters/request-metrics.ts'
import { Metrics } from '../../src/lib/telemetry/metrics.ts'
import { builtInResources } from '../../src/registry/built-in.ts'

const ROUNDS = 400_000
const request: ApiRequest = {
  method: 'GET',
  path: '/api/v1/namespaces/default/pods/a',
  query: new URLSearchParams(),
  headers: {},
  body: async () => Buffer.alloc(0),
  hasBody: false,
  pipeBody: async () => undefined,
  signal: new AbortController().signal,
  remoteAddress: '',
  peerCertificate: () => undefined,
}
const resource = builtInResources({
  allowsPrivileged: false,
  storedAs: 'json',
  ipFamily: 'IPv4',
  gates: defaultGates,
  isServed: () => true,
  now: () => '',
}).find(({ plural }) => plural === 'pods')
if (resource === undefined) throw new Error('no resource for pods')
const monotonicMs = (): number => performance.now()
const metrics = new RequestMetrics(new Metrics(), { monotonicMs })
const info = requestInfo(request)
const context = new RequestContext({
  auditId: '',
  info,
  timeoutMs: 1000,
  client: request,
  monotonicMs,
})
const user = { name: 'a', uid: '', groups: [] }
context.identify(user)
const passed = {
  kind: 'resource',
  resource,
  verb: 'get',
  namespace: 'default',
  name: 'a',
  subresource: '',
  view: undefined,
  user,
  context,
  http: request,
} as const
const response: ApiResponse = { status: 200, headers: {}, body: Buffer.alloc(1000) }

function round(): void {
  for (let at = 0; at < ROUNDS; at++) {
    metrics.filtered(context.spent)
    const measured = metrics.begin(passed, monotonicMs())
    measured.answer(response)
    measured.end()
  }
}

for (let warm = 0; warm < 3; warm++) round()
const before = process.cpuUsage()
round()
const { user: userUs, system } = process.cpuUsage(before)
console.log(`${((userUs + system) / ROUNDS).toFixed(2)} µs for the metrics of a request`)
