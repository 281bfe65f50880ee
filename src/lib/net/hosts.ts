/** Formats addresses and resolves host names. */
import { lookup } from 'node:dns/promises'

export type Address = { readonly host: string; readonly port: number }

/** Returns `host:port`, as Go's net.JoinHostPort does. An IPv6 address is put in brackets. */
export const hostPort = ({ host, port }: Address): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/**
 * Resolves a host name with the system's resolver, which uses the hosts file and DNS. Returns an
 * empty list if the host name cannot be resolved.
 */
export type LookUp = (host: string) => Promise<readonly string[]>

export const lookUp: LookUp = async (host) => {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    // The host is unknown or the resolver failed. The host is unreachable in both cases.
    return []
  }
}
