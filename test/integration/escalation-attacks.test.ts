/**
 * Tests that attacks on authorization fail: by roles, aggregation, impersonation, subresources,
 * verbs, names, paths and reviews.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminToken, type Client, clients, startTestServer, type TestServer } from './support.ts'

const group = 'rbac.authorization.k8s.io'
const rbac = `/apis/${group}/v1`
const merge = 'application/merge-patch+json'
const apply = 'application/apply-patch+yaml'
const parts = new AsyncDisposableStack()
let server: TestServer
let client: Client

before(async () => {
  server = parts.use(await startTestServer(['--authorization-mode=Node,RBAC']))
  const made = clients['HTTP/2']?.(server.url)
  assert.ok(made)
  client = parts.use(made)
  for (const name of ['own', 'victim']) await make('/api/v1/namespaces', { metadata: { name } })
  await make('/api/v1/namespaces/victim/secrets', {
    metadata: { name: 'hidden' },
    stringData: { a: 'treasure' },
  })
})

after(async () => {
  await parts.disposeAsync()
  assert.deepEqual(server.complaints, [])
})

type RequestOptions = {
  readonly method?: string
  readonly body?: unknown
  readonly type?: string
  readonly token?: string
  readonly headers?: { readonly [name: string]: string }
}

/** Sends a request as bob, unless another token is given. */
async function call(
  path: string,
  { method = 'GET', body, type, token = 'bob-token', headers = {} }: RequestOptions = {},
) {
  const all = { ...headers, ...(type === undefined ? {} : { 'content-type': type }) }
  return client.call({ method, path, token, headers: all, ...(body === undefined ? {} : { body }) })
}

async function make(path: string, body: unknown): Promise<void> {
  const { status, text } = await call(path, { method: 'POST', body, token: adminToken })
  assert.equal(status, 201, text)
}

const may = (verbs: string, resources: string, more: object = {}): object => ({
  verbs: verbs.split(','),
  resources: resources.split(','),
  apiGroups: [''],
  ...more,
})

/**
 * Grants bob these rules while `attacks` runs, either in the `own` namespace or in the whole
 * cluster.
 */
async function withRules(
  where: 'own' | 'cluster',
  rules: readonly object[],
  attacks: () => Promise<void>,
): Promise<void> {
  const [prefix, base] = where === 'own' ? ['', `${rbac}/namespaces/own/`] : ['cluster', `${rbac}/`]
  await make(`${base}${prefix}roles`, { metadata: { name: 'granted' }, rules })
  await make(`${base}${prefix}rolebindings`, {
    metadata: { name: 'granted' },
    roleRef: { apiGroup: group, kind: where === 'own' ? 'Role' : 'ClusterRole', name: 'granted' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'bob' }],
  })
  try {
    await attacks()
  } finally {
    for (const kind of ['rolebindings', 'roles']) {
      await call(`${base}${prefix}${kind}/granted`, { method: 'DELETE', token: adminToken })
    }
  }
}

async function refused(
  path: string,
  sent: RequestOptions = {},
  statuses: readonly number[] = [403],
): Promise<void> {
  const { status, text } = await call(path, sent)
  assert.ok(statuses.includes(status), `${sent.method ?? 'GET'} ${path}: ${status} ${text}`)
  assert.doesNotMatch(text, /treasure|dHJlYXN1cmU/)
}

test('aggregation: a user who is allowed to write cluster roles cannot add permissions to aggregated roles', async () => {
  const aggregates = (to: string) => ({ [`${group}/aggregate-to-${to}`]: 'true' })
  const writes = may('create,update,patch,get', 'clusterroles', { apiGroups: [group] })
  await withRules('cluster', [writes], async () => {
    const body = {
      metadata: { name: 'more', labels: aggregates('view') },
      rules: [may('get', 'secrets')],
    }
    await refused(`${rbac}/clusterroles`, { method: 'POST', body })
    await refused(`${rbac}/clusterroles/more`, { method: 'PUT', body })
    const full = { apiVersion: `${group}/v1`, kind: 'ClusterRole', ...body }
    await refused(`${rbac}/clusterroles/more?fieldManager=m`, {
      method: 'PATCH',
      type: apply,
      body: full,
    })
    const labelled = { metadata: { labels: aggregates('view') } }
    await refused(`${rbac}/clusterroles/system:node`, {
      method: 'PATCH',
      type: merge,
      body: labelled,
    })
    const all = { aggregationRule: { clusterRoleSelectors: [{}] } }
    await refused(`${rbac}/clusterroles/granted`, { method: 'PATCH', type: merge, body: all })
    await refused(`${rbac}/clusterroles`, {
      method: 'POST',
      body: { metadata: { name: 'sum' }, ...all },
    })
    const own = { metadata: { labels: aggregates('view') } }
    assert.equal(
      (await call(`${rbac}/clusterroles/granted`, { method: 'PATCH', type: merge, body: own }))
        .status,
      200,
    )
  })
})

test('bindings: a user cannot bind other roles or subjects, or extend a role that is bound', async () => {
  const writes = may('create,update,patch,get,delete', 'roles,rolebindings', { apiGroups: [group] })
  await withRules('own', [writes], async () => {
    const path = `${rbac}/namespaces/own`
    const binding = (kind: string, name: string) => ({
      metadata: { name: 'b' },
      roleRef: { apiGroup: group, kind, name },
      subjects: [{ apiGroup: group, kind: 'User', name: 'bob' }],
    })
    await refused(`${path}/rolebindings`, {
      method: 'POST',
      body: binding('ClusterRole', 'cluster-admin'),
    })
    await refused(`${path}/rolebindings`, {
      method: 'POST',
      body: binding('ClusterRole', 'system:node'),
    })
    const ghost = { method: 'POST', body: binding('Role', 'not-yet') }
    await refused(`${path}/rolebindings`, ghost, [404])
    assert.equal(
      (await call(`${path}/rolebindings`, { method: 'POST', body: binding('Role', 'granted') }))
        .status,
      201,
    )
    const roleRef = { roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' } }
    await refused(
      `${path}/rolebindings/b`,
      { method: 'PATCH', type: merge, body: roleRef },
      [403, 422],
    )
    const more = { rules: [writes, may('get', 'secrets')] }
    await refused(`${path}/roles/granted`, { method: 'PATCH', type: merge, body: more })
    await refused(`${rbac}/namespaces/victim/rolebindings`, {
      method: 'POST',
      body: binding('Role', 'granted'),
    })
    await call(`${path}/rolebindings/b`, { method: 'DELETE', token: adminToken })
  })
})

test('impersonation: a user can impersonate only the users that the rules allow, whatever the headers contain', async () => {
  const rules = [may('impersonate', 'users,groups', { resourceNames: ['carol', 'dev'] })]
  await withRules('cluster', [...rules, may('list', 'configmaps')], async () => {
    const carol = { 'impersonate-user': 'carol' }
    assert.equal((await call('/apis', { headers: carol })).status, 200)
    for (const headers of [
      { 'impersonate-user': 'admin' },
      { 'impersonate-user': 'carol admin' },
      { 'impersonate-user': 'Carol' },
      { 'impersonate-user': 'system:admin' },
      { 'impersonate-user': 'system:node:n' },
      { 'impersonate-user': 'system:serviceaccount:kube-system:default' },
      { ...carol, 'impersonate-group': 'system:masters' },
      { ...carol, 'impersonate-group': 'dev,system:masters' },
      { ...carol, 'impersonate-group': 'system:nodes' },
      { ...carol, 'impersonate-uid': 'admin-uid' },
      { ...carol, 'impersonate-extra-authentication.kubernetes.io%2fpod-name': 'p' },
    ]) {
      await refused('/apis', { headers })
    }
    await refused('/apis', { headers: { 'impersonate-group': 'system:masters' } }, [403, 500])
    // Bob impersonates carol. The request then has only the permissions of carol, which are not
    // sufficient, and none of bob's own.
    const impersonated = await call('/api/v1/namespaces/own/configmaps', { headers: carol })
    assert.equal(impersonated.status, 403)
  })
})

test('subresources: each subresource needs its own permission, which does not apply to the object itself', async () => {
  await make('/api/v1/namespaces/own/serviceaccounts', { metadata: { name: 'strong' } })
  await make('/api/v1/namespaces/own/configmaps', { metadata: { name: 'm' } })
  const containers = [{ name: 'c', image: 'i' }]
  await make('/api/v1/namespaces/own/pods', {
    metadata: { name: 'p' },
    spec: { containers, serviceAccountName: 'strong' },
  })
  const own = '/api/v1/namespaces/own'
  await withRules(
    'own',
    [may('*', 'pods,serviceaccounts'), may('update,patch', 'pods/status')],
    async () => {
      await refused(`${own}/serviceaccounts/strong/token`, { method: 'POST', body: { spec: {} } })
      for (const part of ['exec', 'attach', 'portforward', 'proxy', 'log']) {
        await refused(`${own}/pods/p/${part}`)
        await refused(`${own}/pods/p/${part}`, { method: 'POST' })
      }
      await refused(`${own}/pods/p/eviction`, { method: 'POST', body: { metadata: { name: 'p' } } })
      await refused(`${own}/pods/p/binding`, { method: 'POST', body: { target: { name: 'n' } } })
      await refused(`${own}/pods/p/ephemeralcontainers`, { method: 'PATCH', type: merge, body: {} })
    },
  )
  await withRules('own', [may('update,patch', 'pods/status')], async () => {
    await refused(`${own}/pods/p`, {
      method: 'PATCH',
      type: merge,
      body: { metadata: { labels: { a: 'b' } } },
    })
    const body = { spec: { containers: [{ name: 'c', image: 'evil' }] } }
    await call(`${own}/pods/p/status`, { method: 'PATCH', type: merge, body })
    const { text } = await call(`${own}/pods/p`, { token: adminToken })
    assert.equal(JSON.parse(text).spec.containers[0].image, 'i')
  })
})

test('writes that create: an update or an apply of a missing object requires permission to create the object', async () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/own/leases'
  const rules = [
    may('update,patch,get', 'configmaps'),
    may('update,patch', 'leases', { apiGroups: ['coordination.k8s.io'] }),
  ]
  await withRules('own', rules, async () => {
    await refused(`${leases}/fresh`, { method: 'PUT', body: { metadata: { name: 'fresh' } } })
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fresh' } }
    const path = '/api/v1/namespaces/own/configmaps/fresh'
    await refused(`${path}?fieldManager=m`, { method: 'PATCH', type: apply, body: map })
    await refused(path, { method: 'PUT', body: map }, [403, 404])
    assert.equal((await call(path)).status, 404)
  })
})

test('verbs: permission for one verb does not include another verb', async () => {
  const maps = '/api/v1/namespaces/own/configmaps'
  await withRules('own', [may('get,list,delete', 'configmaps')], async () => {
    for (const query of ['watch=true', 'watch=1', 'watch=TRUE', 'watch=yes', 'watch=', 'watch']) {
      await refused(`${maps}?${query}`)
    }
    await refused('/api/v1/watch/namespaces/own/configmaps')
    await refused(maps, { method: 'DELETE' })
    await refused(maps, { method: 'POST', body: { metadata: { name: 'x' } } })
    for (const header of ['x-http-method-override', 'x-method-override', 'x-http-method']) {
      const headers = { [header]: 'POST' }
      assert.equal((await call(maps, { headers })).status, 200)
    }
  })
  await withRules('own', [may('get', 'configmaps')], async () => {
    await refused(maps)
    await refused(`${maps}?fieldSelector=metadata.name%3Dm`)
  })
})

test('names: permission for one object does not include other objects', async () => {
  const secrets = '/api/v1/namespaces/victim/secrets'
  await make(secrets, { metadata: { name: 'shown' } })
  const rules = [may('get,list,watch,update,patch', 'secrets', { resourceNames: ['shown'] })]
  await withRules('cluster', rules, async () => {
    assert.equal((await call(`${secrets}/shown`)).status, 200)
    assert.equal((await call(`${secrets}?fieldSelector=metadata.name%3Dshown`)).status, 200)
    for (const query of [
      '',
      '?fieldSelector=metadata.name%3Dhidden',
      '?fieldSelector=metadata.name!%3Dshown',
      '?labelSelector=metadata.name%3Dshown',
      '?fieldSelector=metadata.namespace%3Dshown',
      '?fieldSelector=METADATA.NAME%3Dshown',
    ]) {
      await refused(`${secrets}${query}`)
    }
    // If a query contains two names, authorization checks only the first one. The query must not
    // return the object with the second name. It returns no object, because none has both names.
    await refused(
      `${secrets}?fieldSelector=metadata.name%3Dshown,metadata.name%3Dhidden`,
      {},
      [200, 403],
    )
    await refused(
      `${secrets}?fieldSelector=metadata.name%3Dshown&fieldSelector=metadata.name%3Dhidden`,
      {},
      [200, 403],
    )
    await refused(`${secrets}/hidden`)
    await refused(`${secrets}/shown/../hidden`, {}, [400, 403, 404])
    await refused(`${secrets}/shown%2F..%2Fhidden`, {}, [400, 403, 404])
    const renamed = { metadata: { name: 'hidden' }, data: {} }
    await refused(`${secrets}/shown`, { method: 'PUT', body: renamed }, [400])
    await refused(
      '/api/v1/secrets?fieldSelector=metadata.name%3Dshown,metadata.namespace%3Dvictim',
      {},
      [403, 200],
    )
  })
})

test('paths: permission for one path does not include other paths', async () => {
  const rules = [{ verbs: ['get'], nonResourceURLs: ['/metrics/slis', '/debug'] }]
  await withRules('cluster', rules, async () => {
    for (const path of [
      '/metrics',
      '/metrics/slis/../',
      '//metrics',
      '/metrics/',
      '/METRICS',
      '/debug/authorization?user=a',
    ]) {
      const { status, text } = await call(path)
      assert.ok(status >= 400, `${path}: ${status}`)
      assert.doesNotMatch(text, /apiserver_request_total/)
    }
    await refused('/metrics/slis', { method: 'POST' })
  })
})

test('reviews: a user with permission for self reviews cannot review other users', async () => {
  const reviews = '/apis/authorization.k8s.io/v1'
  const about = { resourceAttributes: { namespace: 'victim', verb: 'get', resource: 'secrets' } }
  await refused(`${reviews}/subjectaccessreviews`, {
    method: 'POST',
    body: { spec: { user: 'admin', ...about } },
  })
  const local = { metadata: { namespace: 'own' }, spec: { user: 'admin', ...about } }
  await refused(`${reviews}/namespaces/own/localsubjectaccessreviews`, {
    method: 'POST',
    body: local,
  })
  const spec = { user: 'admin', groups: ['system:masters'], ...about }
  const sent = { method: 'POST', body: { spec, status: { allowed: true } } }
  const { text } = await call(`${reviews}/selfsubjectaccessreviews`, sent)
  assert.equal(JSON.parse(text).status?.allowed, false, text)
  const allReviews = may('create', 'localsubjectaccessreviews', {
    apiGroups: ['authorization.k8s.io'],
  })
  await withRules('own', [allReviews], async () => {
    await refused(
      `${reviews}/namespaces/own/localsubjectaccessreviews`,
      { method: 'POST', body: local },
      [422],
    )
    await refused(`${reviews}/namespaces/victim/localsubjectaccessreviews`, {
      method: 'POST',
      body: local,
    })
  })
})

test('certificates: a user cannot approve or issue a certificate without further permissions', async () => {
  const certificates = { apiGroups: ['certificates.k8s.io'] }
  const rules = [
    may('create,get', 'certificatesigningrequests', certificates),
    may('update', 'certificatesigningrequests/approval', certificates),
  ]
  await withRules('cluster', rules, async () => {
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
    const { status, text } = await call(`${path}/none/approval`, {
      method: 'PUT',
      body: { metadata: { name: 'none' } },
    })
    assert.ok(status === 403 || status === 404, text)
    await refused(`${path}/none/status`, { method: 'PUT', body: { metadata: { name: 'none' } } })
  })
})
