import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from '../registry/registry.ts'
import { builtInResources } from '../registry/built-in.ts'
import { collectionPath, objectPath, servedResources } from './served-resources.ts'
import { checkArgs } from '../config/config.ts'

test('servedResources returns each resource that supports the verbs once, in its preferred version', () => {
  const checked = checkArgs(['--etcd-servers=http://127.0.0.1:1'])
  assert.ok(checked.kind === 'config')
  const { featureGates: gates, runtime } = checked.config
  const registry = new Registry(
    builtInResources({
      allowsPrivileged: true,
      storedAs: 'protobuf',
      ipFamily: 'IPv4',
      gates,
      isServed: runtime.isServed,
      now: () => '',
    }),
  )
  const found = servedResources(registry, ['delete', 'list', 'watch'])
  const ids = found.map(({ group, version, plural }) => `${group}/${version}/${plural}`)
  assert.equal(new Set(found.map(({ group, plural }) => `${group}/${plural}`)).size, found.length)
  assert.ok(
    ids.includes('autoscaling/v2/horizontalpodautoscalers') &&
      !ids.includes('autoscaling/v1/horizontalpodautoscalers'),
  )
  assert.ok(
    ids.includes('/v1/pods') &&
      ids.includes('/v1/events') &&
      ids.includes('events.k8s.io/v1/events'),
  )
  assert.ok(!ids.some((id) => /reviews|componentstatuses|v1\/bindings/.test(id)))
  const deployments = found.find(({ plural }) => plural === 'deployments') ?? assert.fail()
  assert.equal(objectPath(deployments, 'n', 'd'), '/apis/apps/v1/namespaces/n/deployments/d')
  const nodes = found.find(({ plural }) => plural === 'nodes') ?? assert.fail()
  assert.equal(collectionPath(nodes, undefined), '/api/v1/nodes')
})
