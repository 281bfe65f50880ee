import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Handler } from '../api/request.ts'
import type { ApiResponse } from '../api/request.ts'
import { type Log, silent } from '../lib/telemetry/log.ts'
import { SteppedTime } from '../../test/support/harness/stepped-time.ts'
import { followFlowSchemas } from './flow-schemas.ts'

const answer = (status: number, body: object): ApiResponse => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
})

const schema = {
  metadata: { name: 'probes' },
  spec: { priorityLevelConfiguration: { name: 'exempt' } },
}

test('if priority levels cannot be listed, they are not treated as missing', {
  timeout: 120_000,
}, async () => {
  const written: string[] = []
  const logged: string[] = []
  const handle: Handler = async ({ method, path, query, signal }) => {
    if (method === 'PATCH') written.push(path)
    if (query.has('watch')) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      return answer(500, {})
    }
    if (path.endsWith('prioritylevelconfigurations'))
      return answer(503, { kind: 'Status', status: 'Failure' })
    return answer(200, { items: [schema] })
  }
  const log: Log = (level, message) => void logged.push(`${level} ${message}`)
  {
    await using following = followFlowSchemas({ handle, now: () => '2026-01-01T00:00:00Z', log })
    void following
    await turn()
    await turn()
  }
  assert.deepEqual(written, [])
  assert.deepEqual(logged, ['warn the check for dangling FlowSchemas failed; retrying'])
})

test('a failed write of a condition is retried', { timeout: 120_000 }, async () => {
  let reported = 0
  const again = Promise.withResolvers<void>()
  const handle: Handler = async ({ method, path, query, signal }) => {
    if (method === 'PATCH' && ++reported === 2) again.resolve()
    if (method === 'PATCH') return answer(reported === 1 ? 500 : 200, {})
    if (query.has('watch')) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      return answer(500, {})
    }
    return answer(200, { items: path.endsWith('flowschemas') ? [schema] : [] })
  }
  await using following = followFlowSchemas({
    handle,
    now: () => '2026-01-01T00:00:00Z',
    log: silent,
  })
  void following
  await again.promise
})

test('a watch that opens after the controller stopped is closed', {
  timeout: 120_000,
}, async () => {
  let closed = 0
  const opening = Promise.withResolvers<void>()
  const handle: Handler = async ({ query }) => {
    if (!query.has('watch')) return answer(200, { items: [] })
    await opening.promise
    let isClosed = false
    const close = (): void => {
      isClosed = true
      closed++
    }
    return {
      status: 200,
      headers: {},
      frames: { take: () => (isClosed ? undefined : []), onReady: () => undefined, close },
    }
  }
  const following = followFlowSchemas({ handle, now: () => '2026-01-01T00:00:00Z', log: silent })
  await turn()
  const ended = following[Symbol.asyncDispose]()
  opening.resolve()
  await ended
  await turn()
  assert.equal(closed, 2)
})

test('if servers disagree about a FlowSchema, each of them writes it at most six times a minute', {
  timeout: 120_000,
}, async () => {
  const time = new SteppedTime()
  let writes = 0
  const ready: (() => void)[] = []
  const handle: Handler = async ({ method, path, query }) => {
    if (method === 'PATCH') {
      writes++
      // Another server is assumed to revert each write at once. The list therefore never contains
      // what this server has written.
      for (const report of ready.splice(0)) report()
      return answer(200, {})
    }
    if (!query.has('watch'))
      return answer(200, { items: path.endsWith('flowschemas') ? [schema] : [] })
    let isClosed = false
    let seen = 0
    const frames = {
      take: () => {
        if (isClosed) return undefined
        const isNew = seen < writes
        seen = writes
        return isNew ? [Buffer.from('{}\n')] : []
      },
      onReady: (report: () => void) => void ready.push(report),
      close: () => {
        isClosed = true
        for (const report of ready.splice(0)) report()
      },
    }
    return { status: 200, headers: {}, frames }
  }
  await using following = followFlowSchemas({
    handle,
    now: () => '2026-01-01T00:00:00Z',
    time,
    log: silent,
  })
  void following
  await settle()
  assert.equal(writes, 6)
  time.advance(30_000)
  await settle()
  assert.equal(writes, 6)
  time.advance(30_000)
  await settle()
  assert.equal(writes, 12)
})

async function settle(): Promise<void> {
  for (let turns = 0; turns < 200; turns++) await turn()
}
