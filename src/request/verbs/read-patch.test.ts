import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributes } from '../../../test/support/harness/admission.ts'
import { bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import { fieldsOf, itemsOf, type KubeObject } from '../../api/object.ts'
import type { ResourceRequest } from '../resource-request.ts'
import { readPatch } from './read-patch.ts'

const refused = (): never => assert.fail('not asked for here')

function requestFor(plural: string): ResourceRequest {
  const { resource, context } = attributes({ plural })
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
      signal: new AbortController().signal,
      remoteAddress: '',
      peerCertificate: () => undefined,
    },
  }
}

test('a small strategic patch that merges a list many times does not block the event loop', async () => {
  const env = Array.from({ length: 2_000 }, (_, at) => ({ name: `e${at}` }))
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n' },
    spec: { containers: [{ name: 'a', image: 'i', env }] },
  }
  const again = Array.from({ length: 240 }, () => ({ name: 'a', env: [{ name: 'x' }] }))
  const body = Buffer.from(JSON.stringify({ spec: { containers: again } }))
  assert.ok(body.length < 10_000)
  const ms = await bestLongestTurnMs(async () => {
    const change = readPatch(requestFor('pods'), {
      form: 'strategic',
      body,
      fieldValidation: 'Ignore',
    })
    const { spec } = await change(pod, undefined)
    const [container] = itemsOf(fieldsOf(spec)['containers'])
    assert.equal(itemsOf(container?.['env']).length, 2_001)
  })
  assert.ok(ms < 60, `${ms} ms`)
})
