/** Tests how metrics count requests, with the names and rules of kube-apiserver. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { after, before, test } from 'node:test'
import { until } from '../support/harness/until.ts'
import { adminToken, type Client, clients, startTestServer, type TestServer } from './support.ts'

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer([
    '--authorization-mode=RBAC',
    '--show-hidden-metrics-for-version=1.32',
  ])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const secrets = '/api/v1/namespaces/default/secrets'

/** Returns the sum of all series of a metric that have these labels. */
async function sum(
  name: string,
  labels: { readonly [name: string]: string } = {},
): Promise<number> {
  const { text } = await client.call({ path: '/metrics' })
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((pair) => line.includes(pair)))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

test('requests that are rejected or not routed are not counted for a resource, as in kube-apiserver', async () => {
  const earlier = await sum('apiserver_request_total')
  assert.equal((await client.call({ path: secrets, token: 'nobody' })).status, 401)
  assert.equal((await client.call({ path: secrets, token: 'bob-token' })).status, 403)
  assert.equal((await client.call({ path: '/apis/none.example.com/v1/things' })).status, 404)
  assert.equal((await client.call({ path: '/none' })).status, 404)
  assert.equal((await client.call({ path: '/version' })).status, 200)
  assert.equal(await sum('apiserver_request_total', { component: 'apiserver', verb: 'other' }), 0)
  assert.equal(await sum('apiserver_request_total', { resource: 'things' }), 0)
  assert.equal(await sum('apiserver_request_total', { code: '403' }), 0)
  for (const [code, count] of Object.entries({ 401: 1, 403: 1, 404: 2 }))
    assert.equal(await sum('keelson_refused_requests_total', { code }), count, code)
  assert.ok((await sum('apiserver_request_total')) >= earlier)
})

test('the metrics of requests and of the sizes of bodies and responses have the same labels as in kube-apiserver', async () => {
  const name = 'measured'
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name } }
  assert.equal((await client.call({ method: 'POST', path: secrets, body })).status, 201)
  const applied = await client.call({
    method: 'PATCH',
    path: `${secrets}/${name}?fieldManager=m`,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body,
  })
  assert.equal(applied.status, 200)
  const own = { resource: 'secrets', group: '', version: 'v1' }
  for (const verb of ['POST', 'APPLY'])
    assert.equal(
      await sum('apiserver_request_total', { ...own, verb, scope: 'resource', dry_run: '' }),
      1,
      verb,
    )
  assert.equal((await client.call({ path: secrets })).status, 200)
  assert.ok(
    (await sum('apiserver_response_sizes_count', { ...own, verb: 'LIST', scope: 'namespace' })) > 0,
  )
  assert.equal(await sum('apiserver_response_sizes_count', { ...own, verb: 'POST' }), 0)
  assert.equal(
    await sum('apiserver_request_body_size_bytes_count', { resource: 'secrets', verb: 'create' }),
    1,
  )
  assert.equal(
    await sum('apiserver_request_body_size_bytes_count', { resource: 'secrets', verb: 'patch' }),
    1,
  )
  assert.ok(
    (await sum('apiserver_request_sli_duration_seconds_count', { ...own, verb: 'POST' })) === 1,
  )
  // This metric is hidden by default. A flag of this server enables it.
  assert.ok(
    (await sum('apiserver_request_slo_duration_seconds_count', { ...own, verb: 'POST' })) === 1,
  )
  const level = { priority_level: 'workload-low' }
  assert.equal(await sum('apiserver_flowcontrol_request_concurrency_limit', level), 245)
  assert.equal(
    await sum('apiserver_flowcontrol_request_concurrency_in_use', { priority_level: 'exempt' }),
    1,
  )
  assert.ok(
    (await sum('field_validation_request_duration_seconds_count', { field_validation: '' })) > 0,
  )
  assert.ok(
    (await sum('apiserver_request_filter_duration_seconds_count', { filter: 'authorization' })) > 3,
  )
})

test('the server counts its own requests separately', async () => {
  assert.ok((await sum('apiserver_selfrequest_total')) > 0)
})

test('a watch is counted as a request when it ends', async () => {
  const own = { resource: 'secrets', verb: 'WATCH' }
  const earlier = await sum('apiserver_request_total', own)
  const watch = client.lines({ path: `${secrets}?watch=true` })
  const first = watch.next()
  await until(async () => (await sum('apiserver_longrunning_requests', own)) === 1, 'a watch')
  assert.equal(await sum('apiserver_request_total', own), earlier)
  await first
  await watch.return()
  await until(async () => (await sum('apiserver_longrunning_requests', own)) === 0, 'its end')
  await until(async () => (await sum('apiserver_request_total', own)) === earlier + 1, 'its count')
})

test('of the requests for non-resource paths, only health checks and aggregated discovery are counted', async () => {
  await client.call({ path: '/livez' })
  assert.equal(
    await sum('apiserver_request_total', { subresource: '/livez', component: '', verb: 'GET' }),
    1,
  )
  await client.call({ path: '/apis' })
  assert.equal(await sum('apiserver_request_total', { subresource: 'apis' }), 0)
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  await client.call({ path: '/apis', headers: { accept } })
  assert.equal(
    await sum('apiserver_request_total', { subresource: 'apis', component: 'apiserver' }),
    1,
  )
})

test('requests that exceed the limit for requests in flight are counted as terminated', async () => {
  await using limited = await startTestServer([
    '--enable-priority-and-fairness=false',
    '--max-requests-inflight=1',
    '--authorization-mode=AlwaysAllow',
  ])
  await using own = clients['HTTP/2']?.(limited.url) ?? assert.fail()
  limited.pauseEtcd()
  // Send a request that waits for etcd. It occupies the only slot for requests in progress.
  const held = own.call({ path: `${secrets}/held`, token: 'bob-token' })
  const read = async (): Promise<string> => (await own.call({ path: '/metrics' })).text
  await until(
    async () => (await own.call({ path: `${secrets}/held`, token: 'bob-token' })).status === 429,
    'a full pool',
  )
  const text = await read()
  assert.match(text, /^apiserver_request_total\{code="429",[^}]*resource="secrets"[^}]*verb="GET"/m)
  assert.match(
    text,
    /^apiserver_request_terminations_total\{code="429",[^}]*resource="secrets"[^}]*verb="GET"/m,
  )
  limited.resumeEtcd()
  await held
})

test('a request that times out is counted as terminated', async () => {
  assert.equal((await client.call({ path: `${secrets}?timeout=1us` })).status, 504)
  const own = { code: '504', resource: 'secrets', verb: 'LIST', scope: 'namespace' }
  assert.equal(await sum('apiserver_request_terminations_total', own), 1)
})

test('a deleted custom resource leaves no metric series behind, even if a request ends after the deletion', async () => {
  const [group, definitions] = [
    'gone.example.com',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  ]
  const things = `/apis/${group}/v1/things`
  const schema = { openAPIV3Schema: { type: 'object' } }
  const definition = (deprecated: boolean) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, deprecated, schema }],
    },
  })
  await client.call({ method: 'POST', path: definitions, body: definition(false) })
  await until(async () => (await client.call({ path: things })).status === 200, 'the resource')
  const path = `${definitions}/things.${group}`
  const type = { 'content-type': 'application/merge-patch+json' }
  await client.call({ method: 'PATCH', path, headers: type, body: definition(true) })
  const deprecated = (): Promise<number> => sum('apiserver_requested_deprecated_apis', { group })
  await until(
    async () => (await client.call({ path: things })).headers['warning'] !== undefined,
    'a warning',
  )
  assert.equal(await deprecated(), 1)

  const session = connect(server.url, { rejectUnauthorized: false })
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
  const late = session.request({ ':method': 'POST', ':path': things, ...headers })
  late.write('{')
  await until(
    async () =>
      (await sum('apiserver_current_inflight_requests', { request_kind: 'mutating' })) > 0,
    'the late request',
  )
  assert.equal((await client.call({ method: 'DELETE', path })).status, 200)
  await until(
    async () => (await client.call({ path: things })).status === 404,
    'the end of the resource',
  )
  late.end('}')
  await once(late, 'response')
  session.destroy()
  const apiService = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`
  await until(
    async () => (await client.call({ path: apiService })).status === 404,
    'the end of its APIService',
  )
  const shown = async (): Promise<string> => (await client.call({ path: '/metrics' })).text
  await until(
    async () => !(await shown()).includes(`{name="v1.${group}"}`),
    'the end of the series of its APIService',
  )
  assert.deepEqual(
    (await shown()).split('\n').filter((line) => line.includes(group)),
    [],
  )
})

test('since 1.34, metrics of etcd requests follow the custom resources of a group', async () => {
  await using newer = await startTestServer(['--kubernetes=1.34'])
  await using user = clients['HTTP/2']?.(newer.url) ?? assert.fail()
  const group = 'kept.example.com'
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const create = async (plural: string): Promise<void> => {
    const schema = { openAPIV3Schema: { type: 'object' } }
    const body = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural, kind: plural },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }
    assert.equal((await user.call({ method: 'POST', path: definitions, body })).status, 201)
    const object = { apiVersion: `${group}/v1`, kind: plural, metadata: { name: 'a' } }
    const path = `/apis/${group}/v1/${plural}`
    await until(
      async () => (await user.call({ method: 'POST', path, body: object })).status === 201,
      `an object of ${plural}`,
    )
  }
  const counted = async (): Promise<readonly string[]> => {
    const { text } = await user.call({ path: '/metrics' })
    const lines = text.matchAll(
      /^etcd_requests_total\{group="kept.example.com",operation="create",resource="(\w+)"\}/gm,
    )
    return [...lines].map(([, resource = '']) => resource).toSorted()
  }
  await create('others')
  await create('things')
  assert.deepEqual(await counted(), ['others', 'things'])
  const deleted = await user.call({ method: 'DELETE', path: `${definitions}/things.${group}` })
  assert.equal(deleted.status, 200)
  await until(async () => (await counted()).join() === 'others', 'the end of the metrics')
  await create('things')
  assert.deepEqual(await counted(), ['others', 'things'])
})
