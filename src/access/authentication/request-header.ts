/**
 * Front proxies. A proxy that authenticates users passes their names in request headers. The
 * headers are trusted only if the client certificate of the connection was issued by a request
 * header CA for one of the allowed names.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { IdentityHeaders } from '../../api/identity-headers.ts'
import { decodeHeaderKey, headerValues, type PeerCertificate } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import { type Attempt, unknownCaller } from './attempt.ts'
import { withAuthenticatedGroup } from './authenticated-group.ts'
import {
  commonNameOf,
  isInTime,
  outOfTime,
  refuse,
  unreadable,
  type Validity,
  validityOf,
} from './client-certificate.ts'

export type RequestHeaderOptions = {
  readonly headers: IdentityHeaders
  /** Common names that the certificate of the proxy may have. An empty list allows any name. */
  readonly allowedNames: readonly string[]
  /**
   * Returns undefined if a request header CA accepts the certificate, otherwise the reason for the
   * rejection.
   */
  readonly faultOf: (peer: PeerCertificate) => string | undefined
  readonly wallMs: () => number
}

export type VerifyProxy = (headers: IncomingHttpHeaders, peer: PeerCertificate) => Attempt

export function createVerifyProxy(options: RequestHeaderOptions): VerifyProxy {
  const { headers: names, allowedNames, faultOf, wallMs } = options
  const proxies = new WeakMap<PeerCertificate, Proxy>()
  return (headers, peer) => {
    const fault = faultOf(peer)
    if (fault !== undefined) return refuse(peer, fault)
    const proxy = proxies.get(peer) ?? proxyOf(peer)
    proxies.set(peer, proxy)
    if (!isInTime(proxy, wallMs())) return refuse(peer, outOfTime)
    if (proxy.name === undefined) return refuse(peer, unreadable)
    if (allowedNames.length > 0 && !allowedNames.includes(proxy.name)) {
      return { kind: 'bad', why: `x509: subject with cn=${proxy.name} is not in the allowed list` }
    }
    const user = userOf(headers, names)
    return user === undefined
      ? unknownCaller
      : { kind: 'known', user: withAuthenticatedGroup(user) }
  }
}

/**
 * A front proxy, identified by its certificate. The name is undefined if the subject cannot be
 * read.
 */
type Proxy = Validity & { readonly name: string | undefined }

const proxyOf = ({ certificate }: PeerCertificate): Proxy => ({
  ...validityOf(certificate),
  name: commonNameOf(certificate),
})

/** Returns the user that the headers name, or undefined if no header contains a user name. */
function userOf(headers: IncomingHttpHeaders, names: IdentityHeaders): User | undefined {
  const name = firstOf(headers, names.username)
  if (name === '') return undefined
  const groups = names.group
    .flatMap((header) => headerValues(headers, header))
    .filter((group) => group !== '')
  const extra = extraOf(headers, names.extraPrefixes)
  const user = { name, uid: firstOf(headers, names.uid), groups }
  return extra.size === 0 ? user : { ...user, extra: Object.fromEntries(extra) }
}

/**
 * Returns the first value of the first header whose first value is not empty, or an empty string.
 */
function firstOf(headers: IncomingHttpHeaders, names: readonly string[]): string {
  for (const name of names) {
    const [value = ''] = headerValues(headers, name)
    if (value !== '') return value
  }
  return ''
}

function extraOf(
  headers: IncomingHttpHeaders,
  prefixes: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const extra = new Map<string, string[]>()
  for (const prefix of prefixes) {
    for (const header in headers) {
      if (!header.startsWith(prefix)) continue
      const key = decodeHeaderKey(header.slice(prefix.length))
      const values = extra.get(key) ?? []
      extra.set(key, values)
      for (const value of headerValues(headers, header)) values.push(value)
    }
  }
  return extra
}
