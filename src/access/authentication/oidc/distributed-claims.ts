/**
 * Distributed claims (OpenID Connect Core 1.0, section 5.6.2). As in kube-apiserver, only the
 * groups claim can be distributed. The token names an endpoint, which returns another token that
 * contains the claim. The issuer of that token need not be configured, because the token that names
 * the endpoint is trusted.
 */
import { type Fields, fieldsOf, isFields, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { cannotRead, claimOf, TokenFault } from './claim-values.ts'
import { type Get, withoutPassword } from './issuer-client.ts'

/**
 * Verifies a token from any issuer and returns its claims. Rejects with a TokenFault if the token
 * is invalid.
 */
export type VerifyAny = (token: string) => Promise<Fields>

export type DistributedClaimsOptions = { readonly get: Get; readonly verify: VerifyAny }

/**
 * Returns the claims of a token. If the claim named `claim` is distributed, fetches this claim from
 * its endpoint and adds it to the result.
 */
export async function expandClaim(
  claims: Fields,
  claim: string,
  options: DistributedClaimsOptions,
): Promise<Fields> {
  const endpoint = endpointOf(claims, claim)
  if (endpoint === undefined) return claims
  const { url, bearer } = endpoint
  const answer = await options
    .get(url, bearer === '' ? undefined : bearer)
    .catch((error: Error) => {
      throw new TokenFault(`while getting distributed claim ${quote(claim)}: ${error.message}`)
    })
  if (answer.status < 200 || answer.status > IM_USED) {
    const what = `while getting distributed claim ${quote(claim)}: error while getting distributed claim JWT`
    throw new TokenFault(`${what}: ${answer.statusText}`)
  }
  const distributed = await options.verify(answer.body.toString('utf8'))
  if (!Object.hasOwn(distributed, claim)) {
    const what = `jwt returned by distributed claim endpoint ${quote(withoutPassword(url))}`
    throw new TokenFault(`${what} did not contain claim: ${claim}`)
  }
  return { ...claims, [claim]: claimOf(distributed, claim) }
}

/** The highest status that means success, 226 IM Used. */
const IM_USED = 226

type Endpoint = { readonly url: string; readonly bearer: string }

function endpointOf(claims: Fields, claim: string): Endpoint | undefined {
  const { _claim_names: names, _claim_sources: sources } = claims
  if (Object.hasOwn(claims, claim) || names === undefined) return undefined
  if (names !== null && !isFields(names)) {
    const { message } = cannotRead(names, 'value of type map[string]string')
    throw new TokenFault(`oidc: error parsing distributed claim names: ${message}`)
  }
  if (sources === undefined) throw new TokenFault('oidc: no claim sources')
  const source = textOf(fieldsOf(names)[claim])
  if (source === '') return undefined
  const { endpoint, access_token: bearer } = fieldsOf(fieldsOf(sources)[source])
  // A source without an endpoint is an aggregated claim, which is not supported.
  return textOf(endpoint) === '' ? undefined : { url: textOf(endpoint), bearer: textOf(bearer) }
}
