import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestContext } from '../../api/context.ts'
import type { Status } from '../../api/errors.ts'
import type { ApiRequest } from '../../api/request.ts'
import { printOrdered } from '../../objects/codec/json.ts'
import { isLongRunning } from '../filters/in-flight.ts'
import { requestInfo } from '../filters/request-info.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { AuditedRequest, type Recorder } from './audited-request.ts'
import { type AuditEvent, EventPrinterContext } from './event.ts'
import { MicroClock } from './micro-clock.ts'

const requestOf = (method: string, uri: string): ApiRequest => {
  const [path = '', query = ''] = uri.split('?')
  return {
    method,
    path,
    query: new URLSearchParams(query),
    headers: {},
    body: () => Promise.resolve(Buffer.alloc(0)),
    hasBody: false,
    pipeBody: () => Promise.resolve(),
    signal: new AbortController().signal,
    remoteAddress: '::1',
    peerCertificate: () => undefined,
  }
}

type BeginOptions = {
  readonly isCompleteOmitted?: boolean
  readonly isStrict?: boolean
  readonly isOrdered?: boolean
  readonly level?: AuditEvent['level']
}

/** Starts recording an authenticated request, with a backend in blocking mode. */
function begin(
  method: string,
  uri: string,
  {
    isCompleteOmitted = false,
    isStrict = false,
    isOrdered = true,
    level = 'Metadata',
  }: BeginOptions = {},
) {
  const stored: PromiseWithResolvers<boolean>[] = []
  const events: string[] = []
  const whole: AuditEvent[] = []
  const recorder: Recorder = {
    printing: new EventPrinterContext(new MicroClock(systemTime)),
    monotonicMs: systemTime.monotonicMs,
    isStrict,
    isOrdered,
    objectBytesMax: Infinity,
    store: (event) => {
      whole.push(event)
      events.push(JSON.parse(event.json).stage)
      const storing = Promise.withResolvers<boolean>()
      stored.push(storing)
      return storing.promise
    },
    countRejected: () => undefined,
  }
  const request = requestOf(method, uri)
  const info = requestInfo(request)
  const user = { name: 'alice', uid: '', groups: [] }
  const omitsStage = {
    RequestReceived: false,
    ResponseStarted: false,
    ResponseComplete: isCompleteOmitted,
    Panic: false,
  }
  const audited = new AuditedRequest(
    {
      arrived: {
        request,
        info,
        auditId: 'id',
        startMs: 0,
        nowMs: 0,
        isLongRunning: isLongRunning(info),
      },
      user,
      recording: { level, omitsManagedFields: false, omitsStage },
    },
    recorder,
  )
  const context = new RequestContext({
    auditId: 'id',
    info,
    timeoutMs: Infinity,
    client: request,
    monotonicMs: systemTime.monotonicMs,
  })
  context.identify(user)
  return { audited, stored, events, whole, received: audited.received(context) }
}

const pod = '/api/v1/namespaces/n/pods/p'
const awaited: readonly (readonly [
  isAwaited: boolean,
  method: string,
  uri: string,
  isCompleteOmitted?: boolean,
])[] = [
  [false, 'GET', pod],
  [false, 'GET', '/api/v1/pods'],
  [false, 'GET', '/api/v1/pods?watch=1'],
  [true, 'POST', '/api/v1/namespaces/n/pods'],
  [true, 'DELETE', pod],
  [true, 'POST', `${pod}/exec?command=rm`],
  [true, 'GET', `${pod}/exec?command=rm`],
  [true, 'GET', `${pod}/attach`],
  [true, 'GET', `${pod}/portforward`],
  [true, 'GET', `${pod}/proxy/delete-everything`],
  [true, 'GET', '/api/v1/namespaces/n/services/s/proxy/x'],
  [true, 'GET', '/api/v1/nodes/n/proxy/run'],
  [true, 'GET', pod, true],
]
for (const [isAwaited, method, uri, isCompleteOmitted = false] of awaited) {
  const what = isCompleteOmitted ? ' without a later event' : ''
  test(`the request ${method} ${uri}${what} ${isAwaited ? 'waits' : 'does not wait'} until its first audit event is stored`, () => {
    assert.equal(begin(method, uri, { isCompleteOmitted }).received instanceof Promise, isAwaited)
  })
}

test('if the audit backend does not preserve order, each audit event of a request is stored after the previous one', async () => {
  const { audited, stored, events } = begin('GET', pod, { isOrdered: false })
  let isSent = false
  const sent = Promise.resolve(
    audited.answered({ status: 200, headers: {}, body: Buffer.alloc(0) }, { nowMs: 0 }),
  ).then(() => {
    isSent = true
  })
  await new Promise(setImmediate)
  assert.deepEqual(events, ['RequestReceived'])
  stored[0]?.resolve(false)
  await new Promise(setImmediate)
  assert.deepEqual(events, ['RequestReceived', 'ResponseComplete'])
  assert.ok(!isSent)
  stored[1]?.resolve(true)
  await sent
  assert.ok(isSent)
})

test('with an ordered audit backend, the response to a read waits only for the last audit event of the read', async () => {
  const { audited, stored, events } = begin('GET', pod)
  const answered = audited.answered(
    { status: 200, headers: {}, body: Buffer.alloc(0) },
    { nowMs: 0 },
  )
  assert.deepEqual(events, ['RequestReceived', 'ResponseComplete'])
  stored[1]?.resolve(true)
  assert.equal((await answered).status, 200)
})

const longStatus: Status = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'is invalid: <'.repeat(10_000),
  reason: 'Invalid',
  details: { kind: 'pods', causes: [{ message: 'a' }] },
  code: 422,
}

for (const level of ['Metadata', 'RequestResponse'] as const) {
  for (const isIndented of [false, true]) {
    const form = isIndented ? 'indented' : 'compact'
    test(`in ${form} JSON, a long Status is serialized at most once for the audit event of level ${level}`, async () => {
      const { audited, stored, whole } = begin('POST', pod, { level })
      const { kind: _kind, apiVersion: _apiVersion, ...fields } = longStatus
      const json = printOrdered(longStatus)
      const body = Buffer.from(isIndented ? JSON.stringify(longStatus, null, 2) : `${json}\n`)
      const answered = audited.answered(
        { status: 422, headers: {}, body },
        { nowMs: 0, status: longStatus },
      )
      while (stored.length < 2) await new Promise(setImmediate)
      stored[1]?.resolve(true)
      assert.equal((await answered).status, 422)
      const event = whole[1] ?? assert.fail()
      const { responseStatus, responseObject } = JSON.parse(event.json)
      assert.deepEqual(responseStatus, fields)
      assert.deepEqual(responseObject, level === 'Metadata' ? undefined : longStatus)
      const times = level === 'Metadata' ? 1 : 2
      assert.equal(
        event.pieces().filter(({ buffer }) => buffer === body.buffer).length,
        isIndented ? 0 : times,
      )
      assert.ok(event.printedBytes > times * (json.length - 100))
    })
  }
}
