import type { Server } from 'node:net'

/** Returns the port of a server. Throws if it does not listen on a port. */
export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null)
    throw new Error('the server does not listen on a port')
  return address.port
}
