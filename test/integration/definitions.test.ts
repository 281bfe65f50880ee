/** Tests CustomResourceDefinitions on a whole server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/harness/until.ts'
import { clients, type Client, startReplica, startTestServer } from './support.ts'

const root = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }

/** Waits until a GET of the path returns this status. */
const answers = (client: Client, path: string, status: number): Promise<void> =>
  until(async () => (await client.call({ path })).status === status, `${path} has status ${status}`)

async function define(client: Client, spec: object): Promise<void> {
  const names = { kind: 'Wheel', plural: 'wheels' }
  const body = {
    metadata: { name: 'wheels.example.com' },
    spec: { group: 'example.com', scope: 'Cluster', names, ...spec },
  }
  assert.equal((await client.call({ method: 'POST', path: root, body })).status, 201)
}

test('a definition and its objects can be deleted although the conversion webhook is unavailable', async () => {
  await using server = await startTestServer()
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  const clientConfig = { url: 'https://127.0.0.1:1/convert' }
  await define(client, {
    // v2 is the storage version.
    versions: [
      { name: 'v1', served: true, storage: false, schema },
      { name: 'v2', served: true, storage: true, schema },
    ],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig, conversionReviewVersions: ['v1'] },
    },
  })
  await answers(client, '/apis/example.com/v2/wheels', 200)
  const wheel = { apiVersion: 'example.com/v2', kind: 'Wheel', metadata: { name: 'w' } }
  const made = await client.call({
    method: 'POST',
    path: '/apis/example.com/v2/wheels',
    body: wheel,
  })
  assert.equal(made.status, 201)
  assert.equal((await client.call({ path: '/apis/example.com/v1/wheels/w' })).status, 500)
  await client.call({ method: 'DELETE', path: `${root}/wheels.example.com` })
  await answers(client, `${root}/wheels.example.com`, 404)
})

const schemaOf = (spec: object) => ({
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: spec },
      status: {
        type: 'object',
        default: { isReady: false },
        properties: { isReady: { type: 'boolean' } },
      },
    },
  },
})

const read = ({ text }: { readonly text: string }): unknown => {
  const object: { readonly spec?: unknown; readonly status?: unknown } = JSON.parse(text)
  return { spec: object.spec, status: object.status }
}

test('if an invalid status is dropped from a custom object, the managedFields contain no fields of the status', async () => {
  await using server = await startTestServer()
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  const versions = [
    { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: schemaOf({}) },
  ]
  await define(client, { versions })
  const path = '/apis/example.com/v1/wheels'
  await answers(client, path, 200)
  const made = async (name: string, status: unknown): Promise<boolean> => {
    const body = {
      apiVersion: 'example.com/v1',
      kind: 'Wheel',
      metadata: { name },
      spec: {},
      status,
    }
    const { text } = await client.call({ method: 'POST', path, body })
    return text.includes('"managedFields"')
  }
  assert.equal(await made('fits', { isReady: true }), true)
  assert.equal(await made('does-not', { isReady: 'yes' }), false)
})

test('a dry run for a custom object returns the object that would be stored', async () => {
  await using server = await startTestServer()
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  const size = { type: 'integer' }
  const subresources = { status: {} }
  const versions = [
    {
      name: 'v1',
      served: true,
      storage: false,
      subresources,
      schema: schemaOf({ size, colour: { type: 'string' } }),
    },
    { name: 'v2', served: true, storage: true, subresources, schema: schemaOf({ size }) },
  ]
  await define(client, { versions })
  const path = '/apis/example.com/v1/wheels'
  await answers(client, path, 200)
  const spec = { size: 1, colour: 'red' }
  const wheel = {
    apiVersion: 'example.com/v1',
    kind: 'Wheel',
    metadata: { name: 'w' },
    spec,
    status: {},
  }
  const tried = await client.call({ method: 'POST', path: `${path}?dryRun=All`, body: wheel })
  assert.deepEqual(read(tried), { spec: { size: 1 }, status: { isReady: false } })
  const made = await client.call({ method: 'POST', path, body: wheel })
  assert.deepEqual(read(made), read(tried))
  const patch = { method: 'PATCH', body: { spec: { size: 2, colour: 'blue' } } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const changed = await client.call({ ...patch, path: `${path}/w?dryRun=All`, headers })
  assert.deepEqual(read(changed), { spec: { size: 2 }, status: { isReady: false } })
})

const versionsWith = (storage: string) =>
  ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === storage, schema }))

test('an update without changes rewrites a custom object that is stored in an older version', async () => {
  await using server = await startTestServer()
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  await define(client, { versions: versionsWith('v1') })
  const path = '/apis/example.com/v1/wheels'
  await answers(client, path, 200)
  const body = { apiVersion: 'example.com/v1', kind: 'Wheel', metadata: { name: 'w' } }
  assert.equal((await client.call({ method: 'POST', path, body })).status, 201)
  const headers = { 'content-type': 'application/merge-patch+json' }
  const patch = async (at: string, change: object): Promise<string> => {
    const { status, text } = await client.call({ method: 'PATCH', path: at, headers, body: change })
    assert.equal(status, 200, text)
    const { metadata }: { metadata: { resourceVersion: string } } = JSON.parse(text)
    return metadata.resourceVersion
  }
  const first = await patch(`${path}/w`, {})
  await patch(`${root}/wheels.example.com`, { spec: { versions: versionsWith('v2') } })
  let second = first
  await until(async () => {
    // Read the object first, so that the cache contains it in its serialized form.
    await client.call({ path: `${path}/w` })
    second = await patch(`${path}/w`, {})
    return second !== first
  }, 'the new storage version is used')
  assert.equal(await patch(`${path}/w`, {}), second)
})

test('if two definitions for the same kind are created at the same time, one of them is accepted', async () => {
  await using server = await startTestServer()
  await using other = await startReplica(server)
  await using client = (clients['HTTP/2'] ?? assert.fail())(server.url)
  await using otherClient = (clients['HTTP/2'] ?? assert.fail())(other.url)
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const pairs = Array.from({ length: 20 }, (_, at) => at)
  await Promise.all(
    pairs.flatMap((at) =>
      [client, otherClient].map(async (through, side) => {
        const plural = `wheels${at}x${side}`
        const spec = {
          group: 'example.com',
          scope: 'Cluster',
          names: { plural, kind: `Wheel${at}` },
          versions,
        }
        const body = { metadata: { name: `${plural}.example.com` }, spec }
        assert.equal((await through.call({ method: 'POST', path: root, body })).status, 201)
      }),
    ),
  )
  const accepted = async (name: string): Promise<string> => {
    for (;;) {
      const { text } = await client.call({ path: `${root}/${name}` })
      const { status }: { status: { conditions?: readonly { type: string; status: string }[] } } =
        JSON.parse(text)
      const reported = status.conditions?.find(({ type }) => type === 'NamesAccepted')
      if (reported !== undefined) return reported.status
      await sleep(20)
    }
  }
  for (const at of pairs) {
    const both = [
      await accepted(`wheels${at}x0.example.com`),
      await accepted(`wheels${at}x1.example.com`),
    ]
    assert.deepEqual(both.toSorted(), ['False', 'True'], `pair ${at}`)
  }
})
