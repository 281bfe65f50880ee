/** Tests that no single request exhausts the heap of a server with little memory. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Fields } from '../../../src/api/object.ts'
import { startApiServer, type ApiServerProcess } from '../../support/harness/api-server.ts'
import { keelsonProgram } from '../../support/harness/keelson.ts'
import { type Client, clients } from '../../integration/support.ts'

/** Heap limit that Node uses in a container of 512 MB. */
const HEAP_MIB = 256
/** Size in bytes of the largest request body that the server accepts. */
const BODY_BYTES = 3_145_000

const parts = new AsyncDisposableStack()
let server: ApiServerProcess
let client: Client

before(async () => {
  const heap = `NODE_OPTIONS=--max-old-space-size=${HEAP_MIB}`
  const args = [
    '--store=memory',
    `--request-memory-max=${128 << 20}`,
    `--cache-memory-max=${128 << 20}`,
    // On a busy machine, a request can take longer than the default of one minute.
    '--request-timeout=10m',
  ]
  const omit = ['etcd-servers']
  server = parts.use(
    await startApiServer(['env', heap, keelsonProgram, 'serve'], { etcdUrl: '', args, omit }),
  )
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = parts.use(made)
  const definition = {
    metadata: { name: 'boxes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'boxes', singular: 'box', kind: 'Box', listKind: 'BoxList' },
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === 'v1',
        schema: { openAPIV3Schema: schema },
      })),
    },
  }
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const created = await send('POST', path, 'application/json', JSON.stringify(definition))
  assert.equal(created.status, 201, created.text)
})

after(() => parts.disposeAsync())

/** Schema of an item of a list. Defaulting adds a string and an object to each item. */
const item = {
  type: 'object',
  properties: {
    a: { type: 'string', default: 'x' },
    b: { type: 'object', default: {}, properties: { c: { type: 'integer', default: 1 } } },
  },
}
const schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { items: { type: 'array', items: item } } } },
}

const send = (method: string, path: string, type: string, body: string) =>
  client.call({
    method,
    path,
    token: server.token,
    headers: { 'content-type': type },
    body: Buffer.from(body),
  })

/** Returns the JSON of a Box with as many empty items as fit into the size. */
function boxOf(bytes: number): string {
  const box = { apiVersion: 'example.com/v1', kind: 'Box', metadata: { name: 'box' } }
  const head = `${JSON.stringify(box).slice(0, -1)},"spec":{"items":[`
  return `${head}${Array(Math.floor((bytes - head.length) / 3) - 1)
    .fill('{}')
    .join(',')}]}}`
}

const boxes = '/apis/example.com/v1/namespaces/default/boxes'
const box = `${boxes}/box`

for (const [verb, method, path, type, bytes] of [
  ['create', 'POST', boxes, 'application/json', BODY_BYTES],
  ['create in YAML', 'POST', boxes, 'application/yaml', BODY_BYTES],
  ['apply', 'PATCH', `${box}?fieldManager=m`, 'application/apply-patch+yaml', BODY_BYTES],
  ['apply', 'PATCH', `${box}?fieldManager=m`, 'application/apply-patch+yaml', BODY_BYTES / 2],
] as const) {
  test(`a server with a small heap survives the ${verb} of ${bytes} bytes of empty objects`, async () => {
    const { status, text } = await send(method, path, type, boxOf(bytes))
    assert.equal(status, 413, text.slice(0, 500))
    const healthy = await client.call({ path: '/readyz', token: server.token })
    assert.equal(healthy.status, 200)
  })
}

/**
 * Number of field managers. An apply must not store the union of all managers' fields once for each
 * manager, because this would exhaust the heap.
 */
const MANAGERS = 4000

const labels = Array.from({ length: MANAGERS }, (_, at) => `l${at}`)

/**
 * Returns managedFields in which each manager owns one label. The API versions of the managers
 * alternate.
 */
const managersOf = (versions: readonly string[]): readonly Fields[] =>
  labels.map((label, at) => ({
    manager: `m${at}`,
    operation: 'Apply',
    apiVersion: versions[at % versions.length] ?? '',
    time: '2001-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:metadata': { 'f:labels': { [`f:${label}`]: {} } } },
  }))

for (const [name, versions] of [
  ['one-version', ['example.com/v1']],
  ['two-versions', ['example.com/v1', 'example.com/v2']],
] as const) {
  // Without a timeout, the client would wait forever if the server ended.
  const about = `applies to an object with thousands of managers (${name})`
  test(`a server with a small heap ${about}`, { timeout: 120_000 }, async () => {
    const head = { apiVersion: 'example.com/v1', kind: 'Box' }
    const created = await send(
      'POST',
      boxes,
      'application/json',
      JSON.stringify({
        ...head,
        metadata: { name, labels: Object.fromEntries(labels.map((label) => [label, 'x'])) },
      }),
    )
    assert.equal(created.status, 201, created.text.slice(0, 500))
    const managedFields = managersOf(versions)
    const type = 'application/merge-patch+json'
    const patch = JSON.stringify({ metadata: { managedFields } })
    const owned = await send('PATCH', `${boxes}/${name}`, type, patch)
    assert.equal(owned.status, 200, owned.text.slice(0, 500))
    const applyItems = (items: readonly Fields[]) =>
      send(
        'PATCH',
        `${boxes}/${name}?fieldManager=me`,
        'application/apply-patch+yaml',
        JSON.stringify({ ...head, spec: { items } }),
      )
    const added = await applyItems([{ a: 'y' }])
    assert.equal(added.status, 200, added.text.slice(0, 500))
    // Apply without the item. To find out whether to remove the item, the server must read the
    // fields of all managers.
    const removed = await applyItems([])
    assert.equal(removed.status, 200, removed.text.slice(0, 500))
    const { metadata, spec } = JSON.parse(removed.text)
    assert.equal(Object.keys(metadata.labels).length, MANAGERS)
    assert.equal(metadata.managedFields.length, MANAGERS + 1)
    assert.deepEqual(spec, { items: [] })
  })
}
