import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../api/request.ts'
import type { Log } from '../lib/telemetry/log.ts'
import { Bootstrap } from './bootstrap.ts'

const handle: Handler = async () => ({ status: 500, headers: {}, body: Buffer.alloc(0) })

test('if many initial objects of one resource cannot be created, one log line reports their number', async () => {
  const lines: unknown[] = []
  const log: Log = (...line) => lines.push(line)
  const first = ['a', 'b', 'c'].map((name) => ({
    collection: '/api/v1/namespaces',
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  }))
  await using bootstrap = new Bootstrap({ handle, first, prepare: async () => {}, later: [], log })
  await bootstrap.start()
  assert.equal(bootstrap.isDone, false)
  const details = { count: 3, collection: '/api/v1/namespaces', status: 500 }
  assert.deepEqual(lines, [
    ['warn', 'failed to create objects that every cluster has; retrying', details],
  ])
})
