import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInResources } from '../../registry/built-in.ts'
import { Registry } from '../../registry/registry.ts'
import type { Resource } from '../../registry/resource.ts'
import { customResources } from '../../registry/custom/custom-resource.ts'
import { readCrd } from '../../registry/custom/crd.ts'
import { requestInfo } from './request-info.ts'
import { resolve, type Route } from './resolve.ts'

const registry = new Registry(builtInResources())

function route(method: string, target: string): string {
  const [path = '', query = ''] = target.split('?')
  const info = requestInfo({ method, path, query: new URLSearchParams(query) })
  assert.ok(info.kind === 'resource')
  try {
    const { resource, verb, namespace, name, subresource } = resolve(info, method, registry)
    return [verb, resource.plural, subresource, namespace, name]
      .map((part) => part || '-')
      .join(' ')
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error)
    return `${String(error.code)} ${error.message.trim()}`
  }
}

const absent = '404 the server could not find the requested resource'
const noMethod = '405 the server does not allow this method on the requested resource'
const cases: readonly [string, string, string][] = [
  ['GET', '/api/v1/configmaps', 'list configmaps - - -'],
  ['GET', '/api/v1/configmaps?watch', 'watch configmaps - - -'],
  ['GET', '/api/v1/namespaces/a/configmaps/', 'list configmaps - a -'],
  ['GET', '/api/v1/namespaces//configmaps', 'list configmaps - - -'],
  ['GET', '/api/v1/namespaces//configmaps/c', '400 Namespace parameter required.'],
  ['GET', '/api/v1/namespaces/a/configmaps/c?watch=1', 'get configmaps - a c'],
  ['GET', '/api/v1/watch/namespaces/a/configmaps/c', 'watch configmaps - a c'],
  ['POST', '/api/v1/watch/namespaces/a/configmaps', noMethod],
  ['GET', '/api/v1/watch/nothings', absent],
  ['POST', '/api/v1/namespaces/a/configmaps', 'create configmaps - a -'],
  ['POST', '/api/v1/namespaces/a/configmaps/c', noMethod],
  ['POST', '/api/v1/configmaps', noMethod],
  ['PUT', '/api/v1/namespaces/a/configmaps/c', 'update configmaps - a c'],
  ['PUT', '/api/v1/namespaces/a/configmaps', noMethod],
  ['DELETE', '/api/v1/namespaces/a/configmaps', 'deletecollection configmaps - a -'],
  ['DELETE', '/api/v1/namespaces', noMethod],
  ['HEAD', '/api/v1/namespaces', noMethod],
  ['HEAD', '/api/v1/namespaces/a/pods/p/proxy/x', 'get pods proxy a p'],
  ['OPTIONS', '/api/v1/namespaces/a/services/s/proxy', 'get services proxy a s'],
  ['OPTIONS', '/api/v1/nodes/n/proxy/x/y', 'get nodes proxy - n'],
  ['TRACE', '/api/v1/nodes/n/proxy/x/y', noMethod],
  ['HEAD', '/api/v1/namespaces/a/pods/p/log', noMethod],
  ['OPTIONS', '/api/v1/namespaces/a/pods/p/log', noMethod],
  ['constructor', '/api/v1/namespaces/a/pods/p', noMethod],
  ['GET', '/api/v1/configmaps/c', absent],
  ['GET', '/api/v1/namespaces/a/nodes', absent],
  ['GET', '/api/v1/namespaces/a', 'get namespaces - - a'],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update namespaces finalize - a'],
  ['GET', '/api/v1/namespaces/a/finalize', noMethod],
  ['GET', '/api/v1/namespaces/a/namespaces', absent],
  ['GET', '/api/v1/namespaces/a/pods/p/log', 'get pods log a p'],
  ['GET', '/api/v1/namespaces/a/pods/p/log/more', absent],
  ['POST', '/api/v1/namespaces/a/pods/p/eviction', 'create pods eviction a p'],
  ['GET', '/api/v1/namespaces/a/pods/p/eviction', noMethod],
  ['GET', '/api/v1/namespaces/a/pods/p/nothing', absent],
  ['GET', '/api/v1/namespaces/a/pods//log', absent],
  [
    'GET',
    '/api/v1/namespaces/a/configmaps/..',
    `400 Name parameter invalid: "..": may not be '..'`,
  ],
  [
    'GET',
    '/api/v1/namespaces/../configmaps',
    `400 Namespace parameter invalid: "..": may not be '..'`,
  ],
  ['GET', '/api/v1/proxy/namespaces/a/services/s', absent],
  [
    'GET',
    '/api/v1/componentstatuses?watch=1',
    '405 watch is not supported on resources of kind "componentstatuses"',
  ],
  ['GET', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', noMethod],
  ['GET', '/apis/authorization.k8s.io/v1/subjectaccessreviews/x', absent],
  ['GET', '/apis/apps/v1beta1/deployments', absent],
  ['GET', '/apis/nope.example.com/v1/things', '404 404 page not found'],
]
for (const [method, target, wanted] of cases)
  test(`the request ${method} ${target} is resolved to "${wanted}"`, () =>
    assert.equal(route(method, target), wanted))

const names = { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' }
const statuses = { plural: 'status', singular: 'status', kind: 'Status', listKind: 'StatusList' }
const customs = [names, statuses].flatMap((each) =>
  customResources(
    readCrd({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${each.plural}.ex.com` },
      spec: {
        group: 'ex.com',
        scope: 'Namespaced',
        names: each,
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
      status: { acceptedNames: each },
    }),
  ),
)
const withCustoms = new Registry([...builtInResources(), ...customs])

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get']

/**
 * Returns the operation that a request executes, or undefined if it is rejected. Asserts that
 * authorization checked the same operation.
 */
function doneAsAllowed(method: string, target: string, served: Registry): string | undefined {
  const [path = '', query = ''] = target.split('?')
  const info = requestInfo({ method, path, query: new URLSearchParams(query) })
  assert.ok(info.kind === 'resource')
  let done: Route
  try {
    done = resolve(info, method, served)
  } catch {
    return undefined
  }
  const { resource, verb, subresource } = done
  const place = `${method} ${target}`
  // A request with the method OPTIONS for a proxy subresource has no verb, so only a permission for
  // all verbs allows it.
  const isNameless = method === 'OPTIONS' && subresource === 'proxy' && info.verb === ''
  const allowed = [
    isNameless ? 'get' : info.verb,
    info.group,
    info.version,
    info.plural,
    info.subresource,
  ]
  assert.deepEqual(
    [verb, resource.group, resource.version, resource.plural, subresource],
    allowed,
    place,
  )
  // A request for a Namespace is authorized in the namespace of the same name. A list that is
  // restricted to one name is authorized for that object. Both checks are more specific, but never
  // refer to another object.
  if (resource.isNamespaced) assert.equal(done.namespace, info.namespace, place)
  else if (resource.plural === 'namespaces') assert.equal(info.namespace, done.name, place)
  else assert.equal(info.namespace, '', place)
  if (done.name !== '') assert.equal(done.name, info.name, place)
  return `${verb} ${resource.group} ${resource.version} ${resource.plural} ${subresource}`
}

test('the operation that is executed on a custom resource is the one that was authorized', () => {
  const paths = ['foos', 'foos/a', 'status', 'status/a', 'finalize/a', 'status/a/status'].flatMap(
    (own) => ['', 'watch/'].map((word) => `/apis/ex.com/v1/${word}namespaces/ns/${own}`),
  )
  for (const path of paths) for (const method of methods) doneAsAllowed(method, path, withCustoms)
})

/**
 * Yields paths of a resource, of its subresources and of similar names, with and without a
 * namespace. Some paths contain the verb segments of the first releases of Kubernetes.
 */
function* pathsOf({ group, version, plural, subresources }: Resource): Generator<string> {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const ends = new Set([
    '',
    'proxy/watch/pods',
    'status',
    'nothing',
    ...subresources.map(({ name }) => name),
  ])
  for (const word of ['/', '/watch/', '/proxy/'])
    for (const place of ['', 'namespaces/ns/', 'namespaces/ns/status/'])
      for (const name of ['', '/a', '/status', '/proxy'])
        for (const end of ends)
          yield `${root}${word}${place}${plural}${name}${end === '' ? '' : `/${end}`}`
}

test('the operation that is executed on a built-in resource is the one that was authorized, for every path and method', () => {
  const all = builtInResources({ isServed: () => true, gates: { release: 33, isOn: () => true } })
  const served = new Registry(all)
  const queries = ['?watch', '?watch=false', '?fieldSelector=metadata.name=b']
  for (const resource of all) {
    const { group, version, plural, verbs, subresources } = resource
    const reached = new Set<string | undefined>()
    for (const path of pathsOf(resource)) {
      for (const method of methods) reached.add(doneAsAllowed(method, path, served))
      for (const query of queries) reached.add(doneAsAllowed('GET', `${path}${query}`, served))
    }
    for (const part of [{ name: '', verbs }, ...subresources])
      for (const verb of part.verbs)
        assert.ok(reached.has(`${verb} ${group} ${version} ${plural} ${part.name}`))
  }
})
