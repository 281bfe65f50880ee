/**
 * Finds the address to which a proxy connects. A name is resolved once, and the proxy connects to
 * the address that was checked. A resolver that returns another address the next time therefore
 * cannot lead the server to its own machine (CVE-2020-8562).
 */
import { badRequest } from '../../../api/errors.ts'
import { isGlobalUnicast } from '../../../api/ip.ts'
import type { LookUp } from '../../../lib/net/hosts.ts'

/**
 * Resolves a host. Fails with BadRequest if it has no address, or one that clients must not reach.
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
