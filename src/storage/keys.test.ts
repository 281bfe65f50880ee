import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readKeys } from '../../test/recorded/golden/read.ts'
import {
  customResourceOf,
  ResourceKeys,
  rangeOf,
  resourcePrefix,
  rootOf,
  segmentFault,
  serverRecords,
  toKey,
  toText,
} from './keys.ts'

const root = rootOf('/registry')

test('the key prefix of each resource is the same as in kube-apiserver', () => {
  const cases: [group: string, plural: string, isCustom: boolean, prefix: string][] = [
    ['', 'pods', false, 'pods'],
    ['', 'nodes', false, 'minions'],
    ['', 'replicationcontrollers', false, 'controllers'],
    ['', 'services', false, 'services/specs'],
    ['', 'endpoints', false, 'services/endpoints'],
    ['', 'events', false, 'events'],
    ['events.k8s.io', 'events', false, 'events'],
    ['networking.k8s.io', 'ingresses', false, 'ingress'],
    ['apps', 'deployments', false, 'deployments'],
    ['apiregistration.k8s.io', 'apiservices', false, 'apiregistration.k8s.io/apiservices'],
    [
      'apiextensions.k8s.io',
      'customresourcedefinitions',
      false,
      'apiextensions.k8s.io/customresourcedefinitions',
    ],
    ['example.com', 'ingresses', true, 'example.com/ingresses'],
  ]
  for (const [group, plural, isCustom, prefix] of cases) {
    assert.equal(resourcePrefix({ group, plural, isCustom }), prefix)
  }
})

test('--etcd-prefix becomes a clean path with a slash at both ends', () => {
  for (const [flag, expected] of [
    ['/registry', '/registry/'],
    ['registry', '/registry/'],
    ['/registry/', '/registry/'],
    ['/a//b/../c', '/a/c/'],
    ['', '/'],
    ['/', '/'],
  ] as const) {
    assert.equal(rootOf(flag), expected)
  }
})

test('every key recorded from kube-apiserver can be parsed and built byte for byte', () => {
  let seen = 0
  for (const [stored, own] of Object.entries(readKeys())) {
    for (const key of own) {
      const keys = keysFor(key, stored)
      const place = keys.parse(key)
      assert.ok(place, key)
      assert.equal(keys.key(place.namespace, place.name), key)
      const { from, to } = keys.range(place.namespace)
      assert.ok(from <= key && key < to, key)
      seen++
    }
  }
  assert.ok(seen > 250, `only ${seen} keys`)
})

/**
 * Derives the keys only from the stored kind, so that the test also covers the folder of the key.
 */
function keysFor(key: string, stored: string): ResourceKeys {
  for (const record of Object.values(serverRecords)) {
    if (key.startsWith(`${root}${record}`))
      return new ResourceKeys(root, record.split('/')[0] ?? '', false)
  }
  const [apiVersion = '', kind = ''] = stored.split(' ')
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
  const isCustom = group.endsWith('example.com')
  const folder = resourcePrefix({ group, plural: pluralOf(kind), isCustom })
  return new ResourceKeys(root, folder, namespacedKinds.has(kind))
}

function pluralOf(kind: string): string {
  const singular = kind.toLowerCase()
  if (singular === 'endpoints') return singular
  if (/(s|ss|class)$/.test(singular)) return `${singular}es`
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`
  return `${singular}s`
}

const namespacedKinds = new Set(
  `ConfigMap ControllerRevision ReplicationController CronJob CSIStorageCapacity DaemonSet Deployment EndpointSlice Event
  HorizontalPodAutoscaler Ingress Job Lease LimitRange NetworkPolicy PersistentVolumeClaim PodDisruptionBudget Pod PodTemplate
  ReplicaSet ResourceQuota RoleBinding Role Secret ServiceAccount Endpoints Service StatefulSet Till LeaseCandidate
  ResourceClaim ResourceClaimTemplate`.split(/\s+/),
)

test('a name or namespace that would lead to a key outside of the key prefix of its resource is rejected', () => {
  const keys = new ResourceKeys(root, 'pods', true)
  for (const bad of ['', '.', '..', 'a/b', '/']) {
    assert.ok(segmentFault(bad))
    assert.throws(() => keys.key('ns', bad), /broken invariant/)
    assert.throws(() => keys.key(bad, 'name'), /broken invariant/)
    assert.throws(() => keys.range(bad), /broken invariant/)
  }
  assert.equal(segmentFault('a%b'), "may not contain '%'")
  assert.equal(segmentFault('...'), undefined)
  assert.equal(segmentFault('system::x'), undefined)
})

test('parsing a key returns undefined if the key does not belong to the resource', () => {
  const pods = new ResourceKeys(root, 'pods', true)
  const nodes = new ResourceKeys(root, 'minions', false)
  for (const key of [
    '/registry/pods/',
    '/registry/pods/a',
    '/registry/pods/a/',
    '/registry/pods//a',
    '/registry/pods/a/b/c',
    '/registry/podsx/a/b',
  ]) {
    assert.equal(pods.parse(key), undefined, key)
  }
  assert.equal(nodes.parse('/registry/minions/a/b'), undefined)
  assert.equal(nodes.parse('/registry/minions/'), undefined)
})

const segments = fc.string({ unit: 'binary' }).filter((text) => segmentFault(text) === undefined)

test('property: names can be converted to keys and back, and keys sort like their bytes', () => {
  const keys = new ResourceKeys(root, 'pods', true)
  fc.assert(
    fc.property(segments, segments, segments, (namespace, name, other) => {
      const key = keys.key(namespace, name)
      assert.deepEqual(keys.parse(key), { namespace, name })
      const second = keys.key(namespace, other)
      const bytes = Buffer.compare(Buffer.from(name), Buffer.from(other))
      assert.equal(key < second ? -1 : key > second ? 1 : 0, bytes)
    }),
  )
})

test('property: a range contains exactly the keys with its prefix', () => {
  const byteString = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
  })
  const prefixes = byteString.filter((text) => /[^\xff]/.test(text))
  fc.assert(
    fc.property(prefixes, byteString, (prefix, key) => {
      const { from, to } = rangeOf(prefix)
      const within = (candidate: string) => from <= candidate && candidate < to
      assert.ok(within(prefix + key))
      assert.equal(within(key), key.startsWith(prefix))
    }),
  )
})

test('toKey converts each UTF-8 byte of a text into one character, and toText reverses this', () => {
  assert.equal(toKey('ä'), '\xc3\xa4')
  assert.equal(toText('\xc3\xa4'), 'ä')
  assert.equal(toKey('plain'), 'plain')
})

test('only keys whose first segment has a dot can belong to a custom resource', () => {
  assert.deepEqual(customResourceOf('example.com/widgets/default/a'), {
    group: 'example.com',
    plural: 'widgets',
  })
  for (const path of ['pods/default/a', 'services/specs/default/a', serverRecords.serviceIps, ''])
    assert.equal(customResourceOf(path), undefined)
})
