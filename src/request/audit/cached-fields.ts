/**
 * Caches serialized parts that many events share: the user, source and target of a request, and the
 * reason why it is allowed. Clients repeat most of these in each request.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { type ApiRequest, firstHeader, utf8Header } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import { printString, sortedKeys } from '../../objects/codec/json.ts'
import { ownText } from '../../lib/text/own-text.ts'
import { sourceIps } from './source-ips.ts'

/** Source of a request, and the JSON of its fields in events. */
export type Source = {
  readonly ips: readonly string[]
  readonly userAgent: string
  readonly fields: Buffer
}

/** Annotations by key, in any order. */
export type Annotations = { readonly [key: string]: string }

/**
 * Maximum number of cached sources. A source is a pair of an address and a user agent. A typical
 * cluster has fewer sources. When the maximum is reached, the cache is cleared.
 */
const SOURCES_MAX = 4096
/**
 * Maximum number of cached reasons for allowing a request. There is one reason for each role
 * binding in use. When the maximum is reached, the cache is cleared.
 */
const REASONS_MAX = 4096
/**
 * Maximum number of cached pairs of a resource and a namespace. When the maximum is reached, the
 * cache is cleared.
 */
const PLACES_MAX = 4096
/**
 * Maximum number of cached pairs of a group and a version, and of cached verbs per user. When the
 * maximum is reached, the cache is cleared.
 */
const VERSIONS_MAX = 1024
const VERBS_MAX = 16
/** Maximum length of cached names and verbs. Longer ones are serialized each time. */
const NAME_CHARACTERS_MAX = 64
/**
 * Maximum number of cached targets for all users together. A target is identified by its URI. When
 * the maximum is reached, the cache is cleared.
 */
const TARGETS_MAX = 4096
/**
 * Maximum length of the URI of a cached target. Targets with longer URIs are serialized each time.
 */
const URI_CHARACTERS_MAX = 256
/**
 * Maximum size of the user's fields in a cached target. Users in many groups have larger fields.
 */
const TARGET_BYTES_MAX = 2048
/** Maximum length of a user agent, as in kube-apiserver. Longer user agents are truncated. */
const USER_AGENT_CHARACTERS_MAX = 1024

/** The JSON of the event fields from the verb to the user agent, for one user and verb. */
export type CallerFields = {
  readonly source: Source
  readonly fields: Buffer
  /**
   * Cached targets by URI. A target is the JSON of the event fields from the URI to the object
   * reference. An empty value means that the target has been requested only once.
   */
  readonly targets: Map<string, Buffer>
}

const askedOnce = Buffer.alloc(0)

export class CachedFields {
  /**
   * Fields by user and verb. All requests with the same token or connection can share one user
   * object. Other requests have separate user objects.
   */
  readonly #asking = new WeakMap<User, Map<string, CallerFields>>()
  /** Sources of requests, keyed by user agent and then by address. */
  readonly #sources = new Map<string, Map<string, Source>>()
  #sourceCount = 0
  /** Sources by header object. Several requests can share a header object. */
  readonly #sourceOf = new WeakMap<
    IncomingHttpHeaders,
    { readonly remoteAddress: string; readonly source: Source }
  >()
  /**
   * All maps that contain targets, so that they can be cleared together. Each map exists as long as
   * its user object, for example as long as a connection.
   */
  readonly #targets = new Set<Map<string, Buffer>>()
  #targetCount = 0
  readonly #allowed = new Map<string, Annotations>()
  readonly #annotations = new WeakMap<Annotations, Buffer>()
  readonly #places = new PairTexts(PLACES_MAX)
  readonly #namedPlaces = new PairTexts(PLACES_MAX)
  readonly #versions = new PairTexts(VERSIONS_MAX)
  readonly #namedVersions = new PairTexts(VERSIONS_MAX)

  /**
   * Returns the JSON that follows the URI: the closing quote of the URI, and the fields from `verb`
   * to `userAgent`. The field `impersonatedUser` is left out.
   */
  asking(verb: string, user: User, source: Source): CallerFields {
    const ofUser = this.#asking.get(user)
    const known = ofUser?.get(verb)
    if (known?.source === source) return known
    const fields = Buffer.concat([
      Buffer.from(`","verb":${printString(verb)},"user":${printUser(user)}`),
      source.fields,
    ])
    const made = { source, fields, targets: new Map<string, Buffer>() }
    // Do not cache a long verb. It can come from the method, which can be any token, even one of a
    // megabyte.
    if (verb.length > NAME_CHARACTERS_MAX) return made
    const verbs =
      ofUser === undefined || ofUser.size === VERBS_MAX ? new Map<string, CallerFields>() : ofUser
    if (verbs !== ofUser) this.#asking.set(user, verbs)
    verbs.set(verb, made)
    return made
  }

  /**
   * Returns a cached target. If the target is not cached, returns undefined, and the caller must
   * serialize the target and pass it to `keepTarget`.
   */
  target({ targets }: CallerFields, uri: string): Buffer | undefined {
    const known = targets.get(uri)
    return known === askedOnce ? undefined : known
  }

  /**
   * Caches a target when it is requested for the second time, because it is then likely to be
   * requested again. `print` must return bytes that no other code shares.
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
   * Returns the beginning of the field `objectRef`, up to its `resource` and `namespace`. Empty
   * fields are omitted.
   */
  place(plural: string, namespace: string): Buffer {
    return this.#places.get(plural, namespace, printPlace)
  }

  /** Returns the beginning of the field `objectRef`, up to the first character of the name. */
  namedPlace(plural: string, namespace: string): Buffer {
    return this.#namedPlaces.get(plural, namespace, printNamedPlace)
  }

  /** Returns the end of `objectRef`, beginning with its `apiGroup` and `apiVersion`. */
  version(group: string, version: string): Buffer {
    return this.#versions.get(group, version, printVersion)
  }

  /** Returns the end of `objectRef`, beginning with the closing quote of the name. */
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

  /** Returns the annotations of an allowed request: the decision and its reason. */
  allowed(reason: string): Annotations {
    const known = this.#allowed.get(reason)
    if (known !== undefined) return known
    const made = { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': reason }
    if (this.#allowed.size === REASONS_MAX) this.#allowed.clear()
    this.#allowed.set(reason, made)
    this.#annotations.set(made, printEnd(made))
    return made
  }

  /** Returns the end of an event, which follows the timestamp of its stage. */
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

/**
 * Caches strings by pairs of names from request paths. Long names are not cached, because a path
 * can be a megabyte long.
 */
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

/** Serializes a field with a preceding comma. Returns an empty string if the value is empty. */
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
