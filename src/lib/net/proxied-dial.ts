/**
 * Connections through an HTTP proxy. The connection to the proxy itself is also opened by a Dial.
 */
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connectTunnel } from './connect-tunnel.ts'
import type { Dial } from './dial.ts'
import { secured } from './dialed-tls.ts'
import { hostPort } from './hosts.ts'
import { systemContext } from '../x509/system-roots.ts'

const HTTP_PORT = 80
const HTTPS_PORT = 443

/** Returns a Dial that opens a tunnel through the proxy to the dialed address. */
export const throughProxy =
  (dial: Dial, proxy: URL): Dial =>
  async (host, port, signal) => {
    const credentials = proxyAuthorization(proxy)
    const socket = await reach(dial, proxy, signal)
    const lines = [
      `Host: ${hostPort({ host, port })}`,
      ...(credentials === '' ? [] : [`Proxy-Authorization: ${credentials}`]),
    ]
    const headers = lines.map((line) => `${line}\r\n`).join('')
    return connectTunnel(socket, { host, port }, { proxy: proxy.host, signal, headers })
  }

/**
 * Returns a Dial that always connects to the proxy itself. It is for requests that contain the
 * absolute URL of their target.
 */
export const toProxy =
  (dial: Dial, proxy: URL): Dial =>
  (_host, _port, signal) =>
    reach(dial, proxy, signal)

/**
 * Returns the value of the Proxy-Authorization header, or an empty string if the URL does not
 * contain a user.
 */
export function proxyAuthorization({ username, password }: URL): string {
  if (username === '' && password === '') return ''
  return `Basic ${Buffer.from(unescaped(`${username}:${password}`), 'latin1').toString('base64')}`
}

/**
 * Decodes percent escapes to a Latin-1 string with one character per byte, because the bytes need
 * not be UTF-8. Invalid escapes are left unchanged.
 */
const unescaped = (text: string): string =>
  text.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

async function reach(
  dial: Dial,
  { protocol, hostname, port }: URL,
  signal: AbortSignal,
): Promise<Duplex> {
  const isTls = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const opening = dial(host, Number(port) || (isTls ? HTTPS_PORT : HTTP_PORT), signal)
  if (!isTls) return opening
  // SNI can contain host names, but not addresses (RFC 6066, section 3).
  const named = isIP(host) === 0 ? { servername: host } : {}
  return secured(opening, { host, ...named, secureContext: systemContext() })
}
