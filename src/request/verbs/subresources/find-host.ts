/**
 * Finds the address to which a proxy connects. A name is resolved only once, and the proxy connects
 * to the address that was checked. Otherwise, a DNS server that returns a different address the
 * next time could direct the proxy to the server's own machine (CVE-2020-8562).
 */
import { badRequest } from '../../../api/errors.ts'
import { isGlobalUnicast } from '../../../api/ip.ts'
import type { LookUp } from '../../../lib/net/hosts.ts'

/**
 * Resolves a host. Fails with BadRequest if the host has no address, or has one that clients are
 * not allowed to reach.
 */
export type FindHost = (host: string) => Promise<string>

export const createFindHost =
  (lookUp: LookUp): FindHost =>
  async (host) => {
    const found = await lookUp(host)
    const [first] = found
    if (first === undefined) throw badRequest(`lookup ${host}: no such host`)
    if (!found.every(isGlobalUnicast)) throw badRequest('address not allowed')
    return first
  }
