/**
 * Reads the URLs in a kubeconfig. Error messages do not contain URLs that have a user name and
 * password.
 */
import { quote } from '../../api/quote.ts'
import { parseGoUrl } from '../../api/url.ts'
import type { FileFault } from './decode-file.ts'

export type ServerUrl = { readonly server: string; readonly isTls: boolean }

/**
 * Reads the URL of a server. The default scheme is http. As in client-go, the query and the
 * fragment are dropped.
 */
export function readServerUrl(server: string, path: string): ServerUrl | FileFault {
  const parsed = parseGoUrl(server)
  const isUrl = !('fault' in parsed) && parsed.scheme !== '' && parsed.host !== ''
  const url = isUrl ? parsed : parseGoUrl(`http://${server}`)
  const [withoutQuery = ''] = server.split(/[?#]/, 1)
  const fault =
    'fault' in url ? url.fault : isUrl || !/\/./.test(withoutQuery) ? undefined : notHost(server)
  if (fault !== undefined)
    return { fault: server.includes('@') ? `${path}: server is not a valid URL` : fault }
  const whole = isUrl ? withoutQuery : `http://${withoutQuery}`
  const scheme = 'fault' in url ? '' : url.scheme
  // client-go accepts URLs with other schemes, but then every call fails.
  if (scheme !== 'http' && scheme !== 'https') {
    return {
      fault: `${path}: server of scheme ${quote(scheme)} is not supported: use https or http`,
    }
  }
  if (!URL.canParse(whole)) return { fault: `${path}: server is not a valid URL` }
  return { server: whole, isTls: scheme === 'https' }
}

const notHost = (server: string): string =>
  `host must be a URL or a host:port pair: ${quote(server)}`

/**
 * Returns the URL of a proxy. The scheme is converted to lower case, because Node.js requires it.
 * An empty string means that no proxy is used.
 */
export function readProxyUrl(
  proxy: string,
  path: string,
): { readonly proxyUrl: string } | FileFault {
  if (proxy === '') return { proxyUrl: '' }
  const parsed = parseGoUrl(proxy)
  const [scheme, host] = 'fault' in parsed ? ['', ''] : [parsed.scheme, parsed.host]
  if (scheme === 'socks5') {
    return {
      fault: `${path}: proxy-url of scheme socks5 is not supported: use an http or https proxy`,
    }
  }
  // client-go accepts a URL without a host, but then every call fails.
  if (host === '' || !URL.canParse(proxy)) return { fault: `${path}: proxy-url is not a valid URL` }
  return { proxyUrl: `${scheme}${proxy.slice(scheme.length)}` }
}
