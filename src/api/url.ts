/**
 * Parses URLs like Go's `url.Parse`, with the same error messages. Messages about flags and
 * configuration files contain these error messages.
 */
import { quote } from './quote.ts'

export type GoUrl = {
  readonly scheme: string
  readonly hasUser: boolean
  readonly host: string
  readonly query: string
  readonly fragment: string
}

/** Parses a URL. Relative references are accepted, so the scheme and the host may be empty. */
export function parseGoUrl(text: string): GoUrl | { readonly fault: string } {
  const mark = text.indexOf('#')
  const before = mark === -1 ? text : text.slice(0, mark)
  const fragment = mark === -1 ? '' : text.slice(mark + 1)
  const refuse = (what: string, shown = before): { fault: string } => ({
    fault: `parse ${quote(shown)}: ${what}`,
  })
  // oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
  if (/[\u0000-\u001f\u007f]/.test(before))
    return refuse('net/url: invalid control character in URL')
  if (before.startsWith(':')) return refuse('missing protocol scheme')
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(before)?.[1] ?? ''
  const rest = scheme === '' ? before : before.slice(scheme.length + 1)
  const ask = rest.indexOf('?')
  const [hierarchy, query] = ask === -1 ? [rest, ''] : [rest.slice(0, ask), rest.slice(ask + 1)]
  const fault = hierarchyFault(hierarchy, scheme)
  if (fault !== undefined) return refuse(fault)
  const wrong = escapeFault(fragment)
  if (wrong !== undefined) return refuse(wrong, text)
  const authority = authorityOf(hierarchy)
  const user = authority.lastIndexOf('@')
  return {
    scheme: scheme.toLowerCase(),
    hasUser: user !== -1,
    host: authority.slice(user + 1),
    query,
    fragment,
  }
}

/** Returns the URL for messages, without user and password, even if the URL is invalid. */
export const withoutUser = (url: string): string =>
  url.replace(/^([A-Za-z][A-Za-z0-9+.-]*:\/\/)?.*@/s, '$1')

function authorityOf(hierarchy: string): string {
  if (!hierarchy.startsWith('//') || hierarchy.startsWith('///')) return ''
  const slash = hierarchy.indexOf('/', 2)
  return hierarchy.slice(2, slash === -1 ? undefined : slash)
}

function hierarchyFault(hierarchy: string, scheme: string): string | undefined {
  if (!hierarchy.startsWith('/')) {
    // As in Go, a URL is opaque if no slash follows its scheme. It then has no path to check.
    if (scheme !== '') return undefined
    const [segment = ''] = hierarchy.split('/', 1)
    return segment.includes(':')
      ? 'first path segment in URL cannot contain colon'
      : escapeFault(hierarchy)
  }
  const authority = authorityOf(hierarchy)
  const user = authority.lastIndexOf('@')
  const path = authority === '' ? hierarchy : hierarchy.slice(2 + authority.length)
  return (
    hostFault(authority.slice(user + 1)) ??
    userFault(authority.slice(0, Math.max(user, 0))) ??
    escapeFault(path)
  )
}

const userFault = (user: string): string | undefined =>
  /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) ? escapeFault(user) : 'net/url: invalid userinfo'

export function hostFault(host: string): string | undefined {
  const close = host.lastIndexOf(']')
  if (host.startsWith('[') && close === -1) return "missing ']' in host"
  const behind = host.startsWith('[') ? host.slice(close + 1) : host
  const colon = behind.lastIndexOf(':')
  const port = host.startsWith('[') ? behind : colon === -1 ? '' : behind.slice(colon)
  if (!/^(?::[0-9]*)?$/.test(port)) return `invalid port ${quote(port)} after host`
  const wrong = /[ "<>\\^`{|}]/.exec(host)?.[0]
  return wrong === undefined ? escapeFault(host) : `invalid character ${quote(wrong)} in host name`
}

export function escapeFault(text: string): string | undefined {
  const wrong = /%(?![0-9A-Fa-f]{2}).{0,2}/su.exec(text)?.[0]
  return wrong === undefined ? undefined : `invalid URL escape ${quote(wrong)}`
}
