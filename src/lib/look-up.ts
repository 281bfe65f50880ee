/** The addresses of a host, as the system resolves it: by the hosts file and DNS. None: there is no such host. */
import { lookup } from 'node:dns/promises'

export type LookUp = (host: string) => Promise<readonly string[]>

export const lookUp: LookUp = async (host) => {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch {
    // Whether it is not known or nobody could be asked: it cannot be reached.
    return []
  }
}
