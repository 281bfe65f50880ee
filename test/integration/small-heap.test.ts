/** Tests that no single request exhausts the heap of a server with little memory. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startApiServer, type ApiServerProcess } from '../support/harness/api-server.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { type Client, clients } from './support.ts'

/** Heap limit that Node uses in a container of 512 MB. */
const HEAP_MIB = 256
/** Maximum size of a body. */
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
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const created = await send('POST', path, 'application/json', JSON.stringify(definition))
  assert.equal(created.status, 201, created.text)
})

after(() => parts.disposeAsync())

/** Each item gets two defaults, one of them in an object of its own. */
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
