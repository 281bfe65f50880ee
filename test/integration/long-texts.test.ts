/** Tests that the responses to requests with very long strings do not repeat these strings. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Call, type Client, clients, startTestServer } from './support.ts'

const CHARACTERS = 900_000
/**
 * Maximum length of a response. An error message may quote 32 KB of an invalid field. It can
 * contain this quote several times, with two levels of escaping.
 */
const RESPONSE_CHARACTERS_MAX = 768 << 10

const parts = new AsyncDisposableStack()
let client: Client

before(async () => {
  const server = parts.use(await startTestServer())
  // Use HTTP/1.1, because Node's HTTP/2 client does not send headers of this size.
  const made = clients['HTTP/1.1']?.(server.url)
  assert.ok(made)
  client = parts.use(made)
})

after(() => parts.disposeAsync())

const plain = 'a'.repeat(CHARACTERS)
/**
 * A string whose characters are all escaped twice: in the error message, and again in the JSON of
 * the response.
 */
const quotes = '"'.repeat(CHARACTERS)
const encoded = '%22'.repeat(CHARACTERS / 3)
const maps = '/api/v1/namespaces/default/configmaps'

const bodies = (text: string): { readonly [about: string]: Call } => ({
  'a name': { method: 'POST', path: maps, body: { metadata: { name: text } } },
  'a kind': { method: 'POST', path: maps, body: { apiVersion: 'v1', kind: text } },
  'an apiVersion': { method: 'POST', path: maps, body: { apiVersion: text, kind: 'ConfigMap' } },
  'an apiVersion with slashes': {
    method: 'POST',
    path: maps,
    body: { apiVersion: `a/b/${text}`, kind: 'ConfigMap' },
  },
  'a body without apiVersion': { method: 'POST', path: maps, body: { kind: 'C', [text]: 1 } },
  'a key of data': {
    method: 'POST',
    path: maps,
    body: { metadata: { name: 'c' }, data: { [text]: '' } },
  },
  'another name in the body': {
    method: 'PUT',
    path: `${maps}/c`,
    body: { metadata: { name: text } },
  },
  'an unknown field': {
    method: 'POST',
    path: `${maps}?fieldValidation=Strict`,
    body: { metadata: { name: 'c' }, [text]: 1 },
  },
  'a precondition': {
    method: 'DELETE',
    path: `${maps}/kept`,
    body: { preconditions: { uid: text } },
  },
  'a field of an apply': {
    method: 'PATCH',
    path: `${maps}/c?fieldManager=m`,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: { apiVersion: 'v1', kind: 'ConfigMap', data: { [text]: 1 } },
  },
  'a directive of a patch': {
    method: 'PATCH',
    path: `${maps}/kept`,
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: { metadata: { $patch: text } },
  },
})

const impersonation = (headers: { readonly [name: string]: string }): Call => ({
  path: `${maps}/kept`,
  headers,
})

const calls: { readonly [about: string]: Call } = {
  ...bodies(quotes),
  'an impersonated user': impersonation({ 'impersonate-user': plain }),
  'an impersonated group': impersonation({ 'impersonate-user': 'u', 'impersonate-group': quotes }),
  'an extra value of a user': impersonation({
    'impersonate-user': 'u',
    'impersonate-extra-a': quotes,
  }),
  'a uid without a user': impersonation({ 'impersonate-uid': quotes }),
  'a name in the path': { path: `${maps}/${encoded}` },
  'a namespace in the path': { path: `/api/v1/namespaces/${encoded}/configmaps/c` },
  'a resource in the path': { path: `/api/v1/${encoded}`, token: 'bob-token' },
  'a group in the path': { path: `/apis/${encoded}/v1/c`, token: 'bob-token' },
  'a path of no resource': { path: `/${encoded}`, token: 'bob-token' },
  'a path with many segments': { path: '/a'.repeat(CHARACTERS / 2), token: 'bob-token' },
  'a path that ends after a verb': { path: `/api/${encoded}/watch` },
  'a label selector': { path: `${maps}?labelSelector=${encoded}` },
  'a value of a label selector': { path: `${maps}?labelSelector=a%20in%20(${plain})` },
  'a key of a label selector': { path: `${maps}?labelSelector=a%20in%20(${plain}` },
  'a field selector': { path: `${maps}?fieldSelector=${encoded}` },
  'a field of a field selector': { path: `${maps}?fieldSelector=${encoded}=a` },
  'a health check to exclude': { path: `/healthz?verbose&exclude=${encoded}` },
  ...Object.fromEntries(
    [
      'continue',
      'limit',
      'resourceVersion',
      'resourceVersionMatch',
      'timeout',
      'timeoutSeconds',
    ].map((option) => [`the option ${option}`, { path: `${maps}?${option}=${encoded}` }]),
  ),
  ...Object.fromEntries(
    ['dryRun', 'fieldManager', 'fieldValidation'].map((option) => [
      `the option ${option}`,
      { method: 'POST', path: `${maps}?${option}=${encoded}`, body: {} },
    ]),
  ),
}

for (const [about, request] of Object.entries(calls)) {
  test(`a response does not repeat almost a megabyte of text: ${about}`, async () => {
    const { status, text } = await client.call(request)
    assert.ok(status >= 400 || request.path.startsWith('/healthz'), `${status}`)
    assert.ok(text.length < RESPONSE_CHARACTERS_MAX, `${status}, ${text.length} characters`)
  })
}

test('long selectors and unknown options are accepted', async () => {
  const values = Array.from({ length: 2000 }, (_, at) => `value-${at}`).join()
  for (const query of [`labelSelector=a%20in%20(${values})`, `unknown=${values}`]) {
    const { status, text } = await client.call({ path: `${maps}?${query}` })
    assert.equal(status, 200, text)
  }
})
