/**
 * Records all writes and refused requests of a cluster, with their users. The store reports each
 * change in the asynchronous context of the request that caused it. Objects are decoded only when
 * the history is read.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestContext, ResourceInfo } from '../../api/context.ts'
import { parseJson } from '../../api/json-value.ts'
import { managerOfAgent } from '../../api/manager-name.ts'
import { type ApiRequest, type Handler, firstHeader } from '../../api/request.ts'
import { parseFieldsV1 } from '../../objects/apply/fields-v1.ts'
import type { FieldSet } from '../../objects/apply/field-set.ts'
import { printElement } from '../../objects/apply/path-element.ts'
import { Deque } from '../../lib/collections/deque.ts'
import { ownText } from '../../lib/text/own-text.ts'
import type { FeedEvent, Key, Revision, VersionedValue } from '../../storage/engine.ts'
import { resourceOfFolder } from '../../storage/keys.ts'
import type { Commit } from '../../storage/local-feed-stream.ts'
import {
  charactersOf,
  ENTRY_BYTES,
  type HistoryFilter,
  isMatchButGroup,
  type RequestSender,
  type RequestTarget,
} from './recorded-request.ts'
import { Refusals, type RefusedResponse } from './refusals.ts'
import { mergeTimeline, type TimelineEntry } from './timeline.ts'
import { type FieldOwner, isStoredObject, type StoredObject, type Write } from './write.ts'

type RequestOrigin = {
  readonly request: ApiRequest
  readonly isOwn: boolean
  context: RequestContext | undefined
}

/** The cause of a change: a request, or otherwise a fixed description such as that of a restore. */
type ChangeOrigin = RequestOrigin | { readonly fixed: RequestSender }

type HistoryEntry = {
  readonly event: FeedEvent
  readonly timeMs: number
  readonly before: VersionedValue | undefined
  readonly asking: RequestSender
}

/** Maximum size of the recorded objects, users and requests. The oldest writes are dropped. */
const BYTES_MAX = 64 << 20

export type HistoryOptions = {
  readonly wallMs: () => number
  /** Returns the latest revision of the database. */
  readonly revision: () => Revision
  /** The prefix of all keys. */
  readonly root: string
}

/**
 * Whether a key belongs to the Lease of a server. The Lease shows that the server is running, and
 * is not a part of the test: the history does not contain it, and a restore does not change it.
 */
export const isLeaseOfServer = (key: string, root: string): boolean =>
  key.startsWith(`${root}leases/kube-system/apiserver-`)

export class History {
  readonly #asking = new AsyncLocalStorage<ChangeOrigin>()
  readonly #testRequests = new WeakSet<ApiRequest>()
  readonly #kept = new Deque<HistoryEntry>()
  readonly #refusals = new Refusals()
  readonly #options: HistoryOptions
  #bytes = 0
  #isOn = false

  constructor(options: HistoryOptions) {
    this.#options = options
  }

  /**
   * Starts to record. Writes before this call create the initial objects of the cluster, and are
   * not part of a test.
   */
  start(): void {
    this.#isOn = true
  }

  /** Records that the test itself sends this request, and returns it. */
  ofTest(request: ApiRequest): ApiRequest {
    this.#testRequests.add(request)
    return request
  }

  readonly aroundRequest =
    (handle: Handler): Handler =>
    async (request, knownUser) => {
      const asking: RequestOrigin = { request, isOwn: knownUser !== undefined, context: undefined }
      const response = await this.#asking.run(asking, () => handle(request, knownUser))
      const info = asking.context?.info
      if (response.status >= ERROR_MIN && info?.kind === 'resource')
        this.#refuse(asking, info, response)
      return response
    }

  /** Records a client request that a fault refused. Its user is not known. */
  refuse(request: ApiRequest, info: ResourceInfo, response: RefusedResponse): void {
    this.#refuse({ request, isOwn: false, context: undefined }, info, response)
  }

  readonly onContext = (context: RequestContext): void => {
    const asking = this.#asking.getStore()
    if (asking !== undefined && 'context' in asking) asking.context = context
  }

  /**
   * Runs code outside the asynchronous context of a request. Its writes are not recorded as writes
   * of the request that started the code.
   */
  outside<T>(run: () => T): T {
    return this.#asking.run({ fixed: nobody }, run)
  }

  /** Runs code that restores an earlier state. Its writes have the verb `restore`. */
  restoring<T>(run: () => T): T {
    return this.#asking.run({ fixed: { ...nobody, verb: 'restore', source: 'test' } }, run)
  }

  clear(): void {
    this.#kept.clear()
    this.#refusals.clear()
    this.#bytes = 0
  }

  /**
   * Records the events of a commit. For each event, `before` returns the value of its key before
   * the commit.
   */
  add({ events }: Commit, before: (event: FeedEvent) => VersionedValue | undefined): void {
    if (!this.#isOn) return
    const asking = this.#describe()
    const timeMs = this.#options.wallMs()
    for (const event of events) {
      if (isLeaseOfServer(event.key, this.#options.root)) continue
      const kept = { event, timeMs, before: before(event), asking }
      this.#kept.push(kept)
      this.#bytes += bytesOf(kept)
    }
    while (this.#bytes > BYTES_MAX) {
      const oldest = this.#kept.shift()
      if (oldest === undefined) return
      this.#bytes -= bytesOf(oldest)
    }
  }

  read(filter: HistoryFilter): Write[] {
    const writes: Write[] = []
    for (let i = 0; i < this.#kept.length; i++) {
      const kept = this.#kept.at(i)
      if (
        kept === undefined ||
        (filter.after !== undefined && kept.event.revision <= Number(filter.after))
      )
        continue
      const target = targetOfKey(kept.event.key, this.#options.root)
      if (!isMatchButGroup({ ...target, ...kept.asking }, filter)) continue
      const write = toWrite(kept, target)
      // The key of a built-in object does not contain the API group, so compare the group in the
      // object itself.
      if (filter.group === undefined || filter.group === write.group) writes.push(write)
    }
    return writes
  }

  /** Returns the writes and the refused requests, the oldest first. */
  timeline(filter: HistoryFilter): TimelineEntry[] {
    const after = filter.after === undefined ? -Infinity : Number(filter.after)
    const refusals = [...this.#refusals.all()].filter(
      (refusal) =>
        refusal.revision >= after &&
        isMatchButGroup(refusal, filter) &&
        (filter.group === undefined || filter.group === refusal.group),
    )
    return mergeTimeline(this.read(filter), refusals)
  }

  #refuse(origin: RequestOrigin, info: ResourceInfo, response: RefusedResponse): void {
    if (!this.#isOn) return
    const { verb, subresource } = info
    const context = {
      info,
      sender: { ...this.#senderOf(origin), verb, subresource: ownText(subresource) },
      timeMs: this.#options.wallMs(),
      revision: this.#options.revision(),
      isAuthorized: origin.context?.decision?.verdict === 'allow',
    }
    this.#refusals.add(context, response)
  }

  #describe(): RequestSender {
    const asking = this.#asking.getStore()
    if (asking === undefined) return nobody
    return 'fixed' in asking ? asking.fixed : this.#senderOf(asking)
  }

  #senderOf({ context, request, isOwn }: RequestOrigin): RequestSender {
    const user = context?.knownUser
    const userAgent = firstHeader(request.headers, 'user-agent') ?? ''
    const manager = request.query.get('fieldManager') ?? ''
    return {
      verb: context?.info.verb ?? '',
      subresource: context?.info.kind === 'resource' ? context.info.subresource : '',
      source: this.#testRequests.has(request) ? 'test' : isOwn ? 'server' : 'client',
      user: user && { name: user.name, groups: user.groups },
      userAgent,
      fieldManager: manager === '' ? managerOfAgent(userAgent) : ownText(manager),
    }
  }
}

/** The lowest HTTP status of an error. */
const ERROR_MIN = 400

const nobody: RequestSender = {
  verb: '',
  subresource: '',
  source: 'server',
  user: undefined,
  userAgent: '',
  fieldManager: '',
}

const bytesOf = ({ event, before, asking }: HistoryEntry): number =>
  event.value.length + (before?.value.length ?? 0) + charactersOf(asking) + ENTRY_BYTES

/**
 * Parses a key: `<root><folder>/[<namespace>/]<name>`. The folder of a custom resource begins with
 * its group, which contains a dot.
 */
function targetOfKey(key: Key, root: string): RequestTarget {
  const parts = key.slice(root.length).split('/')
  const [first = '', second = ''] = parts
  const isInGroup = first.includes('.') || first === 'services'
  const folder = isInGroup ? `${first}/${second}` : first
  const [namespace = '', name = ''] = withNamespace(parts.slice(isInGroup ? 2 : 1))
  return {
    resource: resourceOfFolder(folder),
    group: first.includes('.') ? first : '',
    namespace,
    name,
  }
}

const withNamespace = (parts: readonly string[]): readonly string[] =>
  parts.length > 1 ? parts : ['', ...parts]

function toWrite(
  { event, timeMs, before: earlier, asking }: HistoryEntry,
  target: RequestTarget,
): Write {
  const object = event.type === 'put' ? decode(event) : undefined
  const before = earlier === undefined ? undefined : decode(earlier)
  const apiVersion = (object ?? before)?.apiVersion ?? ''
  return {
    resourceVersion: String(event.revision),
    time: new Date(timeMs),
    operation: event.type === 'delete' ? 'delete' : before === undefined ? 'create' : 'update',
    ...target,
    group: apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : target.group,
    ...asking,
    object,
    before,
    owners: ownersOf(object ?? before),
  }
}

/**
 * Decodes a stored value. Returns undefined for an internal record of the server that is not an
 * object.
 */
function decode({
  value,
  revision,
}: Pick<VersionedValue, 'value' | 'revision'>): StoredObject | undefined {
  try {
    const parsed: unknown = parseJson(value)
    if (!isStoredObject(parsed)) return undefined
    return { ...parsed, metadata: { ...parsed.metadata, resourceVersion: String(revision) } }
  } catch {
    // Custom resources may be stored as CBOR (feature gate CBORServingAndStorage).
    return undefined
  }
}

function ownersOf(object: StoredObject | undefined): FieldOwner[] {
  const entries = object?.metadata.managedFields ?? []
  return entries.map(({ manager = '', operation = '', subresource = '', fieldsV1 = {} }) => {
    const set = parseFieldsV1(JSON.stringify(fieldsV1))
    return {
      manager,
      operation,
      subresource,
      fields: set === undefined ? [] : [...pathsOf(set, '')],
    }
  })
}

function* pathsOf({ isOwned, children }: FieldSet, path: string): Generator<string> {
  if (isOwned && path !== '') yield path
  for (const [element, child] of children) yield* pathsOf(child, `${path}${printElement(element)}`)
}
