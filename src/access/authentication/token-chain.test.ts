import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStaticTokens } from './static-tokens.ts'
import {
  type AuthenticateToken,
  badToken,
  unknownToken,
  withServerAudiences,
} from './token-authenticator.ts'
import { createTokenChain } from './token-chain.ts'

const user = { name: 'u', uid: '', groups: ['g'] }
const knows: AuthenticateToken = (_token, audiences) => ({ kind: 'known', user, audiences })
const other: AuthenticateToken = () => assert.fail('this authenticator must not be called')
const later =
  (authenticate: AuthenticateToken): AuthenticateToken =>
  async (token, audiences) =>
    authenticate(token, audiences)

test('the first authenticator that knows the token determines the user, even if earlier ones rejected the token', async () => {
  const chain = [() => unknownToken, later(() => badToken('a')), () => badToken('b'), knows, other]
  const result = await createTokenChain(chain)('t', ['x'])
  assert.deepEqual(result, {
    kind: 'known',
    user: { ...user, groups: ['g', 'system:authenticated'] },
    audiences: ['x'],
  })
})

test('the result of a token chain is synchronous if all authenticators are synchronous', () => {
  assert.ok(!(createTokenChain([() => unknownToken, knows])('t', []) instanceof Promise))
})

test('the result of a token chain contains the reasons of all authenticators, without duplicates', async () => {
  const chain = createTokenChain([
    () => badToken('a'),
    later(() => badToken('b')),
    () => badToken('a'),
  ])
  assert.deepEqual(await chain('t', []), badToken('a, b'))
  assert.deepEqual(createTokenChain([() => unknownToken])('t', []), unknownToken)
  assert.deepEqual(createTokenChain([])('t', []), unknownToken)
})

const served = ['api', 'more']
const agnostic: readonly [string, AuthenticateToken][] = [
  ['static tokens', createStaticTokens([{ token: 't', user }], served)],
  [
    'tokens of an authenticator that ignores audiences',
    withServerAudiences(served, () => ({ kind: 'known', user, audiences: [] })),
  ],
]
async function audiencesOf(
  by: AuthenticateToken,
  audiences: readonly string[],
): Promise<readonly string[] | undefined> {
  const result = await by('t', audiences)
  return result.kind === 'known' ? result.audiences : undefined
}
for (const [what, authenticate] of agnostic) {
  test(`${what} are valid for the audiences of the server`, async () => {
    assert.deepEqual(await audiencesOf(authenticate, served), served)
    assert.deepEqual(await audiencesOf(authenticate, ['x', 'more', 'api']), ['more', 'api'])
    assert.equal(await audiencesOf(authenticate, ['x']), undefined)
  })
}
