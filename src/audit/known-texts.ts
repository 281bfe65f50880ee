/** Texts that are the same in many events, printed once: who asks, from where, and why it is allowed. Clients make many requests each. */
import type { IncomingHttpHeaders } from 'node:http'
import { type ApiRequest, firstHeader, utf8Header } from '../api/request.ts'
import type { User } from '../api/user.ts'
import { printString, sortedKeys } from '../codec/json.ts'
import { sourceIps } from './source-ips.ts'

/** Where a request comes from, and the same as fields of an event. */
export type Source = { readonly ips: readonly string[]; readonly userAgent: string; readonly text: string }

/** By key, in any order. */
export type Annotations = { readonly [key: string]: string }

/** Pairs of an address and a user agent. More than a cluster has; when there are more, all are forgotten. */
const SOURCES_MAX = 4096
/** Reasons why requests are allowed: one for each binding that is used. When there are more, all are forgotten. */
const REASONS_MAX = 4096
/** As upstream: longer ones are cut. */
const USER_AGENT_CHARACTERS_MAX = 1024

export class KnownTexts {
  /** Users are shared by the requests of a token or a connection, or new for each request. */
  readonly #users = new WeakMap<User, string>()
  /** By user agent, then by address. */
  readonly #sources = new Map<string, Map<string, Source>>()
  #sourceCount = 0
  readonly #allowed = new Map<string, Annotations>()
  readonly #annotations = new WeakMap<Annotations, string>()

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
    const known = this.#sources.get(agent)?.get(remoteAddress)
    if (known !== undefined) return known
    const made = makeSource(headers, remoteAddress, agent)
    if (agent.length <= USER_AGENT_CHARACTERS_MAX) this.#keepSource(agent, remoteAddress, made)
    return made
  }

  /** The annotations of a request that is allowed and has no others. */
  allowed(reason: string): Annotations {
    const known = this.#allowed.get(reason)
    if (known !== undefined) return known
    const made = { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': reason }
    if (this.#allowed.size === REASONS_MAX) this.#allowed.clear()
    this.#allowed.set(reason, made)
    this.#annotations.set(made, printAnnotations(made))
    return made
  }

  annotations(annotations: Annotations): string {
    return this.#annotations.get(annotations) ?? printAnnotations(annotations)
  }

  #keepSource(agent: string, remoteAddress: string, source: Source): void {
    if (this.#sourceCount === SOURCES_MAX) {
      this.#sources.clear()
      this.#sourceCount = 0
    }
    this.#sourceCount++
    const known = this.#sources.get(agent)
    if (known === undefined) this.#sources.set(agent, new Map([[remoteAddress, source]]))
    else known.set(remoteAddress, source)
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

function printAnnotations(annotations: Annotations): string {
  let text = ''
  for (const key of sortedKeys(annotations)) {
    text += `${text === '' ? '{' : ','}${printString(key)}:${printString(annotations[key] ?? '')}`
  }
  return `${text}}`
}
