/** Hosts and ports. */
import { lookup } from 'node:dns/promises'

export type Address = { readonly host: string; readonly port: number }

/** Returns `host:port`, with an IPv6 address in brackets, like Go's net.JoinHostPort. */
export const hostPort = ({ host, port }: Address): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/**
 * Resolves a host by the system's resolver: the hosts file and DNS. Returns an empty list if the
 * host cannot be resolved.
 */
export type LookUp = (host: string) => Promise<readonly string[]>

export const lookUp: LookUp = async (host) => {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    // The host is unknown or the resolver failed. Either way the host cannot be reached.
    return []
  }
}
