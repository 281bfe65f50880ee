import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FakeServers,
  jsonAnswer,
  remoteService,
} from '../../../../test/support/harness/fake-remote-servers.ts'
import { until } from '../../../../test/support/harness/until.ts'
import { defaultGates } from '../../../api/gates.ts'
import { parseJson } from '../../../api/json-value.ts'
import { fieldsOf } from '../../../api/object.ts'
import { systemClock } from '../../../lib/time/clock.ts'
import { type Log, silent } from '../../../lib/telemetry/log.ts'
import { builtInResources } from '../../../registry/built-in.ts'
import { Registry } from '../../../registry/registry.ts'
import { encodeV2 } from '../openapi/gnostic.ts'
import { OpenApiLibrary } from '../openapi/library.ts'
import { RemoteOpenApi } from './remote-openapi.ts'

const path = '/apis/a.example.com/v1/things'
const key = 'apis/a.example.com/v1'
const schema = { $ref: '#/definitions/com.example.Thing' }
const swagger = {
  swagger: '2.0',
  paths: { [path]: { get: { responses: { 200: { description: 'OK', schema } } } }, '/version': {} },
  definitions: {
    'com.example.Thing': {
      type: 'object',
      properties: { limit: { type: 'integer', maximum: 'x' } },
    },
  },
}

function libraryWith(openApi: RemoteOpenApi): OpenApiLibrary {
  const registry = new Registry(builtInResources())
  const remote = { openApi }
  return new OpenApiLibrary({
    registry,
    hasIssuer: false,
    clock: systemClock,
    gates: defaultGates,
    remote,
  })
}

const pathsOf = async (library: OpenApiLibrary): Promise<readonly string[]> =>
  Object.keys(fieldsOf(fieldsOf(parseJson((await library.v2()).json))['paths']))

test('the OpenAPI v2 document contains the paths of a remote server until the deletion of its APIService, even with invalid values', async () => {
  const servers = new FakeServers()
  await using openApi = new RemoteOpenApi({ servers, log: silent })
  const library = libraryWith(openApi)
  servers.answers['/openapi/v2'] = jsonAnswer(swagger)
  openApi.start()
  servers.set(remoteService('v1.a.example.com'))
  await until(() => openApi.olderSpecs().length === 1, 'the document of the remote server is read')
  const own = (await pathsOf(library)).filter((one) => one.includes('example.com'))
  assert.deepEqual(own, [path])
  // An invalid number in the remote document does not prevent the whole document from being
  // encoded.
  assert.ok((await encodeV2((await library.v2()).json)).length > 0)
  servers.set()
  assert.equal((await pathsOf(library)).includes(path), false)
})

test('a remote OpenAPI document that cannot be parsed adds no paths, and the previous document of the server is retained', async () => {
  const servers = new FakeServers()
  await using openApi = new RemoteOpenApi({ servers, log: silent })
  const library = libraryWith(openApi)
  openApi.start()
  for (const body of [
    'garbage',
    '[]',
    '{"paths":7}',
    '{"paths":{"/a":',
    `{"paths":${'['.repeat(5000)}`,
  ]) {
    servers.answers['/openapi/v2'] = { body: Buffer.from(body) }
    const before = servers.asked.length
    servers.set(remoteService('v1.a.example.com'))
    await until(() => servers.asked.length > before, 'the remote server is asked')
  }
  assert.equal((await pathsOf(library)).includes(path), false)
  servers.answers['/openapi/v2'] = jsonAnswer(swagger)
  servers.set(remoteService('v1.a.example.com'))
  await until(() => (openApi.olderSpecs()[0]?.[1].paths.size ?? 0) > 0, 'the document is read')
  servers.answers['/openapi/v2'] = { status: 500 }
  servers.set(remoteService('v1.a.example.com'))
  assert.equal((await pathsOf(library)).includes(path), true)
})

test('the OpenAPI v3 index contains the documents of remote servers, including converted v2 documents of servers without v3', async () => {
  const servers = new FakeServers()
  await using openApi = new RemoteOpenApi({ servers, log: silent })
  openApi.start()
  const url = `/openapi/v3/${key}?hash=1`
  const paths = { [key]: { serverRelativeURL: url }, version: { serverRelativeURL: '/v' } }
  servers.answers['/openapi/v3'] = jsonAnswer({ paths })
  servers.set(remoteService('v1.a.example.com'))
  await until(() => openApi.urls().size === 2, 'the index is read')
  assert.equal(openApi.urls().get(key), url)
  assert.equal(openApi.find(key)?.service.name, 'v1.a.example.com')
  assert.deepEqual([openApi.owns(key), openApi.owns('version')], [true, false])
  servers.answers = { '/openapi/v2': jsonAnswer(swagger) }
  servers.set()
  assert.equal(openApi.urls().size, 0)
  servers.set(remoteService('v1.a.example.com'))
  await until(() => openApi.find(key)?.converted !== undefined, 'the document of 2.0 is converted')
})

test('the OpenAPI documents of all remote servers share one size limit, and a document that exceeds it adds no paths', async () => {
  const servers = new FakeServers()
  const reported: unknown[] = []
  const log: Log = (_level, _message, fields) => void reported.push(fields)
  const text = 'x'.repeat(1_000)
  const documentOf = (group: string): object => ({
    ...swagger,
    paths: { [`/apis/${group}/v1/things`]: { get: { description: text } } },
  })
  const fetch: FakeServers['fetch'] = (service, asked, options) => {
    servers.answers['/openapi/v2'] = jsonAnswer(documentOf(service.group))
    return servers.fetch(service, asked, options)
  }
  const { list, changes, onChange } = servers
  await using openApi = new RemoteOpenApi({
    servers: { list, changes, onChange, fetch },
    log,
    olderCharsMax: 1_900,
  })
  openApi.start()
  servers.set(remoteService('v1.a.example.com'))
  await until(() => openApi.olderSpecs().length === 1, 'the first document is read')
  servers.set(remoteService('v1.a.example.com'), remoteService('v1.b.example.com'))
  await until(
    () => reported.some((fields) => /more than 1900 characters/.test(JSON.stringify(fields))),
    'it is refused',
  )
  assert.deepEqual(
    openApi.olderSpecs().map(([{ name }]) => name),
    ['v1.a.example.com'],
  )
  servers.set(remoteService('v1.b.example.com'))
  await until(
    () => openApi.olderSpecs()[0]?.[0].name === 'v1.b.example.com',
    'there is room when the first has gone',
  )
})
