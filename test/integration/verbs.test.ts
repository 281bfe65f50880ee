/**
 * Tests the verbs on a whole server: dry runs, all forms of deletion, creating and deleting
 * namespaces, pages and bookmarks.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { jsonToYaml } from '../../src/objects/codec/yaml-print.ts'
import { until } from '../support/harness/until.ts'
import { type Answer, type Client, clients, startTestServer, type TestServer } from './support.ts'

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer()
  client = connect()
})

after(async () => {
  const { complaints } = server
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  assert.deepEqual(complaints, [])
})

function connect(): Client {
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  return made
}

const json = ({ text }: Answer) => JSON.parse(text)
const namesOf = (answer: Answer): string[] =>
  json(answer).items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)

const get = (path: string): Promise<Answer> => client.call({ path })
const post = (path: string, body: unknown): Promise<Answer> =>
  client.call({ method: 'POST', path, body })
const put = (path: string, body: unknown): Promise<Answer> =>
  client.call({ method: 'PUT', path, body })
const remove = (path: string, body?: unknown): Promise<Answer> =>
  client.call({ method: 'DELETE', path, ...(body === undefined ? {} : { body }) })

/** Creates a namespace for a test, and returns the path of its ConfigMaps. */
async function space(name: string): Promise<string> {
  const made = await post('/api/v1/namespaces', { metadata: { name } })
  assert.equal(made.status, 201)
  return `/api/v1/namespaces/${name}/configmaps`
}

async function fill(path: string, names: readonly string[], metadata: object = {}): Promise<void> {
  for (const name of names) {
    const made = await post(path, { metadata: { name, ...metadata } })
    assert.equal(made.status, 201, made.text)
  }
}

test('a dry run has the same response as the write, but writes nothing', async () => {
  const path = await space('dry')
  const made = await post(`${path}?dryRun=All`, { metadata: { name: 'a' } })
  assert.equal(made.status, 201)
  assert.equal(json(made).metadata.resourceVersion, undefined)
  assert.equal((await get(`${path}/a`)).status, 404)

  await fill(path, ['a'])
  assert.equal((await post(`${path}?dryRun=All`, { metadata: { name: 'a' } })).status, 409)
  const stored = await get(`${path}/a`)
  const replaced = await put(`${path}/a?dryRun=All`, { metadata: { name: 'a' }, data: { k: 'v' } })
  assert.equal(replaced.status, 200)
  assert.equal(json(replaced).data.k, 'v')
  assert.equal(json(replaced).metadata.resourceVersion, json(stored).metadata.resourceVersion)
  const deleted = await remove(`${path}/a`, { dryRun: ['All'] })
  assert.equal(json(deleted).status, 'Success')
  assert.deepEqual(namesOf(await remove(`${path}?dryRun=All`)), ['a'])
  assert.equal((await get(`${path}/a`)).text, stored.text)
})

test('an update without changes does not change the resourceVersion', async () => {
  const path = await space('same')
  await fill(path, ['a'])
  const stored = await get(`${path}/a`)
  assert.equal((await put(`${path}/a`, json(stored))).text, stored.text)
})

test('a finalizer keeps an object until it is removed', async () => {
  const path = await space('held')
  await fill(path, ['a'], { finalizers: ['example.com/held'] })
  const marked = json(await remove(`${path}/a`))
  assert.equal(marked.metadata.deletionGracePeriodSeconds, 0)
  assert.ok(marked.metadata.deletionTimestamp)
  assert.equal((await remove(`${path}/a`)).text, `${JSON.stringify(marked)}\n`)
  const again = await post(path, { metadata: { name: 'a' } })
  assert.equal(json(again).message, 'object is being deleted: configmaps "a" already exists')

  const released = await put(`${path}/a`, {
    ...marked,
    metadata: { ...marked.metadata, finalizers: [] },
  })
  assert.equal(released.status, 200)
  assert.equal(json(released).metadata.resourceVersion, marked.metadata.resourceVersion)
  assert.equal((await get(`${path}/a`)).status, 404)
})

test('deletes check preconditions and follow the propagation policy', async () => {
  const path = await space('conditions')
  await fill(path, ['a'])
  const { uid, resourceVersion } = json(await get(`${path}/a`)).metadata
  assert.equal((await remove(`${path}/a`, { preconditions: { uid: 'other' } })).status, 409)
  assert.equal((await remove(`${path}/a?resourceVersion=1`)).status, 409)
  assert.equal((await remove(`${path}/a`, { propagationPolicy: 'Nope' })).status, 422)
  const foreground = await remove(`${path}/a`, {
    propagationPolicy: 'Foreground',
    preconditions: { uid, resourceVersion },
  })
  assert.deepEqual(json(foreground).metadata.finalizers, ['foregroundDeletion'])
  const background = await remove(`${path}/a?propagationPolicy=Background`)
  assert.equal(json(background).status, 'Success')
  assert.equal((await get(`${path}/a`)).status, 404)
})

test('a collection is deleted by selectors and limit, and the deleted objects are returned', async () => {
  const path = await space('many')
  await fill(path, ['a', 'b'], { labels: { keep: 'no' } })
  await fill(path, ['c', 'd'])
  assert.deepEqual(namesOf(await remove(`${path}?labelSelector=keep%3Dno&limit=1`)), ['a'])
  assert.deepEqual(namesOf(await get(path)), ['b', 'c', 'd'])
  assert.deepEqual(namesOf(await remove(`${path}?fieldSelector=metadata.name%21%3Dd`)), ['b', 'c'])
  assert.deepEqual(namesOf(await get(path)), ['d'])
  assert.equal((await remove(`${path}?labelSelector=%3D`)).status, 400)
  assert.equal((await remove('/api/v1/configmaps')).status, 405)
})

test('no objects can be created in a namespace that is being deleted', async () => {
  const path = await space('leaving')
  await fill(path, ['a'])
  const missing = await post('/api/v1/namespaces/nowhere/configmaps', { metadata: { name: 'a' } })
  assert.equal(missing.status, 404)
  assert.equal(json(missing).message, 'namespaces "nowhere" not found')

  const marked = json(await remove('/api/v1/namespaces/leaving'))
  assert.equal(marked.status.phase, 'Terminating')
  const refused = await post(path, { metadata: { name: 'b' } })
  assert.equal(refused.status, 403)
  assert.equal(json(refused).details.causes[0].reason, 'NamespaceTerminating')
  assert.equal((await put(`${path}/a`, { metadata: { name: 'a' }, data: { k: 'v' } })).status, 200)
  assert.equal((await remove(`${path}/a`)).status, 200)

  const finalized = await put('/api/v1/namespaces/leaving/finalize', {
    ...marked,
    spec: { finalizers: [] },
  })
  assert.equal(finalized.status, 200)
  assert.equal((await get('/api/v1/namespaces/leaving')).status, 404)
  assert.equal((await remove('/api/v1/namespaces/default')).status, 403)
})

test('unknown fields cause a warning, are rejected or are ignored, depending on fieldValidation', async () => {
  const path = await space('strict')
  const body = { metadata: { name: 'a' }, surprise: 1 }
  const refused = await post(`${path}?fieldValidation=Strict`, body)
  assert.equal(refused.status, 400)
  assert.match(json(refused).message, /strict decoding error: unknown field "surprise"$/)
  const warned = await post(path, body)
  assert.equal(warned.status, 201)
  assert.equal(warned.headers['warning'], '299 - "unknown field \\"surprise\\""')
  const quiet = await put(`${path}/a?fieldValidation=Ignore`, body)
  assert.equal(quiet.headers['warning'], undefined)
})

test('all pages of a list show the state at one revision', async () => {
  const path = await space('pages')
  const names = Array.from({ length: 7 }, (_, i) => `n${i}`)
  await fill(path, names)
  const seen: string[] = []
  let next = ''
  let version: string | undefined
  do {
    const page = await get(`${path}?limit=3&continue=${next}`)
    const { metadata } = json(page)
    version ??= metadata.resourceVersion
    assert.equal(metadata.resourceVersion, version)
    seen.push(...namesOf(page))
    if (seen.length === 3) assert.equal(metadata.remainingItemCount, 4)
    next = metadata.continue ?? ''
    // Later pages of a list must not contain changes that were made after the first page was read.
    await remove(`${path}/n${seen.length}`)
  } while (next !== '')
  assert.deepEqual(seen, names)
})

test('a long list is complete and has a content-length', async () => {
  const path = await space('long')
  const value = 'ü'.repeat(20_000)
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      post(path, { metadata: { name: `n${i}` }, data: { value } }),
    ),
  )
  const answer = await get(path)
  assert.equal(Number(answer.headers['content-length']), Buffer.byteLength(answer.text))
  assert.equal(json(answer).items.length, 20)
  assert.ok(
    json(answer).items.every((item: { data: { value: string } }) => item.data.value === value),
  )
  const indented = await get(`${path}?pretty=true`)
  assert.deepEqual(json(indented).items, json(answer).items)
})

test('objects and lists are available as YAML and as indented JSON', async () => {
  const path = await space('forms')
  await fill(path, ['a'])
  const yaml = await client.call({ path: `${path}/a`, headers: { accept: 'application/yaml' } })
  assert.equal(yaml.headers['content-type'], 'application/yaml')
  assert.match(yaml.text, /^apiVersion: v1\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "/)
  await fill(path, ['b'], { labels: { a: 'b' } })
  for (const query of ['', '?limit=1', '?labelSelector=none']) {
    const plain = JSON.parse((await get(`${path}${query}`)).text)
    const indented = await get(`${path}${query}${query === '' ? '?' : '&'}pretty=1`)
    assert.equal(indented.text, JSON.stringify(plain, null, 2))
    const inYaml = await client.call({
      path: `${path}${query}`,
      headers: { accept: 'application/yaml' },
    })
    assert.equal(inYaml.text, jsonToYaml(plain))
  }
  const html = await client.call({ path: `${path}/a`, headers: { accept: 'text/html' } })
  assert.equal(html.status, 406)
})

test('before a watch ends, it receives a bookmark if objects have changed, even if its selector excludes these objects', async () => {
  const path = await space('marks')
  await fill(path, ['a'])
  const watch = `${path}?watch=1&allowWatchBookmarks=1&timeoutSeconds=6&fieldSelector=metadata.name%3Da`
  const types: string[] = []
  const reading = (async () => {
    for await (const line of client.lines({ path: watch })) types.push(JSON.parse(line).type)
  })()
  await until(() => types.length === 1, 'the watch has started')
  await fill(path, ['unseen'])
  await reading
  assert.deepEqual(types, ['ADDED', 'BOOKMARK'])
})

test('a pod without a node is first marked for deletion and then deleted', async () => {
  await space('pods')
  const path = '/api/v1/namespaces/pods/pods'
  const made = await post(path, {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  assert.equal(made.status, 201, made.text)
  const { resourceVersion } = json(made).metadata
  assert.equal(json(await remove(`${path}/p`)).kind, 'Pod')
  const types: string[] = []
  for await (const line of client.lines({
    path: `${path}?watch=1&resourceVersion=${resourceVersion}`,
  })) {
    types.push(JSON.parse(line).type)
    if (types.length === 2) break
  }
  assert.deepEqual(types, ['MODIFIED', 'DELETED'])
})

test('the memory for long selectors of watches is limited, and released when the watches end', async () => {
  const path = await space('selecting')
  await fill(path, ['a'])
  const watch = (seconds: number): string =>
    `${path}?watch=1&timeoutSeconds=${seconds}&fieldSelector=metadata.name!%3D${'x'.repeat(600_000)}`
  // Use HTTP/1.1, because Node's HTTP/2 client cannot send headers of this length.
  const plain = clients['HTTP/1.1']?.(server.url)
  assert.ok(plain)
  await using one = plain
  for await (const line of one.lines({ path: watch(60) })) {
    assert.equal(JSON.parse(line).type, 'ADDED')
    const refused = await one.call({ path: watch(1) })
    assert.equal(refused.status, 429)
    assert.match(json(refused).message, /^the selectors of all your watches/)
    assert.equal((await one.call({ path: `${path}?watch=1&timeoutSeconds=1` })).status, 200)
    break
  }
  // Wait until the server notices that the client has ended its watches, and releases their memory.
  await until(
    async () => (await one.call({ path: watch(1) })).status === 200,
    'the memory is released',
  )
  assert.equal((await one.call({ path: watch(1) })).status, 200)
})
