/**
 * Tests a server on two etcds, one of them only for Events: which data each of them stores, and
 * what happens when one of them is down.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { systemClock } from '../../src/lib/time/clock.ts'
import { silent } from '../../src/lib/telemetry/log.ts'
import { EtcdEngine } from '../../src/storage/etcd-engine.ts'
import { compactionMarker, rangeOf, rangeOfKey } from '../../src/storage/keys.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { until } from '../support/harness/until.ts'
import { startReceiver } from './observe/receiver.ts'
import { type Client, clients, startOn } from './support.ts'

type Etcd = Awaited<ReturnType<typeof startEtcd>>

const engineOf = ({ clientUrl }: Etcd): EtcdEngine =>
  new EtcdEngine(new EtcdClient({ endpoints: [clientUrl], clock: systemClock, log: silent }))

async function countIn(etcd: Etcd, prefix: string): Promise<number> {
  await using engine = engineOf(etcd)
  return (await engine.range({ ...rangeOf(prefix), countOnly: true })).count
}

const events = '/api/v1/namespaces/default/events'
const maps = '/api/v1/namespaces/default/configmaps'
const event = (name: string) => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'a' },
  reason: 'Test',
})
const map = (name: string) => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } })

async function call(client: Client, method: string, path: string, body?: unknown) {
  const { status, text } = await client.call({ method, path, body })
  return { status, body: JSON.parse(text) }
}

const clientOf = (url: string): Client => {
  const client = clients['HTTP/2']?.(url)
  assert.ok(client !== undefined)
  return client
}

const versionOf = (body: { readonly metadata: { readonly resourceVersion: string } }): number =>
  Number(body.metadata.resourceVersion)

test('each etcd has its own resources, revisions and compaction', async () => {
  await using main = await startEtcd()
  await using other = await startEtcd()
  const flags = [
    `--etcd-servers-overrides=/events#${other.clientUrl}`,
    '--etcd-compaction-interval=1s',
  ]
  await using server = await startOn(main, flags)
  await using client = clientOf(server.url)
  for (let n = 0; n < 5; n++)
    assert.equal((await call(client, 'POST', events, event(`e-${n}`))).status, 201)
  assert.equal((await call(client, 'POST', maps, map('m'))).status, 201)
  assert.equal(await countIn(main, '/registry/events/'), 0)
  assert.equal(await countIn(other, '/registry/'), 5)
  // Events have much lower revisions than ConfigMaps. Their etcd is new, but the other etcd
  // contains the objects of a new cluster.
  const listed = await call(client, 'GET', events)
  assert.equal(listed.body.items.length, 5)
  assert.ok(versionOf(listed.body) < 50 && versionOf((await call(client, 'GET', maps)).body) > 50)
  const grouped = await call(client, 'GET', '/apis/events.k8s.io/v1/namespaces/default/events')
  assert.equal(grouped.body.items.length, 5, 'Events of the other group are the same')
  const watching = client.lines({
    path: `${events}?watch=true&resourceVersion=${versionOf(listed.body)}`,
  })
  assert.equal((await call(client, 'POST', maps, map('m2'))).status, 201)
  assert.equal((await call(client, 'POST', events, event('seen'))).status, 201)
  for await (const line of watching) {
    const { type, object } = JSON.parse(line)
    assert.deepEqual([type, object.metadata.name], ['ADDED', 'seen'])
    break
  }
  for (const etcd of [main, other]) {
    await until(async () => {
      await using engine = engineOf(etcd)
      return (await engine.range(rangeOfKey(compactionMarker))).count === 1
    }, 'the etcd is compacted')
  }
  const components = await call(client, 'GET', '/api/v1/componentstatuses')
  const health = components.body.items
    .filter(({ metadata }: { metadata: { name: string } }) => metadata.name.startsWith('etcd-'))
    .map(
      (one: { metadata: { name: string }; conditions: [{ status: string }] }) =>
        `${one.metadata.name} ${one.conditions[0].status}`,
    )
  assert.deepEqual(health, ['etcd-0 True', 'etcd-1 True'])
})

test('leases of Events have the duration of --lease-reuse-duration-seconds in every etcd', async () => {
  await using main = await startEtcd()
  await using other = await startEtcd()
  await using server = await startOn(main, [
    `--etcd-servers-overrides=/events#${other.clientUrl}`,
    '--event-ttl=1h',
    '--lease-reuse-duration-seconds=7',
  ])
  await using client = clientOf(server.url)
  assert.equal((await call(client, 'POST', events, event('a'))).status, 201)
  const ask = async (path: string, body: object) => {
    const answer = await fetch(`${other.clientUrl}/v3/lease/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    return JSON.parse(await answer.text())
  }
  const { leases } = await ask('leases', {})
  assert.equal(leases.length, 1)
  assert.equal((await ask('timetolive', leases[0])).grantedTTL, '3607')
})

test('the spans of calls to a second etcd are part of the trace', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-several-etcds-'))
  await using parts = new AsyncDisposableStack()
  parts.defer(() => rm(folder, { recursive: true, force: true }))
  const receiver = parts.use(await startReceiver())
  const main = parts.use(await startEtcd())
  const other = parts.use(await startEtcd())
  const file = join(folder, 'tracing.yaml')
  await writeFile(
    file,
    `apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\nendpoint: ${receiver.endpoint}\n`,
  )
  const flags = [
    `--etcd-servers-overrides=/events#${other.clientUrl}`,
    `--tracing-config-file=${file}`,
  ]
  const server = parts.use(await startOn(main, flags))
  const client = parts.use(clientOf(server.url))
  const id = 'a'.repeat(32)
  const { status } = await client.call({
    method: 'POST',
    path: events,
    body: event('traced'),
    headers: { traceparent: `00-${id}-${'b'.repeat(16)}-01` },
  })
  assert.equal(status, 201)
  const own = () => receiver.spans.filter(({ traceId }) => traceId === id)
  await until(() => own().some(({ kind }) => kind === 2), 'the spans of the request')
  const stored = own().find(({ name }) => name === 'Create etcd3')
  assert.equal(stored?.attributes['key'], '/events/default/traced')
  assert.ok(
    own().some(
      ({ name, parentSpanId }) => name === 'etcdserverpb.KV/Txn' && parentSpanId === stored?.spanId,
    ),
  )
})

test('while one etcd is down, the resources of the other one are served', async () => {
  await using main = await startEtcd()
  await using other = await startEtcd()
  await using server = await startOn(main, [
    `--etcd-servers-overrides=/events#${other.clientUrl}`,
    '--request-timeout=5s',
  ])
  await using client = clientOf(server.url)
  assert.equal((await call(client, 'POST', events, event('before'))).status, 201)
  other.pause()
  await until(
    async () => (await client.call({ path: '/healthz/etcd-override-0' })).status === 500,
    'the outage is noticed',
  )
  assert.equal((await client.call({ path: '/readyz' })).status, 200)
  assert.equal((await call(client, 'POST', maps, map('meanwhile'))).status, 201)
  assert.equal((await call(client, 'GET', maps)).body.items.length, 1)
  const failed = await call(client, 'POST', events, event('lost'))
  assert.ok(failed.status >= 500, `${failed.status}`)
  assert.ok((await call(client, 'GET', events)).status >= 500, 'nothing stale is served')
  other.resume()
  await until(
    async () => (await client.call({ path: '/healthz/etcd-override-0' })).status === 200,
    'the etcd is back',
  )
  await until(
    async () => (await call(client, 'GET', events)).status === 200,
    'Events are served again',
  )
  assert.equal((await call(client, 'POST', events, event('after'))).status, 201)
})

test('an etcd that is down when the server starts is used when it is up again', async () => {
  await using main = await startEtcd()
  await using other = await startEtcd()
  other.pause()
  await using server = await startOn(main, [
    `--etcd-servers-overrides=/events#${other.clientUrl}`,
    '--request-timeout=5s',
  ])
  await using client = clientOf(server.url)
  assert.equal((await call(client, 'POST', maps, map('m'))).status, 201)
  assert.ok((await call(client, 'GET', events)).status >= 500)
  other.resume()
  await until(
    async () => (await call(client, 'POST', events, event(`e-${Date.now()}`))).status === 201,
    'Events are written',
  )
  await until(async () => (await call(client, 'GET', events)).status === 200, 'Events are listed')
  await until(
    async () => (await client.call({ path: '/healthz/etcd-override-0' })).status === 200,
    'the etcd is healthy',
  )
  const { body } = await call(client, 'GET', events)
  const watching = client.lines({
    path: `${events}?watch=true&resourceVersion=${body.metadata.resourceVersion}`,
  })
  assert.equal((await call(client, 'POST', events, event('seen'))).status, 201)
  for await (const line of watching) {
    assert.equal(JSON.parse(line).object.metadata.name, 'seen')
    break
  }
})

/** Enables authentication in etcd, so that only this user can read and write. */
async function protect({ clientUrl }: Etcd, password: string): Promise<void> {
  await using client = new EtcdClient({ endpoints: [clientUrl] })
  await client.auth.userAdd('root', password)
  await client.auth.roleAdd('root')
  await client.auth.userGrantRole({ user: 'root', role: 'root' })
  await client.auth.authEnable()
}

test('the server authenticates to etcds with user and password, and rereads a changed password', async () => {
  await using main = await startEtcd()
  await using other = await startEtcd()
  const folder = await mkdtemp(join(tmpdir(), 'keelson-login-'))
  await using files = new AsyncDisposableStack()
  files.defer(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'password')
  await writeFile(path, 'first\n')
  for (const etcd of [main, other]) await protect(etcd, 'first')
  await assert.rejects(countIn(main, '/registry/'), /user name is empty/)
  const flags = [`--etcd-servers-overrides=/events#${other.clientUrl}`, '--etcd-user=root']
  await using server = await startOn(main, [...flags, `--etcd-password-file=${path}`])
  await using client = clientOf(server.url)
  assert.equal((await call(client, 'POST', events, event('a'))).status, 201)
  assert.equal((await call(client, 'POST', maps, map('a'))).status, 201)
  // Change the password. etcd then rejects the old tokens, and the server reads the password file
  // again.
  for (const { clientUrl } of [main, other]) {
    await using admin = new EtcdClient({ endpoints: [clientUrl], user: 'root', password: 'first' })
    await admin.auth.userChangePassword('root', 'second')
  }
  await writeFile(path, 'second\n')
  for (const [where, body] of [
    [events, event('b')],
    [maps, map('b')],
  ] as const) {
    await until(
      async () => (await call(client, 'POST', where, body)).status === 201,
      'the object is written',
    )
    assert.equal((await call(client, 'GET', where)).body.items.length, 2)
  }
  assert.ok(!server.complaints.some((text) => text.includes('second')))
})
