import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { startCluster } from './cluster.ts'
import { Control, type ControlledCluster } from './control.ts'

const allowed: ApiResponse = {
  status: 201,
  headers: {},
  body: Buffer.from('{"status":{"allowed":true}}'),
}

const post = (path: string): ApiRequest => ({
  method: 'POST',
  path,
  query: new URLSearchParams(),
  headers: {},
  hasBody: false,
  body: async () => Buffer.alloc(0),
  pipeBody: async () => undefined,
  signal: new AbortController().signal,
  remoteAddress: '127.0.0.1',
  peerCertificate: () => undefined,
})

test('if a cluster stops while it is being forked, the fork is also stopped', async () => {
  await using cluster = await startCluster()
  const forking = Promise.withResolvers<ControlledCluster>()
  const stopped: string[] = []
  const fork: ControlledCluster = Object.create(cluster, {
    stop: { value: async () => void stopped.push('fork') },
    onStopped: { value: () => undefined },
  })
  const origin: ControlledCluster = Object.create(cluster, {
    fork: { value: () => forking.promise },
  })
  const control = new Control(origin)
  const handle = control.around(
    async () => allowed,
    () => assert.fail('a request for another path'),
  )
  const answering = handle(post('/keelson/testing/forks'))
  await new Promise((resolve) => setImmediate(resolve))
  await control.end()
  forking.resolve(fork)
  assert.equal((await answering).status, 400)
  assert.deepEqual(stopped, ['fork'])
})
