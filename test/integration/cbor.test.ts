/**
 * Tests CBOR on a whole server with the feature gate enabled: bodies, responses, lists, watches and
 * errors. The client uses the library cborg.
 */
import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { decode, decodeFirst, encode } from 'cborg'
import { adminToken, startTestServer, type TestServer } from './support.ts'

let server: TestServer

before(async () => {
  server = await startTestServer(['--feature-gates=CBORServingAndStorage=true'])
})

after(async () => {
  const { complaints } = server
  await server[Symbol.asyncDispose]()
  assert.deepEqual(complaints, [])
})

const cbor = 'application/cbor'
const configMaps = '/api/v1/namespaces/default/configmaps'

type Call = {
  readonly method?: string
  readonly accept?: string
  readonly type?: string
  readonly body?: unknown
}
type Answer = {
  readonly status: number | undefined
  readonly type: string | undefined
  readonly bytes: Buffer
}

function ask(
  path: string,
  { method = 'GET', accept = cbor, type = cbor, body }: Call = {},
): Promise<Answer> {
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(encode(body))
  const authorization = `Bearer ${adminToken}`
  const headers = { authorization, accept, 'content-type': type, 'content-length': bytes.length }
  return new Promise((resolve, reject) => {
    const asked = request(
      `${server.url}${path}`,
      { method, headers, rejectUnauthorized: false },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode,
            type: answer.headers['content-type'],
            bytes: Buffer.concat(parts),
          }),
        )
      },
    )
    asked.on('error', reject)
    asked.end(bytes)
  })
}

const prefix = Buffer.from('d9d9f7', 'hex')
/**
 * Decoders for the CBOR tags 22 (bytes to be converted to Base64) and 55799 (self-described CBOR).
 */
const tags = {
  22: (content: () => unknown): unknown => {
    const bytes = content()
    assert.ok(bytes instanceof Uint8Array)
    return Buffer.from(bytes).toString('base64')
  },
  55799: (content: () => unknown): unknown => content(),
}

/**
 * Converts byte strings to strings. Byte strings with tag 22 have already been converted to Base64.
 */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  if (Array.isArray(value)) return value.map(plain)
  if (!(value instanceof Map)) return value
  const fields: [string, unknown][] = [...value].map(([key, field]) => [
    String(plain(key)),
    plain(field),
  ])
  return Object.fromEntries(fields)
}

function read({ bytes }: Answer): unknown {
  assert.ok(bytes.subarray(0, 3).equals(prefix), bytes.toString('latin1'))
  return plain(decode(bytes, { useMaps: true, tags }))
}

function* documents(bytes: Uint8Array): Generator<unknown, void, void> {
  for (let rest = bytes; rest.length > 0; ) {
    const [value, next] = decodeFirst(rest, { useMaps: true, tags })
    yield plain(value)
    rest = next
  }
}

const asJson = async (path: string): Promise<unknown> =>
  JSON.parse((await ask(path, { accept: 'application/json' })).bytes.toString())

test('an object can be created from CBOR and read as CBOR', async () => {
  const body = { metadata: { name: 'one' }, data: { a: 'b' }, binaryData: { x: 'YWJj' } }
  const made = await ask(configMaps, { method: 'POST', body })
  assert.deepEqual([made.status, made.type], [201, cbor])
  const wanted = await asJson(`${configMaps}/one`)
  assert.deepEqual(read(made), wanted)
  assert.deepEqual(read(await ask(`${configMaps}/one`)), wanted)
  assert.ok(made.bytes.includes(Buffer.from('d643616263', 'hex')), 'bytes are tagged')
})

/**
 * Removes the metadata of a list. Two lists have different versions, because the server itself
 * writes between them.
 */
const unversioned = (list: unknown): object => ({
  ...(typeof list === 'object' ? list : {}),
  metadata: {},
})

test('lists, partial metadata and watches are available as CBOR', async () => {
  assert.deepEqual(unversioned(read(await ask(configMaps))), unversioned(await asJson(configMaps)))
  const partial = ';as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  const list = await ask(configMaps, { accept: `${cbor}${partial}` })
  const json = await ask(configMaps, { accept: `application/json${partial}` })
  assert.deepEqual(unversioned(read(list)), unversioned(JSON.parse(json.bytes.toString())))
  const watched = await ask(
    `${configMaps}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Done`,
  )
  assert.equal(watched.type, 'application/cbor-seq')
  const object = await asJson(`${configMaps}/one`)
  assert.deepEqual([...documents(watched.bytes)], [{ type: 'ADDED', object }])
})

test('an apply and the options of a delete can be sent as CBOR', async () => {
  const body = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'applied' },
    data: { a: '1' },
  }
  const type = 'application/apply-patch+cbor'
  const applied = await ask(`${configMaps}/applied?fieldManager=m`, { method: 'PATCH', type, body })
  assert.equal(applied.status, 201, applied.bytes.toString('latin1'))
  assert.deepEqual(read(applied), await asJson(`${configMaps}/applied`))
  const kept = await ask(`${configMaps}/applied`, { method: 'DELETE', body: { dryRun: ['All'] } })
  assert.equal(kept.status, 200)
  assert.equal((await ask(`${configMaps}/applied`)).status, 200)
})

test('errors are returned as CBOR', async () => {
  const missing = await ask(`${configMaps}/none`)
  assert.deepEqual([missing.status, missing.type], [404, cbor])
  assert.deepEqual(read(missing), await asJson(`${configMaps}/none`))
  const refused = await ask(configMaps, { method: 'POST', accept: 'application/json', body: [] })
  assert.equal(refused.status, 400)
})
