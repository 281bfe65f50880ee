import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { parseJson } from '../../../api/json-value.ts'
import type { Fields } from '../../../api/object.ts'
import {
  type JwtAuthenticator,
  jwtCompiler,
  readJwtAuthenticator,
} from '../../../config/files/jwt-authenticator.ts'
import { signingAlgorithms } from '../../../config/signing-algorithms.ts'
import { silent } from '../../../lib/telemetry/log.ts'
import { parseJwt } from '../../../lib/jwt.ts'
import { Metrics } from '../../../lib/telemetry/metrics.ts'
import { systemTime } from '../../../lib/time/timers.ts'
import { TokenFault } from './claim-values.ts'
import { expandClaim } from './distributed-claims.ts'
import { createParseToken } from '../parse-token.ts'
import { checkAudiences, checkUnverified } from './id-token.ts'
import { JwtAuthenticators } from './jwt-authenticators.ts'
import { mapClaims } from './map-claims.ts'

function configOf(fields: Fields): JwtAuthenticator {
  const { value, faults } = readJwtAuthenticator(fields, {
    path: 'jwt',
    disallowedIssuers: [],
    compiler: jwtCompiler(),
  })
  assert.deepEqual(faults, [])
  return value
}

const parts = () => ({
  algorithms: signingAlgorithms,
  time: systemTime,
  log: silent,
  answer: async () => false,
  metrics: new Metrics(),
  parse: createParseToken(),
})

test('JWT authenticators that replaced others at runtime are disposed of when the server stops', async () => {
  let connections = 0
  const sockets = new Set<Socket>()
  const hanging = createServer((socket) => {
    connections++
    sockets.add(
      socket
        .resume()
        .on('error', () => undefined)
        .on('close', () => sockets.delete(socket)),
    )
  })
  hanging.listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  const address = hanging.address()
  assert.ok(typeof address === 'object' && address !== null)
  const config = configOf({
    issuer: { url: `https://127.0.0.1:${address.port}`, audiences: ['a'] },
    claimMappings: { username: { claim: 'sub', prefix: '' } },
  })
  const authenticators = new JwtAuthenticators([], parts())
  const replacing = authenticators.replace([config])
  replacing.catch(() => undefined)
  while (connections === 0) await sleep(5)
  authenticators[Symbol.dispose]()
  await assert.rejects(replacing)
  while (sockets.size > 0) await sleep(5)
  hanging.close()
  await once(hanging, 'close')
})

const names = [
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'nbf',
  'jti',
  'nonce',
  'at_hash',
  'email',
  'email_verified',
  'groups',
  'hd',
]
const value = fc.oneof(
  fc.constant('https://i'),
  fc.constant('a'),
  fc.constant(2 ** 40),
  fc.jsonValue({ maxDepth: 3 }),
)
const claimsOf = fc.dictionary(
  fc.constantFrom(...names, '_claim_names', '_claim_sources', '__proto__', 'x'),
  value,
)

const configs = [
  configOf({
    issuer: { url: 'https://i', audiences: ['a'] },
    claimMappings: {
      username: { claim: 'email', prefix: 'p' },
      groups: { claim: 'groups', prefix: 'g' },
      uid: { claim: 'sub' },
    },
    claimValidationRules: [{ claim: 'hd', requiredValue: 'a' }],
  }),
  configOf({
    issuer: { url: 'https://i', audiences: ['a', 'b'], audienceMatchPolicy: 'MatchAny' },
    claimMappings: {
      username: { expression: 'string(claims.sub)' },
      groups: { expression: 'claims.groups' },
      extra: [{ key: 'example.com/x', valueExpression: 'claims.?x' }],
    },
    claimValidationRules: [{ expression: 'claims.exp > claims.iat' }],
    userValidationRules: [{ expression: "user.groups.all(group, group != 'a')" }],
  }),
]

const unreachable = {
  get: () => Promise.reject(new Error('down')),
  verify: () => Promise.reject(new TokenFault('none')),
}

/** Runs all checks and mappings of the claims of a token, as if its signature were valid. */
async function judge(token: string, config: JwtAuthenticator): Promise<void> {
  const jwt = parseJwt(token, parseJson)
  if (jwt === undefined) return
  const rules = {
    issuer: 'https://i',
    audiences: config.issuer.audiences,
    algorithms: signingAlgorithms,
  }
  checkUnverified(jwt, rules, 1)
  checkAudiences(jwt, rules)
  const claims = await expandClaim(jwt.claims, 'groups', unreachable)
  await mapClaims(claims, config, async (question) => question.answer())
}

const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')

test('arbitrary claims in a token result in a user or a TokenFault, never in an internal error', async () => {
  const property = fc.asyncProperty(
    claimsOf,
    fc.constantFrom(...configs),
    async (claims, config) => {
      const good = { iss: 'https://i', aud: 'a', exp: 2 ** 40, ...claims }
      try {
        await judge(`${encode({ alg: 'RS256' })}.${encode(good)}.`, config)
      } catch (error) {
        assert.ok(error instanceof TokenFault, String(error))
      }
    },
  )
  await fc.assert(property, { numRuns: 500 })
})

test('parsing an arbitrary string as a token never throws an error', () => {
  const part = fc.oneof(
    fc.base64String(),
    fc.string(),
    fc.json().map((text) => Buffer.from(text).toString('base64url')),
  )
  const text = fc.oneof(
    fc.string(),
    fc.array(part, { maxLength: 5 }).map((all) => all.join('.')),
  )
  fc.assert(
    fc.property(text, (token) => void parseJwt(token, parseJson)),
    { numRuns: 5000 },
  )
})
