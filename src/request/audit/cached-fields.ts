/**
 * Parts of events that are the same in many, printed once: who asks, from where, for what and why
 * it is allowed. Clients make many requests each.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { type ApiRequest, firstHeader, utf8Header } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import { printString, sortedKeys } from '../../objects/codec/json.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { sourceIps } from './source-ips.ts'

/** Where a request comes from, and the same as fields of an event. */
export type Source = {
  readonly ips: readonly string[]
  readonly userAgent: string
  readonly fields: Buffer
}

/** By key, in any order. */
export type Annotations = { readonly [key: string]: string }

/**
 * Pairs of an address and a user agent. More than a cluster has; when there are more, all are
 * forgotten.
 */
const SOURCES_MAX = 4096
/**
 * Reasons why requests are allowed: one for each binding that is used. When there are more, all are
 * forgotten.
 */
const REASONS_MAX = 4096
/** Resources in namespaces. When there are more, all are forgotten. */
const PLACES_MAX = 4096
/**
 * Groups and versions of resources, and verbs of a user. When there are more, all are forgotten.
 */
const VERSIONS_MAX = 1024
const VERBS_MAX = 16
/** Longer names, and verbs, are printed each time. */
const NAME_CHARACTERS_MAX = 64
/** What users ask for, by URI, of all users together. When there are more, all are forgotten. */
const TARGETS_MAX = 4096
/** Longer ones are printed each time. */
const URI_CHARACTERS_MAX = 256
/** As those with longer fields are, which users of many groups have. */
const TARGET_BYTES_MAX = 2048
/** As upstream: longer ones are cut. */
const USER_AGENT_CHARACTERS_MAX = 1024

/** Who asks, by verb: the fields of an event from the verb to the user agent. */
export type CallerFields = {
  readonly source: Source
  readonly fields: Buffer
  /**
   * What he has asked for, by URI: the fields from the URI to the reference to the object. Empty:
   * it was asked for once.
   */
  readonly targets: Map<string, Buffer>
}

const askedOnce = Buffer.alloc(0)

export class CachedFields {
  /** Users are shared by the requests of a token or a connection, or new for each request. */
  readonly #asking = new WeakMap<User, Map<string, CallerFields>>()
  /** By user agent, then by address. */
  readonly #sources = new Map<string, Map<string, Source>>()
  #sourceCount = 0
  /** Of headers that requests share. */
  readonly #sourceOf = new WeakMap<
    IncomingHttpHeaders,
    { readonly remoteAddress: string; readonly source: Source }
  >()
  /** Those with any, to be emptied together: users live as long as their connections. */
  readonly #targets = new Set<Map<string, Buffer>>()
  #targetCount = 0
  readonly #allowed = new Map<string, Annotations>()
  readonly #annotations = new WeakMap<Annotations, Buffer>()
  readonly #places = new PairTexts(PLACES_MAX)
  readonly #namedPlaces = new PairTexts(PLACES_MAX)
  readonly #versions = new PairTexts(VERSIONS_MAX)
  readonly #namedVersions = new PairTexts(VERSIONS_MAX)

  /** The end of the URI, and the fields `verb` to `userAgent`, without `impersonatedUser`. */
  asking(verb: string, user: User, source: Source): CallerFields {
    const ofUser = this.#asking.get(user)
    const known = ofUser?.get(verb)
    if (known?.source === source) return known
    const fields = Buffer.concat([
      Buffer.from(`","verb":${printString(verb)},"user":${printUser(user)}`),
      source.fields,
    ])
    const made = { source, fields, targets: new Map<string, Buffer>() }
    // A method may be any token, of a megabyte.
    if (verb.length > NAME_CHARACTERS_MAX) return made
    const verbs =
      ofUser === undefined || ofUser.size === VERBS_MAX ? new Map<string, CallerFields>() : ofUser
    if (verbs !== ofUser) this.#asking.set(user, verbs)
    verbs.set(verb, made)
    return made
  }

  /** Undefined: it is to be printed, and kept. */
  target({ targets }: CallerFields, uri: string): Buffer | undefined {
    const known = targets.get(uri)
    return known === askedOnce ? undefined : known
  }

  /**
   * What is asked for a second time is likely to be asked for again. `print`: the bytes, which it
   * is to have for itself.
   */
  keepTarget({ targets, fields }: CallerFields, uri: string, print: () => Buffer): void {
    if (uri.length > URI_CHARACTERS_MAX || fields.length > TARGET_BYTES_MAX) return
    if (targets.has(uri)) {
      targets.set(uri, print())
      return
    }
    if (this.#targetCount === TARGETS_MAX) {
      for (const one of this.#targets) one.clear()
      this.#targets.clear()
      this.#targetCount = 0
    }
    targets.set(uri, askedOnce)
    this.#targets.add(targets)
    this.#targetCount++
  }

  /**
   * The field `objectRef` up to its `resource` and `namespace`; those that are empty are left out.
   */
  place(plural: string, namespace: string): Buffer {
    return this.#places.get(plural, namespace, printPlace)
  }

  /** The same, up to the first character of the name. */
  namedPlace(plural: string, namespace: string): Buffer {
    return this.#namedPlaces.get(plural, namespace, printNamedPlace)
  }

  /** The end of `objectRef` from its `apiGroup` and `apiVersion` on. */
  version(group: string, version: string): Buffer {
    return this.#versions.get(group, version, printVersion)
  }

  /** The same, from the end of the name on. */
  namedVersion(group: string, version: string): Buffer {
    return this.#namedVersions.get(group, version, printNamedVersion)
  }

  source({ headers, remoteAddress }: ApiRequest): Source {
    const shared = this.#sourceOf.get(headers)
    if (shared?.remoteAddress === remoteAddress) return shared.source
    const agent = firstHeader(headers, 'user-agent') ?? ''
    if (isForwarded(headers)) return makeSource(headers, remoteAddress, agent)
    const source =
      this.#sources.get(agent)?.get(remoteAddress) ??
      this.#makeSource(headers, remoteAddress, agent)
    if (Object.isFrozen(headers)) this.#sourceOf.set(headers, { remoteAddress, source })
    return source
  }

  #makeSource(headers: IncomingHttpHeaders, remoteAddress: string, agent: string): Source {
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
    this.#annotations.set(made, printEnd(made))
    return made
  }

  /** As the end of an event, from the end of the time of its stage. */
  end(annotations: Annotations): Buffer {
    return this.#annotations.get(annotations) ?? printEnd(annotations)
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

/** Texts by pairs of names, which are parts of paths: a path may have a megabyte. */
class PairTexts {
  readonly #max: number
  readonly #known = new Map<string, Map<string, Buffer>>()
  #size = 0

  constructor(max: number) {
    this.#max = max
  }

  get(one: string, other: string, print: (one: string, other: string) => string): Buffer {
    const known = this.#known.get(one)?.get(other)
    if (known !== undefined) return known
    const made = Buffer.from(print(one, other))
    if (one.length <= NAME_CHARACTERS_MAX && other.length <= NAME_CHARACTERS_MAX)
      this.#keep(one, other, made)
    return made
  }

  #keep(one: string, other: string, made: Buffer): void {
    if (this.#size === this.#max) {
      this.#known.clear()
      this.#size = 0
    }
    this.#size++
    const known = this.#known.get(one)
    if (known === undefined) this.#known.set(ownText(one), new Map([[ownText(other), made]]))
    else known.set(ownText(other), made)
  }
}

const printPlace = (plural: string, namespace: string): string =>
  `,"objectRef":{${printField('resource', plural).slice(1)}${printField('namespace', namespace)}`

const printNamedPlace = (plural: string, namespace: string): string =>
  `${printPlace(plural, namespace)},"name":"`

const printVersion = (group: string, version: string): string =>
  `${printField('apiGroup', group)}${printField('apiVersion', version)}}`

const printNamedVersion = (group: string, version: string): string =>
  `"${printVersion(group, version)}`

/** Behind a comma; nothing if the value is empty. */
export const printField = (name: string, value: string): string =>
  value === '' ? '' : `,"${name}":${printString(value)}`

const printEnd = (annotations: Annotations): Buffer =>
  Buffer.from(`Z","annotations":${printAnnotations(annotations)}}`)

const isForwarded = (headers: IncomingHttpHeaders): boolean =>
  headers['x-forwarded-for'] !== undefined || headers['x-real-ip'] !== undefined

function makeSource(headers: IncomingHttpHeaders, remoteAddress: string, agent: string): Source {
  const ips = sourceIps(headers, remoteAddress)
  const sent = utf8Header(agent)
  const isLong = sent.length > USER_AGENT_CHARACTERS_MAX
  const userAgent = isLong ? `${sent.slice(0, USER_AGENT_CHARACTERS_MAX)}...TRUNCATED` : sent
  const from = ips.length === 0 ? '' : `,"sourceIPs":["${ips.join('","')}"]`
  const agentField = userAgent === '' ? '' : `,"userAgent":${printString(userAgent)}`
  return { ips, userAgent, fields: Buffer.from(`${from}${agentField}`) }
}

export function printUser({ name, uid, groups, extra }: User): string {
  const parts: string[] = []
  if (name !== '') parts.push(`"username":${printString(name)}`)
  if (uid !== '') parts.push(`"uid":${printString(uid)}`)
  if (groups.length > 0) parts.push(`"groups":[${groups.map(printString).join(',')}]`)
  if (extra !== undefined && Object.keys(extra).length > 0)
    parts.push(`"extra":${printLists(extra)}`)
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
