/**
 * Tests servers of several Kubernetes releases in one process. An environment variable enables
 * releases that are not finished.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gatesOf } from '../../src/api/gates.ts'
import { fieldsOf, type Json, textOf } from '../../src/api/object.ts'
import { gitVersionOf } from '../../src/api/releases.ts'
import { type Cluster, startCluster } from '../../src/entry/testing/index.ts'

const UNFINISHED = 'KEELSON_UNFINISHED_RELEASES'
const releases = [33, 34, 35, 36, 37]
const clusters = new Map<number, Cluster>()

before(async () => {
  process.env[UNFINISHED] = '1'
  for (const release of releases)
    clusters.set(release, await startCluster({ kubernetes: `1.${release}` }))
})
after(async () => {
  delete process.env[UNFINISHED]
  await Promise.all([...clusters.values()].map((cluster) => cluster.stop()))
})

async function get(release: number, path: string): Promise<Json> {
  const cluster = clusters.get(release) ?? assert.fail(`1.${release} was not started`)
  const { status, body } = await cluster.request<Json>({ path })
  assert.equal(status, 200, path)
  return body
}

test('each server reports its release in /version, OpenAPI and metrics', async () => {
  for (const release of releases) {
    const { major, minor, gitVersion, emulationMinor, minCompatibilityMinor } = fieldsOf(
      await get(release, '/version'),
    )
    assert.deepEqual(
      [major, minor, gitVersion, emulationMinor, minCompatibilityMinor],
      ['1', `${release}`, gitVersionOf(release), `${release}`, `${release - 1}`],
    )
    const { info } = fieldsOf(await get(release, '/openapi/v2'))
    assert.equal(fieldsOf(info)['version'], `1.${release}`)
  }
})

test('each server has the feature gates of its release', async () => {
  for (const release of releases) {
    const metrics = await get(release, '/metrics')
    assert.ok(typeof metrics === 'string')
    assert.match(metrics, new RegExp(`^kubernetes_build_info{.*minor="${release}"`, 'm'))
    const shown = [...metrics.matchAll(/^kubernetes_feature_enabled\{name="(\w+)"/gm)]
    assert.deepEqual(
      new Set(shown.map(([, name]) => name)),
      new Set(gatesOf(release).states.keys()),
    )
  }
})

test('an object that is stored in a cluster of one release does not appear in a cluster of another release', async () => {
  const [one, other] = [clusters.get(33), clusters.get(34)]
  assert.ok(one !== undefined && other !== undefined)
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  const created = await one.request({ method: 'POST', path: '/api/v1/namespaces', body })
  assert.equal(created.status, 201)
  assert.equal((await other.request({ path: '/api/v1/namespaces/shop' })).status, 404)
})

const definitionWith = (rule: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'shops.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Shop', plural: 'shops' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { version: { type: 'string', maxLength: 20 } },
                'x-kubernetes-validations': [{ rule }],
              },
            },
          },
        },
      },
    ],
  },
})

test('a new validation rule can use only the CEL libraries that the previous release already had', async () => {
  const body = definitionWith('isSemver(self.version)')
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const [release, wanted] of [
    [33, 422],
    [34, 201],
  ] as const) {
    const cluster = clusters.get(release) ?? assert.fail()
    const { status } = await cluster.request({ method: 'POST', path: `${path}?dryRun=All`, body })
    assert.equal(status, wanted, `1.${release}`)
  }
})

test('since 1.35, the error of a violated validation rule contains the value', async () => {
  const rule = 'self.size() > 3'
  const definition = definitionWith('true')
  const [version] = definition.spec.versions
  assert.ok(version !== undefined)
  const { properties } = version.schema.openAPIV3Schema
  Object.assign(properties.spec.properties.version, { 'x-kubernetes-validations': [{ rule }] })
  for (const [release, shown] of [
    [34, 'string'],
    [35, 'v1'],
  ] as const) {
    const cluster = clusters.get(release) ?? assert.fail()
    await cluster.apply([definition])
    const { body, status } = await cluster.request<Json>({
      method: 'POST',
      path: '/apis/example.com/v1/namespaces/default/shops',
      body: {
        apiVersion: 'example.com/v1',
        kind: 'Shop',
        metadata: { name: 'a' },
        spec: { version: 'v1' },
      },
    })
    assert.equal(status, 422)
    const wanted = `spec.version: Invalid value: "${shown}": failed rule: ${rule}`
    assert.ok(textOf(fieldsOf(body)['message']).includes(wanted), JSON.stringify(body))
  }
})

test('each server creates the roles and flow schemas of its release', async () => {
  const schemas = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/endpoint-controller'
  const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:monitoring'
  const seen = new Map<number, readonly [number, boolean]>()
  for (const release of [33, 34]) {
    const cluster = clusters.get(release) ?? assert.fail()
    const { status } = await cluster.request({ path: schemas })
    const rules = JSON.stringify(fieldsOf(await get(release, role))['rules'])
    seen.set(release, [status, rules.includes('nodes/metrics')])
  }
  assert.deepEqual(
    seen,
    new Map([
      [33, [200, false]],
      [34, [404, true]],
    ]),
  )
})

test('an unfinished release is refused unless an environment variable is set', async () => {
  delete process.env[UNFINISHED]
  await assert.rejects(
    startCluster({ kubernetes: '1.36' }),
    /^Error: --kubernetes: Kubernetes version "1\.36" is not known\. Known versions: 1\.33, 1\.34, 1\.35, latest$/,
  )
})
