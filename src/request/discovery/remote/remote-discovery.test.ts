import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FakeServers,
  jsonAnswer,
  remoteService,
} from '../../../../test/support/harness/fake-remote-servers.ts'
import { SteppedTime } from '../../../../test/support/harness/stepped-time.ts'
import { until } from '../../../../test/support/harness/until.ts'
import { silent } from '../../../lib/telemetry/log.ts'
import { RemoteDiscovery, type RemoteVersion } from './remote-discovery.ts'

const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const jobs = { resource: 'jobs', scope: 'Namespaced', verbs: ['list'], shortNames: ['jz'], more: 1 }

const documentOf = (...versions: readonly object[]): object => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: 'apidiscovery.k8s.io/v2',
  metadata: {},
  items: [{ metadata: { name: 'stable.example.com' }, versions }],
})

const shownOf = (discovery: RemoteDiscovery): Record<string, Omit<RemoteVersion, 'service'>> =>
  Object.fromEntries(
    Array.from(discovery.versions(), ({ service, ...shown }) => [service.name, shown]),
  )

const jobsText =
  '[{"resource":"jobs","responseKind":{"group":"","version":"","kind":""},"scope":"Namespaced","singularResource":"","verbs":["list"],"shortNames":["jz"]}]'

test('one discovery document is used for all APIServices of a server, and versions that are not in it have no resources', async () => {
  const servers = new FakeServers()
  servers.answers['/apis'] = jsonAnswer(documentOf({ version: 'v1', resources: [jobs] }), {
    type,
    etag: '"1"',
  })
  servers.set(remoteService('v1.stable.example.com'), remoteService('v2.stable.example.com'))
  await using discovery = new RemoteDiscovery({ servers, log: silent })
  await discovery.start()
  assert.deepEqual(shownOf(discovery), {
    'v1.stable.example.com': { resources: jobsText, isStale: false },
    'v2.stable.example.com': { resources: undefined, isStale: false },
  })
})

test('an APIService that is added later gets its resources from the same discovery document', async () => {
  const servers = new FakeServers()
  const versions = [
    { version: 'v1', resources: [jobs] },
    { version: 'v2', resources: [jobs] },
  ]
  servers.answers['/apis'] = jsonAnswer(documentOf(...versions), { type, etag: '"1"' })
  servers.set(remoteService('v1.stable.example.com'))
  await using discovery = new RemoteDiscovery({ servers, log: silent })
  await discovery.start()
  servers.set(
    remoteService('v1.stable.example.com'),
    remoteService('v2.stable.example.com', { isAvailable: false }),
  )
  assert.equal(shownOf(discovery)['v2.stable.example.com']?.isStale, true)
  await until(
    () => shownOf(discovery)['v2.stable.example.com']?.resources === jobsText,
    'the resources of v2',
  )
})

test('the version of an unreachable server is marked as stale and has no resources until the server responds', async () => {
  const servers = new FakeServers()
  servers.answers['/apis'] = new Error('connection refused')
  servers.set(remoteService('v1.stable.example.com'))
  await using discovery = new RemoteDiscovery({ servers, log: silent })
  await discovery.start()
  const before = discovery.changes
  assert.deepEqual(shownOf(discovery), {
    'v1.stable.example.com': { resources: undefined, isStale: true },
  })
  servers.answers['/apis'] = jsonAnswer(documentOf({ version: 'v1', resources: [jobs] }), { type })
  servers.set(remoteService('v1.stable.example.com'))
  await until(() => !shownOf(discovery)['v1.stable.example.com']?.isStale, 'the version is current')
  assert.ok(discovery.changes > before)
  servers.answers['/apis'] = { status: 503 }
  servers.set(remoteService('v1.stable.example.com'))
  await until(
    () => shownOf(discovery)['v1.stable.example.com']?.isStale === true,
    'the version is stale',
  )
  assert.equal(shownOf(discovery)['v1.stable.example.com']?.resources, undefined)
  servers.set()
  assert.deepEqual(shownOf(discovery), {})
})

test('a failed request for remote resources is retried even if the APIService does not change', async () => {
  const servers = new FakeServers()
  servers.answers['/apis'] = new Error('connection refused')
  servers.set(remoteService('v1.stable.example.com'))
  await using discovery = new RemoteDiscovery({ servers, log: silent })
  await discovery.start()
  servers.answers['/apis'] = jsonAnswer(documentOf({ version: 'v1', resources: [] }), { type })
  await until(() => !shownOf(discovery)['v1.stable.example.com']?.isStale, 'the version is current')
})

test('the resources of a server without aggregated discovery are converted', async () => {
  const servers = new FakeServers()
  servers.answers['/apis/old.example.com/v1'] = jsonAnswer({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'old.example.com/v1',
    resources: [
      { name: 'things/status', namespaced: true, kind: 'Thing', verbs: ['get'] },
      {
        name: 'things',
        singularName: 'thing',
        namespaced: true,
        kind: 'Thing',
        verbs: ['get', 'list'],
        categories: ['all'],
      },
      {
        name: 'orphans/scale',
        namespaced: false,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get'],
      },
    ],
  })
  servers.set(remoteService('v1.old.example.com'))
  await using discovery = new RemoteDiscovery({ servers, log: silent })
  await discovery.start()
  const own = { group: '', version: '', kind: 'Thing' }
  const none = { group: '', version: '', kind: '' }
  assert.deepEqual(JSON.parse(shownOf(discovery)['v1.old.example.com']?.resources ?? ''), [
    {
      resource: 'things',
      responseKind: own,
      scope: 'Namespaced',
      singularResource: 'thing',
      verbs: ['get', 'list'],
      categories: ['all'],
      subresources: [{ subresource: 'status', responseKind: own, verbs: ['get'] }],
    },
    {
      resource: 'orphans',
      responseKind: none,
      scope: 'Cluster',
      singularResource: '',
      verbs: null,
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['get'],
        },
      ],
    },
  ])
})

test('an invalid response marks only the APIServices of that server as stale', async () => {
  for (const body of [
    '',
    '[]',
    '{"kind":"Status"}',
    '{"items":[{"versions":7}]',
    '{"__proto__":{}}',
  ]) {
    const servers = new FakeServers()
    const fetch: FakeServers['fetch'] = (service, path, asked) =>
      service.group === 'bad.example.com'
        ? Promise.resolve({ status: 200, type, etag: '', body: Buffer.from(body) })
        : servers.fetch(service, path, asked)
    servers.answers['/apis'] = jsonAnswer(documentOf({ version: 'v1', resources: [jobs] }), {
      type,
    })
    const other = { service: { namespace: 'default', name: 'bad', port: 443 } }
    servers.set(
      remoteService('v1.stable.example.com'),
      remoteService('v1.bad.example.com', { remote: other }),
    )
    const { list, changes, onChange } = servers
    await using discovery = new RemoteDiscovery({
      servers: { list, changes, onChange, fetch },
      log: silent,
    })
    await discovery.start()
    const shown = shownOf(discovery)
    assert.deepEqual(
      [shown['v1.stable.example.com']?.isStale, shown['v1.bad.example.com']?.isStale],
      [false, true],
      body,
    )
  }
})

test('a remote server that never responds does not prevent this server from becoming ready', async () => {
  const servers = new FakeServers()
  servers.answers['/apis'] = new Promise(() => undefined)
  servers.set(remoteService('v1.stable.example.com'))
  const time = new SteppedTime()
  const discovery = new RemoteDiscovery({ servers, log: silent, time })
  let isReady = false
  const starting = discovery.start().then(() => (isReady = true))
  await until(() => {
    // Advance the clock, because the worker that sends the request waits for a timer.
    time.advance(0)
    return servers.asked.length === 1
  }, 'it is asked')
  time.advance(9_999)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isReady, false)
  time.advance(1)
  await starting
  assert.deepEqual(shownOf(discovery), {})
})
