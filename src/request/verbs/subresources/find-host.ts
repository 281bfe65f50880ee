/**
 * Finds the address that a proxy connects to. A name is resolved once, and what was checked is what
 * is connected to: a resolver that gives another address the next time cannot lead the server to
 * its own machine (CVE-2020-8562).
 */
import { badRequest } from '../../../api/errors.ts'
import { isGlobalUnicast } from '../../../api/ip.ts'
import type { LookUp } from '../../../lib/net/hosts.ts'

/** Fails with BadRequest if there is no address, or one that clients must not reach. */
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
