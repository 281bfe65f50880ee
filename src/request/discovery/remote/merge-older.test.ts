import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fields, fieldsOf } from '../../../api/object.ts'
import { parseJson, parseText } from '../../../api/json-value.ts'
import { Slices } from '../../../lib/scheduling/slices.ts'
import { encodeV3 } from '../openapi/gnostic.ts'
import { convertOlder } from './convert-older.ts'
import { mergeOlder, type OlderWhole } from './merge-older.ts'
import { readOlderSpec, withPaths } from './older-spec.ts'

const refTo = (name: string): Fields => ({ $ref: `#/definitions/${name}` })
const pathOf = (name: string): Fields => ({
  get: { responses: { 200: { description: 'OK', schema: refTo(name) } } },
})
const gvk = 'x-kubernetes-group-version-kind'

const specOf = (spec: object): ReturnType<typeof readOlderSpec> =>
  readOlderSpec(Buffer.from(JSON.stringify(spec)))

const wholeOf = (definitions: Record<string, Fields> = {}): OlderWhole => ({
  paths: new Map([['/api', '{}']]),
  definitions: new Map(
    Object.entries(definitions).map(([name, value]) => [name, JSON.stringify(value)]),
  ),
  parameters: new Map(),
})

const read = (texts: ReadonlyMap<string, string>): object =>
  Object.fromEntries([...texts].map(([name, text]) => [name, parseText(text)]))

test('a definition that differs from an existing definition of the same name is renamed in all references', async () => {
  const whole = wholeOf({
    Meta: { type: 'object', properties: { name: { type: 'string' } } },
    Meta_v2: { type: 'string' },
  })
  const own = { type: 'object', properties: { label: { type: 'string' } } }
  const given = {
    paths: { '/apis/a/v1/': pathOf('Kind') },
    definitions: { Meta: own, Kind: { properties: { m: refTo('Meta') } } },
  }
  await mergeOlder(whole, await specOf(given), new Slices())
  const definitions: object = read(whole.definitions)
  assert.deepEqual(Object.keys(definitions).toSorted(), ['Kind', 'Meta', 'Meta_v2', 'Meta_v3'])
  assert.deepEqual(parseText(whole.definitions.get('Kind') ?? ''), {
    properties: { m: refTo('Meta_v3') },
  })
  // A merge of the same document under another path reuses the renamed definition.
  await mergeOlder(
    whole,
    await specOf({ ...given, paths: { '/apis/b/v1/': pathOf('Kind') } }),
    new Slices(),
  )
  assert.deepEqual([...whole.paths.keys()], ['/api', '/apis/a/v1/', '/apis/b/v1/'])
  assert.deepEqual(parseText(whole.paths.get('/apis/b/v1/') ?? ''), pathOf('Kind_v2'))
})

test('definitions that differ only in their descriptions are merged, and their lists of kinds are joined', async () => {
  const kinds = (group: string): Fields => ({
    [gvk]: [{ group, kind: 'DeleteOptions', version: 'v1' }],
  })
  const whole = wholeOf({ Options: { type: 'object', description: 'ours', ...kinds('') } })
  const theirs = { type: 'object', description: 'theirs', ...kinds('a') }
  await mergeOlder(
    whole,
    await specOf({ paths: { '/apis/a/v1/': pathOf('Options') }, definitions: { Options: theirs } }),
    new Slices(),
  )
  assert.deepEqual(read(whole.definitions), {
    Options: {
      type: 'object',
      description: 'ours',
      [gvk]: [
        { group: '', kind: 'DeleteOptions', version: 'v1' },
        { group: 'a', kind: 'DeleteOptions', version: 'v1' },
      ],
    },
  })
})

test('a path that already exists is not replaced, and the definitions of the rejected path are not added', async () => {
  const whole = wholeOf({ Kind: { type: 'string' } })
  await mergeOlder(
    whole,
    await specOf({ paths: { '/api': pathOf('Kind') }, definitions: { Kind: { type: 'object' } } }),
    new Slices(),
  )
  assert.deepEqual(read(whole.paths), { '/api': {} })
  assert.deepEqual(read(whole.definitions), { Kind: { type: 'string' } })
})

test('a definition of a remote document is kept if a kept path references it, or if no path references it', async () => {
  const spec = await specOf({
    paths: { '/apis/a/v1/x': pathOf('A'), '/apis/b/v1/x': pathOf('B') },
    definitions: { A: { properties: { inner: refTo('Inner') } }, B: {}, Inner: {}, Free: {} },
  })
  const kept = await withPaths(spec, (path) => path.startsWith('/apis/a/v1/'))
  assert.deepEqual([...kept.paths.keys()], ['/apis/a/v1/x'])
  assert.deepEqual([...kept.definitions.keys()].toSorted(), ['A', 'Free', 'Inner'])
})

test('a document in OpenAPI 2.0 is converted to 3.0, which can be encoded as protobuf', async () => {
  const operation = {
    consumes: ['application/json'],
    produces: ['application/json'],
    schemes: ['https'],
    operationId: 'create',
    parameters: [
      { in: 'body', name: 'body', schema: refTo('A') },
      { in: 'query', name: 'limit', type: 'integer', uniqueItems: true },
    ],
    responses: { 200: { description: 'OK', schema: refTo('A') } },
  }
  const spec = await specOf({
    swagger: '2.0',
    info: { title: 'T', version: 'v1' },
    paths: { '/apis/a/v1/x': { post: operation } },
    definitions: { A: { type: 'object', properties: { b: { description: 'd', ...refTo('A') } } } },
  })
  const { json } = await convertOlder(spec)
  const to = { $ref: '#/components/schemas/A' }
  const content = { 'application/json': { schema: to } }
  assert.deepEqual(fieldsOf(parseJson(json)), {
    openapi: '3.0.0',
    info: { title: 'T', version: 'v1' },
    paths: {
      '/apis/a/v1/x': {
        post: {
          operationId: 'create',
          parameters: [
            { in: 'query', name: 'limit', schema: { type: 'integer', uniqueItems: true } },
          ],
          requestBody: { content },
          responses: { 200: { description: 'OK', content } },
        },
      },
    },
    components: {
      schemas: { A: { type: 'object', properties: { b: { description: 'd', allOf: [to] } } } },
    },
  })
  assert.ok((await encodeV3(json)).length > 0)
})
