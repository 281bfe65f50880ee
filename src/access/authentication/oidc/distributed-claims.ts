/**
 * Distributed claims (OpenID Connect Core 1.0, section 5.6.2), of the groups claim only, as
 * upstream: the token names an endpoint, which answers with another token that has the claim. Its
 * issuer need not be configured; the token that names the endpoint is trusted.
 */
import { type Fields, fieldsOf, isFields, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { cannotRead, claimOf, TokenFault } from './claim-values.ts'
import { type Get, withoutPassword } from './issuer-client.ts'

/** The verified claims of a token of any issuer. Fails with a TokenFault. */
export type VerifyAny = (token: string) => Promise<Fields>

export type DistributedClaimsOptions = { readonly get: Get; readonly verify: VerifyAny }

/** The claims with the one of this name, if an endpoint has it. */
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

/** The last status of a success: 226 IM Used. */
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
  // Without an endpoint it is an aggregated claim, which is not supported.
  return textOf(endpoint) === '' ? undefined : { url: textOf(endpoint), bearer: textOf(bearer) }
}
