/**
 * Tests conversion webhooks and extension servers. The tests are Kubernetes' e2e tests
 * ([sig-api-machinery] … [Conformance] of v1.33.4). There, the server is a Pod; here, it runs on
 * this machine. These are the original tests and their counterparts:
 *
 * - "CustomResourceConversionWebhook should be able to convert from CR v1 to CR v2": an object is
 *   read in the other version.
 * - "CustomResourceConversionWebhook should be able to convert a non homogeneous list of CRs":
 *   objects that are stored in both versions are listed in each version.
 * - "CustomResourceFieldSelectors MUST list and watch custom resources matching the field
 *   selector": field selectors work in each version.
 * - "Aggregator Should be able to support the 1.17 Sample API Server using the current Aggregator":
 *   `npm run conformance -- --group aggregated`.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Fields, fieldsOf, itemsOf, textOf } from '../../../src/api/object.ts'
import { type Answer, fixtureOfFile, type Reach } from './fixture.ts'
import { type Custom, Scope } from './scope.ts'

const fixture = fixtureOfFile()
const text = { type: 'string' } as const

const version = (name: string, storage: boolean, properties: readonly string[]): Fields => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: Object.fromEntries(properties.map((one) => [one, text])),
    },
  },
})

const versions = (stored: string): Fields[] => [
  version('v1', stored === 'v1', ['hostPort']),
  version('v2', stored === 'v2', ['host', 'port']),
]

async function define(scope: Scope, all: readonly Fields[], reach?: Reach): Promise<Custom> {
  const webhook = {
    clientConfig: fixture().clientConfig('/converts', reach),
    conversionReviewVersions: ['v1', 'v1beta1'],
  }
  const custom = await scope.define(all, { conversion: { strategy: 'Webhook', webhook } })
  await fixture().until('objects are converted', async () => {
    if ((await custom.create('v2', 'probe', {})).status !== 201) return false
    await fixture().write({ method: 'DELETE', path: custom.path('v2', 'probe') })
    return true
  })
  return custom
}

const valuesOf = ({ apiVersion, hostPort, host, port }: Fields): Fields => ({
  apiVersion,
  hostPort,
  host,
  port,
})

const inFirst = ({ group }: Custom): Fields => ({
  apiVersion: `${group}/v1`,
  hostPort: 'localhost:8080',
  host: undefined,
  port: undefined,
})

const inSecond = ({ group }: Custom): Fields => ({
  apiVersion: `${group}/v2`,
  hostPort: undefined,
  host: 'localhost',
  port: '8080',
})

const namesIn = ({ body }: Answer): unknown[] => itemsOf(body['items']).map(nameOf).toSorted()
const nameOf = ({ metadata }: Fields): string => textOf(fieldsOf(metadata)['name'])

suite('conversion webhooks and extension servers are called', {
  concurrency: true,
  timeout: 300_000,
}, () => {
  for (const reach of ['url', 'service'] as const) {
    test(`an object is read in a version other than its storage version, with a webhook that is configured by ${reach}`, async () => {
      await using scope = await Scope.begin(fixture())
      const custom = await define(scope, versions('v1'), reach)
      assert.equal((await custom.create('v1', 'a', { hostPort: 'localhost:8080' })).status, 201)
      const { status, body } = await fixture().call({ path: custom.path('v2', 'a') })
      assert.equal(status, 200)
      assert.deepEqual(valuesOf(body), inSecond(custom))
    })
  }

  test('objects of a resource that are stored in two different versions are listed in each version', async () => {
    await using scope = await Scope.begin(fixture())
    const custom = await define(scope, versions('v1'))
    assert.equal((await custom.create('v1', 'a', { hostPort: 'localhost:8080' })).status, 201)
    const changed = await scope.update(custom.definition, (definition) => ({
      ...definition,
      spec: { ...fieldsOf(definition['spec']), versions: versions('v2') },
    }))
    assert.equal(changed.status, 200)
    await fixture().until(
      'the second object exists',
      async () => (await custom.create('v1', 'b', { hostPort: 'localhost:8080' })).status === 201,
    )
    for (const [name, expected] of [
      ['v1', inFirst(custom)],
      ['v2', inSecond(custom)],
    ] as const) {
      const listed = await fixture().call({ path: custom.path(name) })
      assert.deepEqual(namesIn(listed), ['a', 'b'])
      for (const item of itemsOf(listed.body['items'])) assert.deepEqual(valuesOf(item), expected)
    }
  })

  test('field selectors work in each version of a custom resource', () => selectsByFields())

  test(
    'an extension server is reached through its APIService',
    { skip: 'npm run conformance -- --group aggregated runs this test' },
    () => assert.fail(),
  )
})

/** Names that were added and deleted, as reported by a watch or an informer. */
type SeenNames = { readonly added: Set<string>; readonly deleted: Set<string> }

/** Follows a collection. An informer first lists the collection, then watches it from there. */
function follow(
  path: string,
  query: string,
  isInformer: boolean,
  parts: AsyncDisposableStack,
): SeenNames {
  const seen: SeenNames = { added: new Set(), deleted: new Set() }
  const watch = async (): Promise<void> => {
    let from = ''
    if (isInformer) {
      const { body } = await fixture().call({ path: `${path}?${query}` })
      for (const item of itemsOf(body['items'])) seen.added.add(nameOf(item))
      from = `&resourceVersion=${textOf(fieldsOf(body['metadata'])['resourceVersion'])}`
    }
    const lines = fixture().lines(`${path}?watch=true&${query}${from}`)
    parts.defer(() => void lines.return().catch(() => undefined))
    for await (const line of lines) {
      const { type, object }: Fields = JSON.parse(line)
      if (type === 'ADDED') seen.added.add(nameOf(fieldsOf(object)))
      if (type === 'DELETED') seen.deleted.add(nameOf(fieldsOf(object)))
    }
  }
  watch().catch(() => undefined)
  return seen
}

const selecting = (selector: string): string => `fieldSelector=${encodeURIComponent(selector)}`

async function selectsByFields(): Promise<void> {
  await using scope = await Scope.begin(fixture())
  await using parts = new AsyncDisposableStack()
  const [first = {}, second = {}] = versions('v1')
  const custom = await define(scope, [
    { ...first, selectableFields: [{ jsonPath: '.hostPort' }] },
    { ...second, selectableFields: [{ jsonPath: '.host' }, { jsonPath: '.port' }] },
  ])
  const [byHost, byBoth, byHostPort] = [
    'host=host1',
    'host=host1,port=80',
    'hostPort=host1:80',
  ].map(selecting)
  const listed = async (name: string, query = ''): Promise<unknown[]> =>
    namesIn(await fixture().call({ path: `${custom.path(name)}?${query}` }))
  const followed = [
    ...[false, true].flatMap((isInformer) => [
      { seen: follow(custom.path('v2'), byHost ?? '', isInformer, parts), names: ['a', 'b'] },
      { seen: follow(custom.path('v2'), byBoth ?? '', isInformer, parts), names: ['a'] },
    ]),
    { seen: follow(custom.path('v1'), byHostPort ?? '', false, parts), names: ['a'] },
  ]
  const objects = {
    a: { host: 'host1', port: '80' },
    b: { host: 'host1', port: '8080' },
    c: { host: 'host2' },
  }
  for (const [name, fields] of Object.entries(objects)) {
    assert.equal((await custom.create('v2', name, fields)).status, 201)
  }
  assert.deepEqual(await listed('v2', byHost), ['a', 'b'])
  assert.deepEqual(await listed('v2', byBoth), ['a'])
  assert.deepEqual(await listed('v1', byHostPort), ['a'])
  assert.deepEqual(await listed('v1', selecting('hostPort=host1:8080')), ['b'])
  for (const { seen, names } of followed) {
    await fixture().until(
      `${names.join()} are added`,
      async () => [...seen.added].toSorted().join() === names.join(),
    )
    assert.equal(seen.deleted.size, 0)
  }

  await fixture().write({
    method: 'DELETE',
    path: `${custom.path('v2')}?${byBoth}`,
    body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 },
  })
  assert.equal(
    (await scope.update(custom.path('v2', 'b'), (b) => ({ ...b, host: 'host2' }))).status,
    200,
  )
  assert.deepEqual(await listed('v2', byHost), [])
  assert.deepEqual(await listed('v2', byBoth), [])
  for (const { seen, names } of followed) {
    await fixture().until(
      `${names.join()} are deleted`,
      async () => [...seen.deleted].toSorted().join() === names.join(),
    )
    assert.equal([...seen.added].toSorted().join(), names.join())
  }
}
