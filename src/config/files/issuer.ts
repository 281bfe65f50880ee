/** Reads and validates the issuer of a JWT authenticator. */
import { duplicate, type FieldFault, invalidValue, required } from '../../api/field-fault.ts'
import { type Fields, textOf, textsOf } from '../../api/object.ts'
import { parseGoUrl } from '../../api/url.ts'
import { AuthorityChecks } from './authority-checks.ts'

export type Issuer = {
  readonly url: string
  /** URL of the discovery document. If empty, it is the well-known path below `url`. */
  readonly discoveryUrl: string
  /** CA certificates in PEM format. If empty, the trust roots of the operating system are used. */
  readonly certificateAuthority: string
  /** Accepted audiences. A token must have at least one of them. */
  readonly audiences: readonly string[]
  readonly audienceMatchPolicy: string
}

export const readIssuer = (issuer: Fields): Issuer => ({
  url: textOf(issuer['url']),
  discoveryUrl: textOf(issuer['discoveryURL']),
  certificateAuthority: textOf(issuer['certificateAuthority']),
  audiences: textsOf(issuer['audiences']),
  audienceMatchPolicy: textOf(issuer['audienceMatchPolicy']),
})

export type IssuerChecks = {
  readonly path: string
  readonly disallowed: readonly string[]
  readonly authorities?: AuthorityChecks
}

export function issuerFaults(issuer: Issuer, checks: IssuerChecks): FieldFault[] {
  const { path, disallowed, authorities = new AuthorityChecks() } = checks
  return [
    ...urlFaults(issuer.url, `${path}.url`, disallowed),
    ...discoveryFaults(issuer, `${path}.discoveryURL`),
    ...audienceFaults(issuer, path),
    ...authorityFaults(issuer.certificateAuthority, `${path}.certificateAuthority`, authorities),
  ]
}

function urlFaults(url: string, path: string, disallowed: readonly string[]): FieldFault[] {
  if (url === '') return [required(path, 'URL is required')]
  if (!disallowed.includes(url)) return httpsFaults(url, path)
  const all = [...new Set(disallowed)].toSorted().join(' ')
  return [
    invalidValue(path, url, `URL must not overlap with disallowed issuers: [${all}]`),
    ...httpsFaults(url, path),
  ]
}

function discoveryFaults({ url, discoveryUrl }: Issuer, path: string): FieldFault[] {
  if (discoveryUrl === '') return []
  const isSame = url !== '' && withoutSlashes(url) === withoutSlashes(discoveryUrl)
  const faults = isSame
    ? [invalidValue(path, discoveryUrl, 'discoveryURL must be different from URL')]
    : []
  return [...faults, ...httpsFaults(discoveryUrl, path)]
}

/**
 * Removes trailing slashes. Does not use a regular expression, which would take quadratic time for
 * a URL with many slashes in the middle.
 */
function withoutSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end--
  return url.slice(0, end)
}

function httpsFaults(url: string, path: string): FieldFault[] {
  const parsed = parseGoUrl(url)
  if ('fault' in parsed) return [invalidValue(path, url, parsed.fault)]
  const whys: string[] = []
  if (parsed.scheme !== 'https') whys.push('URL scheme must be https')
  if (parsed.hasUser) whys.push('URL must not contain a username or password')
  if (parsed.query !== '') whys.push('URL must not contain a query')
  if (parsed.fragment !== '') whys.push('URL must not contain a fragment')
  return whys.map((why) => invalidValue(path, url, why))
}

function audienceFaults(
  { audiences, audienceMatchPolicy: policy }: Issuer,
  issuerPath: string,
): FieldFault[] {
  const path = `${issuerPath}.audiences`
  if (audiences.length === 0) return [required(path, `at least one ${path} is required`)]
  const seen = new Set<string>()
  const faults: FieldFault[] = []
  for (const [at, audience] of audiences.entries()) {
    if (audience === '') faults.push(required(`${path}[${at}]`, "audience can't be empty"))
    if (seen.has(audience)) faults.push(duplicate(`${path}[${at}]`, audience))
    seen.add(audience)
  }
  const isOne = audiences.length === 1
  if (policy === 'MatchAny' || (isOne && policy === '')) return faults
  const wanted = isOne
    ? 'be empty or MatchAny for single audience'
    : 'be MatchAny for multiple audiences'
  return [
    ...faults,
    invalidValue(`${issuerPath}.audienceMatchPolicy`, policy, `audienceMatchPolicy must ${wanted}`),
  ]
}

/** Validates the CA bundle. As in kube-apiserver, the error does not contain the value. */
function authorityFaults(pem: string, path: string, authorities: AuthorityChecks): FieldFault[] {
  const why = pem === '' ? undefined : authorities.faultOf(pem)
  return why === undefined ? [] : [invalidValue(path, '<omitted>', why)]
}
