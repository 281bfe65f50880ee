/**
 * A simulated remote API server in the process of a test. It serves the resource `things` of
 * `remote.example.com`, with list, watch, get, patch and delete.
 */
import { fieldsOf, type KubeObject, textOf, textsOf } from '../../../src/api/object.ts'
import type { Handler } from '../../../src/api/request.ts'
import type { ApiRequest, ApiResponse } from '../../../src/api/request.ts'
import type {
  RemoteApis,
  RemoteResource,
  RemoteVersion,
} from '../../../src/controllers/remote/remote-content.ts'

const group = 'remote.example.com'
export const things: RemoteResource = {
  group,
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  isNamespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'watch'],
}

const root = `/apis/${group}/v1`
const json = { 'content-type': 'application/json' }

type Watcher = { readonly waiting: Buffer[]; wake: () => void; isOver: boolean }

/**
 * Returns a response to a request. If it returns undefined, the server sends its usual response.
 */
export type Answer = (request: ApiRequest) => ApiResponse | Promise<ApiResponse> | undefined

export const answering = (status: number, body: string): ApiResponse => ({
  status,
  headers: json,
  body: Buffer.from(body),
})

export class RemoteApiServer {
  readonly objects = new Map<string, KubeObject>()
  readonly asked: string[] = []
  /** Called before each request. It can return a response that replaces the usual one. */
  answer: Answer = () => undefined
  readonly apis: RemoteApis
  readonly #watchers = new Set<Watcher>()
  readonly #listeners = new Set<() => void>()
  #versions: readonly RemoteVersion[] = [{ group, version: 'v1', resources: [things] }]
  #revision = 1

  constructor() {
    this.apis = {
      content: () => ({ resources: [], stale: [] }),
      versions: () => this.#versions,
      onChange: (listener) => {
        this.#listeners.add(listener)
        return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
      },
    }
  }

  /** Sets the content of the discovery documents. */
  discover(versions: readonly RemoteVersion[]): void {
    this.#versions = versions
    for (const listener of this.#listeners) listener()
  }

  create(name: string, more: Partial<KubeObject['metadata']> = {}): KubeObject {
    const metadata = {
      namespace: 'n',
      name,
      uid: `uid-${name}`,
      resourceVersion: `${++this.#revision}`,
      ...more,
    }
    const object = { apiVersion: `${group}/v1`, kind: 'Thing', metadata }
    this.#emit('ADDED', `${root}/namespaces/${metadata.namespace}/things/${name}`, object)
    return object
  }

  remove(name: string, namespace = 'n'): void {
    const path = `${root}/namespaces/${namespace}/things/${name}`
    const object = this.objects.get(path)
    if (object !== undefined) this.#emit('DELETED', path, object)
  }

  /** Ends all watches. */
  endWatches(): void {
    for (const watcher of this.#watchers) {
      watcher.isOver = true
      watcher.wake()
    }
    this.#watchers.clear()
  }

  get watchers(): number {
    return this.#watchers.size
  }

  /**
   * Returns a handler that serves this server's API group and passes other requests to another
   * handler.
   */
  before(handle: Handler): Handler {
    return async (request, user) => {
      if (!request.path.startsWith(`/apis/${group}/`)) return handle(request, user)
      this.asked.push(`${request.method} ${request.path}`)
      return (await this.answer(request)) ?? (await this.#answer(request))
    }
  }

  async #answer(request: ApiRequest): Promise<ApiResponse> {
    const { method, path, query } = request
    const object = this.objects.get(path)
    if (path === `${root}/things`) {
      if (query.get('watch') === 'true') return this.#watch(request.signal)
      const items = [...this.objects.values()]
      const metadata = { resourceVersion: `${this.#revision}` }
      return answering(200, JSON.stringify({ kind: 'ThingList', metadata, items }))
    }
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (object === undefined) return answering(404, notFound(name))
    if (method === 'DELETE') {
      if ((object.metadata.finalizers ?? []).length === 0) this.#emit('DELETED', path, object)
      else
        this.#emit('MODIFIED', path, {
          ...object,
          metadata: { ...object.metadata, deletionTimestamp: 'now' },
        })
    }
    if (method === 'PATCH') {
      const body = fieldsOf(JSON.parse((await request.body()).toString()))
      const { finalizers, ownerReferences } = fieldsOf(body['metadata'])
      const metadata = { ...object.metadata, resourceVersion: `${++this.#revision}` }
      const patched = JSON.parse(
        JSON.stringify({ ...object, metadata: { ...metadata, finalizers, ownerReferences } }),
      )
      const isOver =
        textsOf(finalizers).length === 0 && textOf(object.metadata.deletionTimestamp) !== ''
      this.#emit(isOver ? 'DELETED' : 'MODIFIED', path, patched)
    }
    return answering(200, JSON.stringify(this.objects.get(path) ?? object))
  }

  #emit(type: string, path: string, object: KubeObject): void {
    if (type === 'DELETED') this.objects.delete(path)
    else this.objects.set(path, object)
    for (const watcher of this.#watchers) {
      watcher.waiting.push(Buffer.from(`${JSON.stringify({ type, object })}\n`))
      watcher.wake()
    }
  }

  #watch(signal: AbortSignal): ApiResponse {
    const watcher: Watcher = { waiting: [], wake: () => undefined, isOver: false }
    this.#watchers.add(watcher)
    const close = (): void => {
      watcher.isOver = true
      this.#watchers.delete(watcher)
      watcher.wake()
    }
    signal.addEventListener('abort', close, { once: true })
    const frames = {
      take: () =>
        watcher.waiting.length > 0 || !watcher.isOver ? watcher.waiting.splice(0) : undefined,
      onReady: (ready: () => void) => {
        if (watcher.waiting.length > 0 || watcher.isOver) queueMicrotask(ready)
        else watcher.wake = ready
      },
      close,
    }
    return { status: 200, headers: json, frames }
  }
}

export const notFound = (name: string): string =>
  JSON.stringify({
    kind: 'Status',
    status: 'Failure',
    reason: 'NotFound',
    details: { name },
    code: 404,
  })
