/** ServiceAccount tokens, set up from the configuration: issued by TokenRequests, verified by the gate. */
import type { Objects } from './admission/objects.ts'
import type { Config } from './config/config.ts'
import { createAuthenticateAccount } from './authentication/account-token.ts'
import type { AuthenticateToken } from './authentication/token-authenticator.ts'
import { assert } from './lib/assert.ts'
import type { Clock } from './lib/clock.ts'
import { readSigningKey, readVerifyingKeys, signJwt } from './lib/jwt.ts'
import type { Review } from './verbs/reviews/question.ts'
import { createTokenRequest } from './verbs/token-request.ts'

export type Accounts = { readonly authenticateAccount: AuthenticateToken; readonly requestToken: Review }

/** Undefined if no issuer is configured. */
export function createAccounts(
  { serviceAccounts }: Config,
  objects: Pick<Objects, 'get'>,
  { wallMs }: Clock,
): Accounts | undefined {
  if (serviceAccounts === null) return undefined
  const { audiences, extendsExpiration, issuers, keyPems, secondsMax, signingKeyPem } = serviceAccounts
  const key = readSigningKey(signingKeyPem)
  assert(key !== undefined, 'the configuration was checked with its keys')
  const [issuer] = issuers
  const core = { group: '', version: 'v1' } as const
  return {
    authenticateAccount: createAuthenticateAccount({
      issuers,
      keys: keyPems.flatMap(readVerifyingKeys),
      read: async ({ plural, ...place }, at) => objects.get({ ...core, plural }, place, at),
      wallMs,
    }),
    requestToken: createTokenRequest({
      issuer,
      audiences,
      secondsMax,
      extendsExpiration,
      sign: (claims) => signJwt(claims, key),
      read: async (plural, namespace, name) => objects.get({ ...core, plural }, { namespace, name }, 'latest'),
      wallMs,
    }),
  }
}
