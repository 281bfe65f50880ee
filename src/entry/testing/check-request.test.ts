import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRequest, checkUser, sourceOf } from './check-request.ts'

test('a request with the fields of TestRequest is valid', () => {
  checkRequest({ path: '/version' })
  const user = { name: 'alice', groups: ['dev'] }
  checkRequest({ method: 'PATCH', path: '/api', body: {}, contentType: 'text/plain', user })
})

test('an error names the invalid field of a request', () => {
  for (const [given, message] of [
    [[], /^the body is not an object$/],
    [{}, /^path must be a string that starts with \/$/],
    [{ path: 'api' }, /^path must be/],
    [{ path: '/', method: 'get' }, /^method must be one of: GET, POST, PUT, PATCH, DELETE$/],
    [{ path: '/', contentType: 1 }, /^contentType is not a string$/],
    [{ path: '/', colour: 'red' }, /^the body: unknown field "colour"$/],
    [{ path: '/', user: 'alice' }, /^user is not an object$/],
    [{ path: '/', user: { name: '' } }, /^user: name must be the name of the user$/],
  ] as const)
    assert.throws(() => checkRequest(given), { name: 'TypeError', message })
})

test('an error names the invalid field of a user', () => {
  checkUser({ name: 'alice' }, 'user')
  for (const [given, message] of [
    [{ groups: [] }, /^user: name must be/],
    [{ name: 'alice', groups: 'dev' }, /^user: groups is not a list of strings$/],
    [{ name: 'alice', groups: [1] }, /^user: groups is not a list/],
    [{ name: 'alice', uid: '1' }, /^user: unknown field "uid"$/],
  ] as const)
    assert.throws(() => checkUser(given, 'user'), { name: 'TypeError', message })
})

test('manifests can be given as a path, a text or objects', () => {
  assert.equal(sourceOf({ path: '/config' }), '/config')
  assert.equal(sourceOf({ text: 'kind: A' }), 'kind: A\n')
  assert.deepEqual(sourceOf({ objects: [{ kind: 'A' }] }), [{ kind: 'A' }])
  const oneOf = /^the body must have exactly one of: path, text, objects$/
  for (const [given, message] of [
    [{}, oneOf],
    [{ path: '/a', text: 'a' }, oneOf],
    [{ path: 'config' }, /^path must be an absolute path$/],
    [{ path: '/a\n' }, /^path must be/],
    [{ path: 1 }, /^path must be/],
    [{ text: 1 }, /^text is not a string$/],
    [{ objects: {} }, /^objects is not a list$/],
    [{ objects: ['a'] }, /^objects\[0\] is not an object$/],
    [{ text: '', force: true }, /^the body: unknown field "force"$/],
  ] as const)
    assert.throws(() => sourceOf(given), { name: 'TypeError', message })
})
