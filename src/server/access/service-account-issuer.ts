/**
 * The issuer of service account tokens: configured keys or an external signer, and the OIDC
 * discovery documents of the issuer.
 */
import {
  ExternalSigner,
  type ExternalSignerOptions,
} from '../../access/authentication/signer/external-signer.ts'
import type { Config } from '../../config/config.ts'
import { type Issuer, issuerDocuments } from '../../request/discovery/issuer.ts'
import { formatDuration } from '../../lib/time/duration.ts'
import { readVerifyingKeys } from '../../lib/jwt.ts'

/** How long clients may cache keys that come from files, as in kube-apiserver. */
const KEYS_CACHE_SECONDS = 3600

export function issuerOf(
  { authentication: { serviceAccounts } }: Config,
  serverAddress: string,
  signer: ExternalSigner | undefined,
): Issuer | null {
  if (serviceAccounts === null) return null
  const { issuers, jwksUri, signing } = serviceAccounts
  const fixed = signing.kind === 'key' ? signing.verifyingPems.flatMap(readVerifyingKeys) : []
  return issuerDocuments({
    issuer: issuers[0],
    jwksUri: jwksUri ?? `https://${serverAddress}/openid/v1/jwks`,
    keys: () => signer?.keys.published ?? fixed,
    cacheSeconds: () => signer?.keys.cacheSeconds ?? KEYS_CACHE_SECONDS,
  })
}

/**
 * Starts the external signer. Returns undefined if no external signer is configured. Fails if the
 * signer cannot be used.
 */
export async function startSigner(
  { authentication: { serviceAccounts } }: Config,
  options: ExternalSignerOptions,
): Promise<ExternalSigner | undefined> {
  if (serviceAccounts?.signing.kind !== 'endpoint') return undefined
  using owned = new DisposableStack()
  const signer = owned.use(new ExternalSigner(serviceAccounts.signing.path, options))
  await signer.start()
  const { secondsMax } = serviceAccounts
  if (secondsMax !== null && secondsMax > signer.secondsMax) {
    const [own, others] = [secondsMax, signer.secondsMax].map((seconds) =>
      formatDuration(seconds * 1000),
    )
    const what =
      'service-account-max-token-expiration cannot be set longer than the token expiration supported by'
    throw new Error(`${what} service-account-signing-endpoint: ${own} > ${others}`)
  }
  owned.move()
  return signer
}
