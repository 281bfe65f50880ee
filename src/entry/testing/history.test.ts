import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import type { ApiRequest } from '../../api/request.ts'
import { History } from './history.ts'

const requestOf = (userAgent: string): ApiRequest => ({
  method: 'POST',
  path: '/api/v1/namespaces/default/configmaps',
  query: new URLSearchParams(),
  headers: { 'user-agent': userAgent },
  hasBody: false,
  body: async () => Buffer.alloc(0),
  pipeBody: async () => undefined,
  remoteAddress: '',
  peerCertificate: () => undefined,
  signal: new AbortController().signal,
})

test('the names and user agents of requests count toward the memory limit of the history', async () => {
  const history = new History({ wallMs: () => 0, revision: () => 0, root: '/registry/' })
  history.start()
  const held = await heldBytes(async () => {
    for (let at = 1; at <= 100; at++) {
      const key = `/registry/configmaps/default/${at}`
      const event = {
        type: 'put',
        key,
        value: Buffer.from('{}'),
        revision: at,
        createRevision: at,
      } as const
      const handle = history.aroundRequest(async () => {
        history.add({ revision: at, events: [event] }, () => undefined)
        return { status: 201, headers: {}, body: Buffer.alloc(0) }
      })
      await handle(requestOf(Buffer.alloc(1 << 20, 'a').toString()))
    }
  })
  assert.equal(history.read({}).at(-1)?.name, '100')
  assert.ok(held < 80 << 20, `${held} bytes are held`)
})
