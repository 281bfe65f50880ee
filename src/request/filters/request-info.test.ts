import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestInfo } from './request-info.ts'

const about = (method: string, target: string): string => {
  const [path = '', query = ''] = target.split('?')
  const info = requestInfo({ method, path, query: new URLSearchParams(query) })
  if (info.kind === 'path') return `${info.verb} ${info.path}`
  const { verb, group, version, plural, subresource, namespace, name } = info
  return [verb, `${group}/${version}`, plural, subresource, namespace, name]
    .map((part) => part || '-')
    .join(' ')
}

const cases: readonly [string, string, string][] = [
  ['GET', '/', 'get /'],
  ['OPTIONS', '/version', 'options /version'],
  ['OPTIONS', '/api/v1/nodes/n/proxy', '- /v1 nodes proxy - n'],
  ['constructor', '/api/v1/nodes/n', '- /v1 nodes - - n'],
  ['GET', '/api', 'get /api'],
  ['GET', '/api/v1', 'get /api/v1'],
  ['GET', '/apis/apps', 'get /apis/apps'],
  ['GET', '/apis/apps/v1', 'get /apis/apps/v1'],
  ['GET', '/api/v1/pods', 'list /v1 pods - - -'],
  ['GET', '/api/v1/pods/', 'list /v1 pods - - -'],
  ['GET', '/api/v1/pods?watch', 'watch /v1 pods - - -'],
  ['GET', '/api/v1/pods?watch=FALSE', 'list /v1 pods - - -'],
  ['GET', '/api/v1/pods?watch=0', 'list /v1 pods - - -'],
  ['GET', '/api/v1/watch/pods', 'watch /v1 pods - - -'],
  ['GET', '/api/v1/namespaces', 'list /v1 namespaces - - -'],
  ['GET', '/api/v1/namespaces/a', 'get /v1 namespaces - a a'],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update /v1 namespaces finalize a a'],
  ['GET', '/api/v1/namespaces/a/pods', 'list /v1 pods - a -'],
  ['POST', '/api/v1/namespaces/a/pods', 'create /v1 pods - a -'],
  ['GET', '/api/v1/namespaces//pods', 'list /v1 pods - - -'],
  ['GET', '/api/v1/namespaces/a/pods/p?watch=1', 'get /v1 pods - a p'],
  ['GET', '/api/v1/namespaces/a/pods/p/log', 'get /v1 pods log a p'],
  ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection /v1 pods - a -'],
  ['DELETE', '/api/v1/namespaces/a/pods/p', 'delete /v1 pods - a p'],
  [
    'PATCH',
    '/apis/apps/v1/namespaces/a/deployments/d/scale',
    'patch apps/v1 deployments scale a d',
  ],
  ['FOO', '/api/v1/pods', '- /v1 pods - - -'],
  ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Dx', 'list /v1 pods - - x'],
  ['GET', '/api/v1/pods?watch=1&fieldSelector=a%21%3Db,metadata.name%3Dx', 'watch /v1 pods - - x'],
  ['GET', '/api/v1/pods?fieldSelector=metadata.name%21%3Dx', 'list /v1 pods - - -'],
  ['GET', '/api/v1/pods?fieldSelector=broken', 'list /v1 pods - - -'],
  ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Dx&limit=many', 'list /v1 pods - - -'],
  [
    'GET',
    '/api/v1/pods?fieldSelector=metadata.name%3Dx&labelSelector=%3D%3D',
    'list /v1 pods - - -',
  ],
  ['GET', '/api/v1/watch/pods?fieldSelector=metadata.name%3Dx', 'watch /v1 pods - - -'],
  ['GET', '/api/v1/proxy/namespaces/a/services/s/more', 'proxy /v1 services - a s'],
  ['GET', '//api/v1/pods', 'list /v1 pods - - -'],
  ['GET', '/api//v1/namespaces/a/pods', 'get / v1 a - namespaces'],
  ['GET', '/api/v1/namespaces/a//pods', 'get /v1 - - a pods'],
  ['GET', '/api/v1/namespaces/a/pods/../secrets', 'get /v1 pods secrets a ..'],
  ['DELETE', '/api/v1/pods?fieldSelector=metadata.name%3Dx', 'deletecollection /v1 pods - - -'],
]
for (const [method, target, wanted] of cases) {
  test(`the request ${method} ${target} is parsed as "${wanted}"`, () =>
    assert.equal(about(method, target), wanted))
}

for (const option of [
  'fieldSelector=metadata.name%3Dx,a%3D',
  'fieldSelector=metadata.name%3Dx&labelSelector=a%3D',
]) {
  test(`the query ${option} selects one name, unless the selector is too long`, () => {
    assert.equal(about('GET', `/api/v1/pods?${option}b`), 'list /v1 pods - - x')
    assert.equal(about('GET', `/api/v1/pods?${option}${' '.repeat(5_000)}b`), 'list /v1 pods - - -')
  })
}

test('a path that ends with the segment `watch` is rejected', () => {
  assert.throws(() => about('GET', '/api/v1/watch'), {
    code: 500,
    message: /unable to determine kind and namespace/,
  })
})

const selectorsOf = (method: string, target: string) => {
  const [path = '', query = ''] = target.split('?')
  const info = requestInfo({ method, path, query: new URLSearchParams(query) })
  return info.kind === 'resource' ? info.selectors?.() : undefined
}

test('the selectors of lists, watches and deletions of collections are read from the query', () => {
  const query = 'fieldSelector=spec.nodeName%3Dn,a%21%3Db&labelSelector=c'
  const selectors = {
    fields: [
      { field: 'spec.nodeName', isEqual: true, value: 'n' },
      { field: 'a', isEqual: false, value: 'b' },
    ],
    labels: [{ key: 'c', operator: 'exists' }],
  }
  assert.deepEqual(selectorsOf('GET', `/api/v1/pods?${query}`), selectors)
  assert.deepEqual(selectorsOf('GET', `/api/v1/pods?${query}&watch=1`), selectors)
  assert.deepEqual(selectorsOf('DELETE', `/api/v1/pods?${query}`), selectors)
  for (const [method, path] of [
    ['GET', '/api/v1/watch/pods'],
    ['GET', '/api/v1/namespaces/a/pods/p'],
    ['DELETE', '/api/v1/namespaces/a/pods/p'],
    ['POST', '/api/v1/namespaces/a/pods'],
  ] as const) {
    assert.equal(selectorsOf(method, `${path}?${query}`), undefined, path)
  }
})

test('a selector in the query that is invalid or too long is left out of the request attributes', () => {
  const labels = [{ key: 'c', operator: 'exists' }]
  assert.deepEqual(selectorsOf('GET', '/api/v1/pods?fieldSelector=broken&labelSelector=c'), {
    fields: [],
    labels,
  })
  const long = `fieldSelector=a%3Db,${'c%3Dd,'.repeat(2_000)}`
  assert.deepEqual(selectorsOf('GET', `/api/v1/pods?${long}&labelSelector=c`), {
    fields: [],
    labels,
  })
})
