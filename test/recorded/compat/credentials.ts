/** Determines the credentials of a step: its token and its client certificate. */
import type { IssuedCertificate } from '../../support/harness/issued-certificate.ts'
import type { Companions } from './companions.ts'
import type { TokenOptions } from './issuers.ts'
import { isRecord } from './json.ts'
import type { AskOptions, CertificateOptions, Variables } from './steps.ts'
import { fill } from './template.ts'

type CredentialContext = { readonly companions: Companions; readonly variables: Variables }

type SentCredentials = {
  /**
   * Value of the Authorization header. Undefined means that the client sends its own token, and
   * null means that no header is sent.
   */
  readonly authorization?: string | null
  readonly certificate?: IssuedCertificate | undefined
}

export function credentialsOf(as: AskOptions['as'], asking: CredentialContext): SentCredentials {
  if (as === undefined) return {}
  if (as === null) return { authorization: null }
  if (typeof as === 'string') return { authorization: `Bearer ${as}-token` }
  const { token, cert } = as
  return {
    authorization: token === undefined ? null : `Bearer ${tokenOf(token, asking)}`,
    certificate: cert && asking.companions.certificate(filled(cert, asking.variables)),
  }
}

/**
 * Returns a token. A string is the token itself, in which references such as `$ns` are replaced.
 */
export function tokenOf(
  token: TokenOptions | string,
  { companions, variables }: CredentialContext,
): string {
  if (typeof token === 'string') return String(fill(token, variables))
  const claims = fill(token.claims ?? {}, variables)
  return companions.token(
    { ...token, claims: isRecord(claims) ? claims : {} },
    `${String(variables['$ns'])}-u`,
  )
}

function filled(
  { cn, o, uid, ...rest }: CertificateOptions,
  variables: Variables,
): CertificateOptions {
  const text = (value: string): string => String(fill(value, variables))
  return {
    ...rest,
    ...(cn === undefined ? {} : { cn: text(cn) }),
    ...(o === undefined ? {} : { o: o.map(text) }),
    ...(uid === undefined ? {} : { uid: text(uid) }),
  }
}
