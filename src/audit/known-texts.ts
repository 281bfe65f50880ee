/** Texts that are the same in many events, printed once: who asks, and from where. Clients make many requests each. */
import type { IncomingHttpHeaders } from 'node:http'
import { type ApiRequest, firstHeader, utf8Header } from '../api/request.ts'
import type { User } from '../api/user.ts'
import { printString, sortedKeys } from '../codec/json.ts'
import { sourceIps } from './source-ips.ts'

/** Where a request comes from, and the same as fields of an event. */
export type Source = { readonly ips: readonly string[]; readonly userAgent: string; readonly text: string }

/** Pairs of an address and a user agent. More than a cluster has; when there are more, all are forgotten. */
const SOURCES_MAX = 4096
/** As upstream: longer ones are cut. */
const USER_AGENT_CHARACTERS_MAX = 1024

export class KnownTexts {
  /** Users are shared by the requests of a token or a connection, or new for each request. */
  readonly #users = new WeakMap<User, string>()
  readonly #sources = new Map<string, Source>()

  user(user: User): string {
    const known = this.#users.get(user)
    if (known !== undefined) return known
    const text = printUser(user)
    this.#users.set(user, text)
    return text
  }

  source({ headers, remoteAddress }: ApiRequest): Source {
    const agent = firstHeader(headers, 'user-agent') ?? ''
    if (isForwarded(headers)) return makeSource(headers, remoteAddress, agent)
    const key = `${remoteAddress} ${agent}`
    const known = this.#sources.get(key)
    if (known !== undefined) return known
    const made = makeSource(headers, remoteAddress, agent)
    if (this.#sources.size === SOURCES_MAX) this.#sources.clear()
    if (agent.length <= USER_AGENT_CHARACTERS_MAX) this.#sources.set(key, made)
    return made
  }
}

const isForwarded = (headers: IncomingHttpHeaders): boolean =>
  headers['x-forwarded-for'] !== undefined || headers['x-real-ip'] !== undefined

function makeSource(headers: IncomingHttpHeaders, remoteAddress: string, agent: string): Source {
  const ips = sourceIps(headers, remoteAddress)
  const sent = utf8Header(agent)
  const isLong = sent.length > USER_AGENT_CHARACTERS_MAX
  const userAgent = isLong ? `${sent.slice(0, USER_AGENT_CHARACTERS_MAX)}...TRUNCATED` : sent
  const from = ips.length === 0 ? '' : `,"sourceIPs":["${ips.join('","')}"]`
  return { ips, userAgent, text: `${from}${userAgent === '' ? '' : `,"userAgent":${printString(userAgent)}`}` }
}

export function printUser({ name, uid, groups, extra }: User): string {
  const parts: string[] = []
  if (name !== '') parts.push(`"username":${printString(name)}`)
  if (uid !== '') parts.push(`"uid":${printString(uid)}`)
  if (groups.length > 0) parts.push(`"groups":[${groups.map(printString).join(',')}]`)
  if (extra !== undefined && Object.keys(extra).length > 0) parts.push(`"extra":${printLists(extra)}`)
  return `{${parts.join(',')}}`
}

const printLists = (map: { readonly [key: string]: readonly string[] }): string =>
  `{${sortedKeys(map)
    .map((key) => `${printString(key)}:[${(map[key] ?? []).map(printString).join(',')}]`)
    .join(',')}}`
