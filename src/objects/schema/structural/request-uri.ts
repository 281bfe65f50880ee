/**
 * Determines whether Go accepts a string as a request URI (url.ParseRequestURI). It must be an
 * absolute URI or an absolute path.
 */
export function isRequestUri(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (text === '' || /[\x00-\x1f\x7f]/.test(text) || text.startsWith(':')) return false
  if (text === '*') return true
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(text)?.[0] ?? ''
  const [rest = ''] = text.slice(scheme.length).split('?')
  if (!rest.startsWith('/')) return scheme !== ''
  if (scheme === '' || !rest.startsWith('//')) return isEscaped(rest)
  const end = rest.indexOf('/', 2)
  const authority = end === -1 ? rest.slice(2) : rest.slice(2, end)
  return isAuthority(authority) && isEscaped(end === -1 ? '' : rest.slice(end))
}

const isEscaped = (text: string): boolean => !/%(?![0-9A-Fa-f]{2})/.test(text)

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@')
  const user = authority.slice(0, Math.max(at, 0))
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) || !isEscaped(user)) return false
  return isHost(authority.slice(at + 1))
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return /^\[[0-9A-Za-z:.%~_-]*\](?::[0-9]*)?$/.test(host)
  const colon = host.lastIndexOf(':')
  if (colon !== -1 && !/^:[0-9]*$/.test(host.slice(colon))) return false
  return /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uffff]*$/.test(
    host.replace(/%[89A-Fa-f][0-9A-Fa-f]/g, ''),
  )
}
