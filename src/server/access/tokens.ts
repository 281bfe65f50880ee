/**
 * The token issuers of a server: the external signer of service account tokens, and the JWT
 * issuers.
 */
import { createParseToken } from '../../access/authentication/parse-token.ts'
import type { Issuer } from '../../request/discovery/issuer.ts'
import type { ServerCore } from '../server-core.ts'
import { issuerOf, startSigner } from './service-account-issuer.ts'
import type { TokenOptions } from './build-access.ts'
import { createJwtIssuers, type JwtIssuers } from './jwt-issuers.ts'

export type Tokens = TokenOptions & {
  /**
   * The OIDC discovery documents of the service account issuer. Null if the server issues no
   * tokens.
   */
  readonly issuer: Issuer | null
  /**
   * Checks whether the file with the JWT issuers has changed. Undefined if no file is configured.
   */
  readonly reloader: JwtIssuers['reloader']
}

/** Opens the token issuers. Fails if the external signer cannot be used. */
export async function openTokens(core: ServerCore, owned: AsyncDisposableStack): Promise<Tokens> {
  const { config, environment, time, metrics, serverId, publicAddress } = core
  const { log } = environment
  const signer = await startSigner(config, { time, log, metrics })
  if (signer !== undefined) owned.use(signer)
  const parseToken = createParseToken()
  const issuers = createJwtIssuers(config, { parse: parseToken, time, log, metrics, serverId })
  if (issuers !== undefined) owned.use(issuers)
  const issuer = issuerOf(config, publicAddress, signer)
  return { signer, issuers, parseToken, issuer, reloader: issuers?.reloader }
}
