/** Reads the URLs of a kubeconfig. Errors do not contain URLs with a user and password. */
import { quote } from '../../api/quote.ts'
import { parseGoUrl } from '../../api/url.ts'
import type { FileFault } from './decode-file.ts'

export type ServerUrl = { readonly server: string; readonly isTls: boolean }

/**
 * Reads the URL of a server. A URL without a scheme means http. As in client-go, query and fragment
 * are dropped.
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
  // client-go accepts these URLs, and then every call fails.
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

/** Returns the URL of a proxy, with its scheme in lower case, as Node requires. Empty: no proxy. */
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
  // client-go accepts a URL without a host, and then every call fails.
  if (host === '' || !URL.canParse(proxy)) return { fault: `${path}: proxy-url is not a valid URL` }
  return { proxyUrl: `${scheme}${proxy.slice(scheme.length)}` }
}
