/**
 * Records all writes of a cluster, with the users and requests that made them. The store reports
 * each change in the asynchronous context of its request. Objects are decoded only when the history
 * is read.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RequestContext } from '../../api/context.ts'
import { parseJson } from '../../api/json-value.ts'
import { type ApiRequest, type Handler, firstHeader } from '../../api/request.ts'
import { parseFieldsV1 } from '../../objects/apply/fields-v1.ts'
import type { FieldSet } from '../../objects/apply/field-set.ts'
import { printElement } from '../../objects/apply/path-element.ts'
import { Deque } from '../../lib/collections/deque.ts'
import type { FeedEvent, Key, VersionedValue } from '../../storage/engine.ts'
import { resourceOfFolder } from '../../storage/keys.ts'
import type { Commit } from '../../storage/local-feed-stream.ts'

/** An object in the form in which the API returns it. */
export type StoredObject = {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name?: string
    readonly namespace?: string
    readonly uid?: string
    readonly managedFields?: readonly ManagedFields[]
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

type ManagedFields = {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
  readonly fieldsV1?: unknown
}

/** The fields of an object that a manager owns, from its managedFields. */
export type FieldOwner = {
  readonly manager: string
  readonly operation: string
  /** Empty for the object itself; otherwise the subresource. */
  readonly subresource: string
  /** Paths such as `.spec.replicas` and `.spec.containers[name="x"].image`. */
  readonly fields: readonly string[]
}

export type Write = {
  /**
   * The resourceVersion that the write assigned or, for a deletion, the object's last
   * resourceVersion.
   */
  readonly resourceVersion: string
  /** The time according to the clock of the cluster. */
  readonly time: Date
  /** The type of the change. */
  readonly operation: 'create' | 'update' | 'delete'
  /**
   * The verb of the request, such as `create`, `update`, `patch` or `delete`. Empty if the change
   * was not made by a request, for example if an Event expired.
   */
  readonly verb: string
  /** The plural name, such as `configmaps`. */
  readonly resource: string
  /** The API group. Empty for the core group. */
  readonly group: string
  /** The subresource of the request. Empty for the object itself. */
  readonly subresource: string
  /** The namespace. Empty if the resource is not namespaced. */
  readonly namespace: string
  readonly name: string
  /**
   * The origin of the change: `client`; `test` for `cluster.request` and `restore`; `server` for
   * the server itself and its controllers.
   */
  readonly source: 'client' | 'test' | 'server'
  /** Undefined if the change was not made by a request. */
  readonly user: { readonly name: string; readonly groups: readonly string[] } | undefined
  readonly userAgent: string
  /** The object after the write, or undefined if it was deleted. */
  readonly object: StoredObject | undefined
  /** The object before the write, or undefined if it was created. */
  readonly before: StoredObject | undefined
  /** The field owners after the write or, for a deletion, before it. */
  readonly owners: readonly FieldOwner[]
}

export type HistoryFilter = {
  readonly resource?: string
  readonly group?: string
  readonly namespace?: string
  readonly name?: string
  readonly user?: string
  readonly verb?: string
  readonly source?: Write['source']
  /** Selects only writes after this resourceVersion. */
  readonly after?: string
}

/** The origin of a change: a request, or a fixed description. */
type ChangeOrigin =
  | { readonly request: ApiRequest; readonly isOwn: boolean; context: RequestContext | undefined }
  | { readonly fixed: HistoryEntry['asking'] }

type HistoryEntry = {
  readonly event: FeedEvent
  readonly timeMs: number
  readonly before: VersionedValue | undefined
  readonly asking: Pick<Write, 'verb' | 'subresource' | 'source' | 'user' | 'userAgent'>
}

/** Maximum size of the recorded objects, users and requests. The oldest writes are dropped. */
const BYTES_MAX = 64 << 20

export class History {
  readonly #asking = new AsyncLocalStorage<ChangeOrigin>()
  readonly #testRequests = new WeakSet<ApiRequest>()
  readonly #kept = new Deque<HistoryEntry>()
  readonly #wallMs: () => number
  readonly #root: string
  #bytes = 0
  #isOn = false

  constructor({ wallMs, root }: { readonly wallMs: () => number; readonly root: string }) {
    this.#wallMs = wallMs
    this.#root = root
  }

  /**
   * Starts to record. Earlier writes create the initial state of the cluster and are not part of a
   * test.
   */
  start(): void {
    this.#isOn = true
  }

  /** Marks a request as sent by the test itself. */
  ofTest(request: ApiRequest): ApiRequest {
    this.#testRequests.add(request)
    return request
  }

  readonly aroundRequest =
    (handle: Handler): Handler =>
    (request, knownUser) => {
      const asking = { request, isOwn: knownUser !== undefined, context: undefined }
      return this.#asking.run(asking, () => handle(request, knownUser))
    }

  readonly onContext = (context: RequestContext): void => {
    const asking = this.#asking.getStore()
    if (asking !== undefined && 'context' in asking) asking.context = context
  }

  /** Runs code that does not count as part of a request, even if a request triggered it. */
  outside<T>(run: () => T): T {
    return this.#asking.run({ fixed: nobody }, run)
  }

  /** Runs code that restores an earlier state. */
  restoring<T>(run: () => T): T {
    return this.#asking.run({ fixed: { ...nobody, verb: 'restore', source: 'test' } }, run)
  }

  clear(): void {
    this.#kept.clear()
    this.#bytes = 0
  }

  /** Records a commit. `before` returns the previous value of a key. */
  add({ events }: Commit, before: (event: FeedEvent) => VersionedValue | undefined): void {
    if (!this.#isOn) return
    const asking = this.#describe()
    const timeMs = this.#wallMs()
    for (const event of events) {
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
      const target = targetOf(kept.event.key, this.#root)
      if (!isWanted({ ...target, ...kept.asking }, filter)) continue
      const write = toWrite(kept, target)
      // For a built-in resource, only the object contains the group.
      if (filter.group === undefined || filter.group === write.group) writes.push(write)
    }
    return writes
  }

  #describe(): HistoryEntry['asking'] {
    const asking = this.#asking.getStore()
    if (asking === undefined) return nobody
    if ('fixed' in asking) return asking.fixed
    const { context, request, isOwn } = asking
    const user = context?.knownUser
    return {
      verb: context?.info.verb ?? '',
      subresource: context?.info.kind === 'resource' ? context.info.subresource : '',
      source: this.#testRequests.has(request) ? 'test' : isOwn ? 'server' : 'client',
      user: user && { name: user.name, groups: user.groups },
      userAgent: firstHeader(request.headers, 'user-agent') ?? '',
    }
  }
}

const nobody: HistoryEntry['asking'] = {
  verb: '',
  subresource: '',
  source: 'server',
  user: undefined,
  userAgent: '',
}

function bytesOf({ event, before, asking: { userAgent, user } }: HistoryEntry): number {
  const texts = [userAgent, user?.name ?? '', ...(user?.groups ?? [])]
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  return event.value.length + (before?.value.length ?? 0) + characters + ENTRY_BYTES
}
/** The estimated size of an entry, excluding its data. */
const ENTRY_BYTES = 256

type Target = Pick<Write, 'resource' | 'group' | 'namespace' | 'name'>

/**
 * Parses a key: `<root><folder>/[<namespace>/]<name>`. The folder of a custom resource begins with
 * its group, which contains a dot.
 */
function targetOf(key: Key, root: string): Target {
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

function isWanted(one: Target & HistoryEntry['asking'], filter: HistoryFilter): boolean {
  const { user, after: _, group: __, ...others } = filter
  if (user !== undefined && one.user?.name !== user) return false
  const texts: ReadonlyMap<string, unknown> = new Map(Object.entries(one))
  return Object.entries(others).every(
    ([field, wanted]) => wanted === undefined || texts.get(field) === wanted,
  )
}

function toWrite({ event, timeMs, before: earlier, asking }: HistoryEntry, target: Target): Write {
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
    if (!isObject(parsed)) return undefined
    return { ...parsed, metadata: { ...parsed.metadata, resourceVersion: String(revision) } }
  } catch {
    // Custom resources may be stored as CBOR (feature gate CBORServingAndStorage).
    return undefined
  }
}

const isObject = (value: unknown): value is StoredObject =>
  typeof value === 'object' &&
  value !== null &&
  'metadata' in value &&
  typeof value.metadata === 'object'

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
