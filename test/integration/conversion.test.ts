/**
 * Tests a conversion webhook that cannot convert all objects. A watch sends the objects that
 * precede the first failure, and then the error.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { fieldsOf, itemsOf, textOf } from '../../src/api/object.ts'
import { HookServer } from '../recorded/compat/hooks.ts'
import type { HookAnswer } from '../recorded/compat/steps.ts'
import { clients, startTestServer } from './support.ts'

/** Converts all objects, unless one of them is named `bad`. */
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

const v1 = '/apis/example.com/v1/namespaces/default/widgets'
const v2 = '/apis/example.com/v2/namespaces/default/widgets'

/** Starts a server with Widgets that are stored as v1 and that `answer` converts to v2. */
async function startWidgets(answer: HookAnswer) {
  const stack = new AsyncDisposableStack()
  const hooks = stack.use(await HookServer.start())
  const server = stack.use(await startTestServer())
  const client = clients['HTTP/2']?.(server.url)
  assert.ok(client)
  stack.use(client)
  const { convert: url } = hooks.serve('conversion', { convert: answer })
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
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { url, caBundle: hooks.caBundle },
        },
      },
    },
  }
  const post = async (path: string, body: object): Promise<number> =>
    (await client.call({ method: 'POST', path, body: Buffer.from(JSON.stringify(body)) })).status
  assert.equal(
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition),
    201,
  )
  while ((await client.call({ path: v2 })).status !== 200) await sleep(20)
  const create = async (name: string, labels = {}): Promise<void> => {
    const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, labels } }
    assert.equal(await post(v1, body), 201)
  }
  return { client, create, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('a watch ends with an error at the first object that cannot be converted', {
  timeout: 120_000,
}, async () => {
  await using widgets = await startWidgets(convert)
  const { client, create } = widgets
  for (const name of ['a', 'bad', 'z']) await create(name)
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

test('a watch with a selector reports only objects that match or previously matched the selector', {
  timeout: 120_000,
}, async () => {
  await using widgets = await startWidgets(convert)
  const { client, create } = widgets
  const relabel = async (name: string, colour: string): Promise<void> => {
    const body = { metadata: { labels: { colour } } }
    const headers = { 'content-type': 'application/merge-patch+json' }
    assert.equal(
      (await client.call({ method: 'PATCH', path: `${v1}/${name}`, body, headers })).status,
      200,
    )
  }
  await create('other', { colour: 'blue' })
  await create('mine', { colour: 'red' })
  const { metadata } = JSON.parse((await client.call({ path: v2 })).text)
  await relabel('other', 'green')
  await relabel('mine', 'green')
  assert.equal((await client.call({ method: 'DELETE', path: `${v1}/other` })).status, 200)
  await relabel('mine', 'red')
  const events: string[] = []
  const query = `watch=true&labelSelector=colour%3Dred&resourceVersion=${metadata.resourceVersion}`
  for await (const line of client.lines({ path: `${v2}?${query}` })) {
    const { type, object } = JSON.parse(line)
    events.push(
      `${type} ${object.metadata.name} ${object.metadata.labels.colour} ${object.apiVersion}`,
    )
    if (events.length === 2) break
  }
  assert.deepEqual(events, ['DELETED mine red example.com/v2', 'ADDED mine red example.com/v2'])
})

test('an object is converted only once, and a page of selected objects does not cause the conversion of all objects', {
  timeout: 120_000,
}, async () => {
  const converted = new Map<string, number>()
  let reviewed = 0
  await using widgets = await startWidgets((review) => {
    for (const { metadata } of itemsOf(fieldsOf(fieldsOf(review)['request'])['objects'])) {
      const name = textOf(fieldsOf(metadata)['name'])
      converted.set(name, (converted.get(name) ?? 0) + 1)
      reviewed++
    }
    return convert(review, 0)
  })
  const { client, create } = widgets
  const names = Array.from({ length: 1500 }, (_, at) => `w${String(at).padStart(4, '0')}`)
  while (names.length > 0) {
    await Promise.all(names.splice(0, 50).map((name) => create(name, { colour: 'red' })))
  }
  const page = JSON.parse(
    (await client.call({ path: `${v2}?labelSelector=colour%3Dred&limit=10` })).text,
  )
  assert.equal(page.items.length, 10)
  assert.ok(reviewed <= 500, `${reviewed} objects were converted for a page of 10`)
  const watch = async (): Promise<number> => {
    let events = 0
    for await (const line of client.lines({ path: `${v2}?watch=true` })) {
      assert.equal(JSON.parse(line).type, 'ADDED')
      if (++events === 1500) break
    }
    return events
  }
  await Promise.all(Array.from({ length: 10 }, watch))
  assert.deepEqual([converted.size, Math.max(...converted.values())], [1500, 1])
})
