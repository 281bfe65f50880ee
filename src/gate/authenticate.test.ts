import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthenticate } from './authenticate.ts'

const user = (name: string) => ({ name, uid: '', groups: ['g'] })
const authenticate = createAuthenticate([
  { token: 'a', user: user('first') },
  { token: 'b', user: user('b') },
  { token: 'a', user: user('last') },
])
const nameFor = (authorization: string | undefined, path = '/api'): string =>
  authenticate({ path, headers: authorization === undefined ? {} : { authorization } }).name

test('a token stands for its user, the last entry for one token counts', () => {
  assert.equal(nameFor('Bearer a'), 'last')
  assert.equal(nameFor('bearer b'), 'b')
  assert.equal(nameFor('  BEARER b  more'), 'b')
  assert.deepEqual(authenticate({ path: '/', headers: { authorization: 'Bearer b' } }).groups, [
    'g',
    'system:authenticated',
  ])
})

test('everything else is refused', () => {
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer  a',
    'Bearer\ta',
    'Basic a',
    'a',
    'Bearer c',
    'Bearer ab',
  ]) {
    assert.throws(() => nameFor(header), { code: 401 }, header)
  }
})

test('probes need no token, but not a wrong one either', () => {
  assert.equal(nameFor(undefined, '/readyz'), 'system:anonymous')
  assert.throws(() => nameFor('Bearer c', '/readyz'), { code: 401 })
})
