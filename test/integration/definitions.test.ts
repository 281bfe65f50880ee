/** CustomResourceDefinitions on a whole server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clients, startTestServer } from './support.ts'

const root = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const DEADLINE_MS = 20_000

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }

test('a definition goes with its objects although its webhook is gone already', async () => {
  await using server = await startTestServer()
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  const statusOf = async (path: string): Promise<number> => (await client.call({ path })).status
  const until = async (path: string, status: number): Promise<void> => {
    const end = performance.now() + DEADLINE_MS
    while ((await statusOf(path)) !== status) {
      assert.ok(performance.now() < end, `${path} does not come to ${status}`)
      await sleep(20)
    }
  }
  const clientConfig = { url: 'https://127.0.0.1:1/convert' }
  const spec = {
    group: 'example.com',
    scope: 'Cluster',
    names: { kind: 'Wheel', plural: 'wheels' },
    // Objects are stored in the second one.
    versions: [
      { name: 'v1', served: true, storage: false, schema },
      { name: 'v2', served: true, storage: true, schema },
    ],
    conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
  }
  await client.call({ method: 'POST', path: root, body: { metadata: { name: 'wheels.example.com' }, spec } })
  await until('/apis/example.com/v2/wheels', 200)
  const wheel = { apiVersion: 'example.com/v2', kind: 'Wheel', metadata: { name: 'w' } }
  const made = await client.call({ method: 'POST', path: '/apis/example.com/v2/wheels', body: wheel })
  assert.equal(made.status, 201)
  assert.equal(await statusOf('/apis/example.com/v1/wheels/w'), 500)
  await client.call({ method: 'DELETE', path: `${root}/wheels.example.com` })
  await until(`${root}/wheels.example.com`, 404)
})
