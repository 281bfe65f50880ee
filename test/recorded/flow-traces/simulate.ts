/**
 * Sends the same traces only to Keelson's flow control, in simulated time: `node
 * test/recorded/flow-traces/simulate.ts`. The output shows the decisions of flow control when
 * nothing else takes time. If the results differ from those of run.ts, the machine or other
 * components of the server are the cause. The options are those of run.ts.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { KubeObject } from '../../../src/api/object.ts'
import { defaultMinor } from '../../../src/api/releases.ts'
import { flowControlObjects } from '../../../src/controllers/bootstrap-flow-control.ts'
import { FlowControl, type Seat } from '../../../src/request/flow/flow-control.ts'
import { readSchema } from '../../../src/request/flow/flow-schema.ts'
import { FlowMetrics } from '../../../src/request/flow/metrics.ts'
import { readLevel } from '../../../src/request/flow/priority-level.ts'
import { requestInfo } from '../../../src/request/filters/request-info.ts'
import { Metrics } from '../../../src/lib/telemetry/metrics.ts'
import { SteppedTime } from '../../support/harness/stepped-time.ts'
import { SERVICE_MS } from './delaying-authorizer.ts'
import { type TraceRequest, createTraces, users } from './traces.ts'

/** These values are the same as in run.ts. */
const SEATS = 30
const OBJECTS = 500
const TIMEOUT_MS = 4_000
const PAUSE_MS = 3_000
const STEP_MS = 1

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, seed: { type: 'string', default: '1' } },
})

const time = new SteppedTime()
const flows = new FlowControl({
  countsInitialObjects: false,
  time,
  metrics: new FlowMetrics(new Metrics(), 0),
  seats: SEATS,
  countObjects: () => OBJECTS,
  requestTimeoutMs: TIMEOUT_MS,
})
for (const { object: wanted } of flowControlObjects(defaultMinor)) {
  const object: KubeObject = JSON.parse(JSON.stringify(wanted))
  const { name = '' } = object.metadata
  if (object.kind === 'FlowSchema') flows.setSchema(name, readSchema(object))
  else flows.setLevel(name, readLevel(object))
}

const counts = new Map<string, { served: number; refused: number }>()
const never = new AbortController().signal

async function serve({ user: name, method, path }: TraceRequest): Promise<void> {
  const [bare = '', query = ''] = path.split('?')
  const parameters = new URLSearchParams(query)
  const info = requestInfo({ method, path: bare, query: parameters })
  const user = {
    name,
    uid: '',
    groups: [...(users.get(name) ?? []), 'system:authenticated'],
    extra: {},
  }
  const flow = flows.classify(user, info)
  if (flow === undefined) throw new Error(`${name} is in no flow`)
  const key = name.replace(/-\d+$/, '-*')
  const count = counts.get(key) ?? { served: 0, refused: 0 }
  counts.set(key, count)
  try {
    const timeoutMs = info.verb === 'watch' ? Infinity : TIMEOUT_MS
    const entering = {
      user,
      info,
      timeoutMs,
      nowMs: time.monotonicMs(),
      request: { query: parameters, signal: never },
    }
    const seat: Seat = await flows.enter(flow, entering)
    count.served++
    await new Promise<void>((resolve) => void time.after(SERVICE_MS, resolve))
    seat.leave()
  } catch {
    count.refused++
  }
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    time.advance(STEP_MS)
    await nextTurn()
  }
}

for (const { name, arrivals } of createTraces(Number(values.seed)).filter((one) =>
  one.name.includes(values.only),
)) {
  counts.clear()
  // Start just after the server has redistributed seats among the priority levels.
  await pass(10_000 - (time.monotonicMs() % 10_000) + 1)
  const startMs = time.monotonicMs()
  for (const arrival of arrivals) {
    await pass(Math.max(0, startMs + arrival.atMs - time.monotonicMs()))
    void serve(arrival)
  }
  await pass(PAUSE_MS)
  console.log(name)
  for (const [user, { served, refused }] of counts) {
    const part = ((refused / (served + refused)) * 100).toFixed(1)
    console.log(`    refused of ${user}: ${part} % of ${served + refused}`)
  }
}
flows[Symbol.dispose]()
