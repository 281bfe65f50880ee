/**
 * Determines the source addresses of a request: the addresses that proxies report, then the address
 * of the connection.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { formatIp, parseIp } from '../../api/ip.ts'
import { elementsOf, firstHeader } from '../../api/request.ts'

/**
 * Returns the source addresses. Values that are not addresses are omitted. The address of the
 * connection, which cannot be forged, is always the last one.
 */
export function sourceIps(headers: IncomingHttpHeaders, remoteAddress: string): readonly string[] {
  const remote = canonical(remoteAddress)
  const forwarded = firstHeader(headers, 'x-forwarded-for')
  const real = firstHeader(headers, 'x-real-ip')
  // Return early, because most clients connect directly, without a proxy.
  if (forwarded === undefined && real === undefined) return remote === undefined ? [] : [remote]
  const ips = elementsOf(forwarded ?? '').flatMap((element) => canonical(element) ?? [])
  const realIp = canonical(real ?? '')
  if (realIp !== undefined && !ips.includes(realIp)) ips.push(realIp)
  if (remote !== undefined && ips.at(-1) !== remote) ips.push(remote)
  return ips
}

/** Matches canonical IPv4 addresses, which are the most common. */
const plainIpv4 = /^(?:(?:[1-9]?\d|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}$/

function canonical(text: string): string | undefined {
  if (plainIpv4.test(text)) return text
  const ip = parseIp(text)
  return ip && formatIp(ip)
}
