import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributes } from '../../../test/support/harness/admission.ts'
import { bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import { RequestContext } from '../../api/context.ts'
import { fieldsOf, itemsOf, type KubeObject } from '../../api/object.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { readPatch } from './read-patch.ts'

const refused = (): never => assert.fail('not asked for here')

function requestFor(plural: string, client = new AbortController()): ResourceRequest {
  const { resource } = attributes({ plural })
  const context = new RequestContext({
    auditId: '',
    info: { kind: 'path', verb: 'patch', path: '/' },
    client,
    timeoutMs: Infinity,
    monotonicMs: () => 0,
  })
  context.identify({ name: 'u', uid: '', groups: [] })
  return {
    verb: 'patch',
    resource,
    subresource: '',
    view: undefined,
    namespace: 'n',
    name: 'p',
    user: context.user,
    context,
    http: {
      method: 'PATCH',
      path: '/',
      query: new URLSearchParams(),
      headers: {},
      body: refused,
      hasBody: true,
      pipeBody: refused,
      signal: client.signal,
      remoteAddress: '',
      peerCertificate: () => undefined,
    },
  }
}

/** Returns a pod with many environment variables, and a patch that merges them many times. */
function repeatedMerge(variables: number, merges: number): { pod: KubeObject; body: Buffer } {
  const env = Array.from({ length: variables }, (_, at) => ({ name: `e${at}` }))
  const again = Array.from({ length: merges }, () => ({ name: 'a', env: [{ name: 'x' }] }))
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n' },
    spec: { containers: [{ name: 'a', image: 'i', env }] },
  }
  return { pod, body: Buffer.from(JSON.stringify({ spec: { containers: again } })) }
}

const strategic = { form: 'strategic', fieldValidation: 'Ignore' } as const

test('a small strategic patch that merges a list many times does not block the event loop', async () => {
  const { pod, body } = repeatedMerge(2_000, 240)
  assert.ok(body.length < 10_000)
  const ms = await bestLongestTurnMs(async () => {
    const change = readPatch(requestFor('pods'), { ...strategic, body })
    const { spec } = await change(pod, undefined)
    const [container] = itemsOf(fieldsOf(spec)['containers'])
    assert.equal(itemsOf(container?.['env']).length, 2_001)
  })
  assert.ok(ms < 60, `${ms} ms`)
})

test('a strategic patch that merges a long list too many times is rejected', async () => {
  const { pod, body } = repeatedMerge(20_000, 2_000)
  const since = process.threadCpuUsage().user
  const change = readPatch(requestFor('pods'), { ...strategic, body })
  await assert.rejects(async () => change(pod, undefined), { code: 422, reason: 'Invalid' })
  const ms = (process.threadCpuUsage().user - since) / 1000
  assert.ok(ms < 10_000, `${ms} ms`)
})

for (const form of ['strategic', 'json'] as const) {
  test(`applying a ${form} patch ends when its client has disconnected`, async () => {
    const client = new AbortController()
    const { pod, body } = repeatedMerge(2_000, 400)
    const operations = Array.from({ length: 2_000 }, () => ({
      op: 'add',
      path: '/spec/containers/0/env/0',
      value: { name: 'x' },
    }))
    const sent = form === 'strategic' ? body : Buffer.from(JSON.stringify(operations))
    const change = readPatch(requestFor('pods', client), { ...strategic, form, body: sent })
    const reason = new Error('the client is gone')
    setImmediate(() => client.abort(reason))
    await assert.rejects(async () => change(pod, undefined), reason)
  })
}
