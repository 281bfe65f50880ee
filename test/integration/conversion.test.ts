/** A conversion webhook that cannot convert everything: who watches is shown what came before, and told why there is no more. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { fieldsOf, itemsOf } from '../../src/api/object.ts'
import { HookServer } from '../compat/hooks.ts'
import type { HookAnswer } from '../compat/steps.ts'
import { clients, startTestServer } from './support.ts'

/** All but those named `bad`. */
const convert: HookAnswer = (review) => {
  const { uid = '', desiredAPIVersion = '', objects } = fieldsOf(fieldsOf(review)['request'])
  const given = itemsOf(objects)
  const isBad = given.some(({ metadata }) => fieldsOf(metadata)['name'] === 'bad')
  const convertedObjects = given.map((object) => ({ ...object, apiVersion: desiredAPIVersion }))
  const response = isBad
    ? { uid, result: { status: 'Failure', message: 'cannot do that' } }
    : { uid, result: { status: 'Success' }, convertedObjects }
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response }
}

const version = (name: string, description: string): object => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', description } },
})

test('a watch that comes to an object that cannot be converted', { timeout: 60_000 }, async () => {
  await using hooks = await HookServer.start()
  await using server = await startTestServer()
  await using client = clients['HTTP/2']?.(server.url)
  assert.ok(client)
  const { convert: url } = hooks.serve('conversion', { convert })
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [version('v1', 'first'), version('v2', 'second')],
      conversion: {
        strategy: 'Webhook',
        webhook: { conversionReviewVersions: ['v1'], clientConfig: { url, caBundle: hooks.caBundle } },
      },
    },
  }
  const post = async (path: string, body: object): Promise<number> =>
    (await client.call({ method: 'POST', path, body: Buffer.from(JSON.stringify(body)) })).status
  assert.equal(await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition), 201)
  const v1 = '/apis/example.com/v1/namespaces/default/widgets'
  const v2 = '/apis/example.com/v2/namespaces/default/widgets'
  while ((await client.call({ path: v2 })).status !== 200) await sleep(20)
  for (const name of ['a', 'bad', 'z']) {
    assert.equal(await post(v1, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } }), 201)
  }
  const events: string[] = []
  for await (const line of client.lines({ path: `${v2}?watch=true` })) {
    const { type, object } = JSON.parse(line)
    events.push(`${type} ${object.metadata.name ?? object.message}`)
  }
  assert.deepEqual(events, [
    'ADDED a',
    'ERROR conversion webhook for example.com/v1, Kind=Widget failed: cannot do that',
  ])
})
