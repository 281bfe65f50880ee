/**
 * Runs one API server, Keelson or kube-apiserver, with the environment of a product. The
 * environment consists of etcd, kube-controller-manager, a client that records every response, and
 * the processes of the product. These processes have the permissions of their ServiceAccounts.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Client,
  createClient,
  type HttpAnswer,
  mediaType,
  parseBody,
} from '../../recorded/compat/client.ts'
import type { Json, JsonObject } from '../../recorded/compat/json.ts'
import type { ApiServerProcess } from '../../support/harness/api-server.ts'
import { Component, startComponent } from '../../support/harness/component.ts'
import { freePorts, startEtcd } from '../../support/harness/etcd.ts'
import { startKeelson } from '../../support/harness/keelson.ts'
import { kubectlFor } from '../../support/harness/kubectl.ts'
import { startReference } from '../../support/harness/reference.ts'
import { arrayAt, at, textAt } from './fields.ts'

/** Maximum time for waits. Busy machines are many times slower than idle ones. */
const WAIT_MAX_MS = 120_000
const WAIT_POLL_MS = 250
/** Time after which an unchanged object counts as settled. Controllers react faster than this. */
const SETTLED_MS = 2_000
const WATCH_S = 2
/** Lifetime of tokens, longer than the longest run. */
const TOKEN_LIFE_S = 4 * 3600

/**
 * Controllers of kube-controller-manager that products need. Controllers of workloads are left out,
 * because their Pods would not run.
 */
const CONTROLLERS = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
  'resourcequota-controller',
  'validatingadmissionpolicy-status-controller',
]

export type ServerName = 'keelson' | 'reference'

/** A response, recorded under the name of its step. */
export type Step = {
  readonly name: string
  readonly status: number
  readonly warnings: readonly string[]
  readonly body: Json
}

/** The kind, name and namespace that identify an object. */
export type Ref = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name?: string
    readonly namespace?: string
    readonly [field: string]: unknown
  }
}

export type Write = {
  /** Short name for the content type of a patch: json-patch, merge, strategic, apply-yaml. */
  readonly type?: string
  readonly subresource?: string
  readonly query?: string
}

export type Product = {
  readonly name: string
  /** Installs the product, starts it and runs its scenarios. */
  readonly play: (stage: Stage) => Promise<void>
}

export class Stage implements AsyncDisposable {
  readonly steps: Step[] = []
  /** Snapshots of all objects. The key describes the moment of the snapshot. */
  readonly snapshots = new Map<string, JsonObject>()
  readonly server: ApiServerProcess
  /**
   * An address in the range of Service IPs, which is also a local address of this machine. A
   * process that listens there is reachable as a Service.
   */
  readonly clusterIp: string
  readonly dir: string
  readonly #client: Client
  readonly #stack: AsyncDisposableStack
  readonly #components: Component[] = []
  /**
   * Path of the collection of each kind, relative to the API root. The key is `apiVersion/kind`.
   */
  readonly #places = new Map<string, { readonly path: string; readonly isNamespaced: boolean }>()

  constructor(
    server: ApiServerProcess,
    dir: string,
    clusterIp: string,
    stack: AsyncDisposableStack,
  ) {
    this.server = server
    this.dir = dir
    this.clusterIp = clusterIp
    this.#client = createClient({ server: server.url, token: server.token })
    this.#stack = stack
    stack.use(this.#client)
  }

  /**
   * Sends a request and records the response. `name` describes the step in the recorded outcome.
   */
  async step(
    name: string,
    method: string,
    ref: Ref,
    body?: object,
    how: Write = {},
  ): Promise<Json> {
    const answer = await this.#send(method, ref, body, how)
    const kept = parseBody(answer.raw, answer.headers['content-type'])
    const { warning } = answer.headers
    const warnings = typeof warning === 'string' ? [warning] : (warning ?? [])
    this.steps.push({ name, status: answer.status, warnings, body: kept })
    console.log(`    ${answer.status} ${name}`)
    return kept
  }

  create(name: string, object: Ref, how?: Write): Promise<Json> {
    return this.step(name, 'POST', object, object, how)
  }

  patch(name: string, ref: Ref, body: object, how: Write = {}): Promise<Json> {
    return this.step(name, 'PATCH', ref, body, { type: 'merge', ...how })
  }

  /** Sends the whole object as a server-side apply, and records the response. */
  apply(name: string, object: Ref, query = 'fieldManager=stage'): Promise<Json> {
    return this.step(name, 'PATCH', object, object, { type: 'apply-yaml', query })
  }

  /**
   * Creates objects without recording the responses. Throws an error if the server rejects an
   * object.
   */
  async install(objects: readonly Ref[]): Promise<void> {
    for (const object of objects) {
      const { status, raw } = await this.#send('POST', object, object, {})
      if (status !== 201)
        throw new Error(`${object.kind} ${object.metadata.name} was rejected: ${raw.toString()}`)
    }
  }

  /** Returns the object, or undefined if it does not exist. */
  async find(ref: Ref): Promise<JsonObject | undefined> {
    const { status, raw } = await this.#send('GET', ref, undefined, {})
    if (status === 404) return undefined
    if (status !== 200)
      throw new Error(`GET ${ref.kind} ${ref.metadata.name}: ${status} ${raw.toString()}`)
    return objectOf(parseBody(raw, 'json'))
  }

  async list(path: string): Promise<readonly JsonObject[]> {
    const { status, raw } = await this.#client.request({ method: 'GET', path })
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${raw.toString()}`)
    const items = objectOf(parseBody(raw, 'json'))['items']
    return Array.isArray(items) ? items.map(objectOf) : []
  }

  /** Returns whether the server serves the kind. */
  async isServed(ref: Ref): Promise<boolean> {
    await this.#discover(ref.apiVersion)
    if (!this.#places.has(`${ref.apiVersion}/${ref.kind}`)) return false
    const { status, raw } = await this.#send('GET', ref, undefined, {})
    return status === 200 || raw.includes('"details":{"name"')
  }

  /**
   * Sends a write without recording the response. Throws an error if the server rejects the write.
   */
  async write(method: string, ref: Ref, body?: object, how: Write = {}): Promise<JsonObject> {
    const { status, raw } = await this.#send(method, ref, body, how)
    if (status >= 300)
      throw new Error(`${method} ${ref.kind} ${ref.metadata.name}: ${status} ${raw.toString()}`)
    return objectOf(parseBody(raw, 'json'))
  }

  /** Returns the paths of all resources that can be listed, in all versions. */
  async listables(): Promise<readonly string[]> {
    const found: string[] = []
    for (const root of await this.#roots()) {
      for (const resource of await this.#resources(root)) {
        if (arrayAt(resource, 'verbs').includes('list'))
          found.push(`${root}/${textAt(resource, 'name')}`)
      }
    }
    return found
  }

  /** Waits until controllers have produced the expected result. */
  async until(what: string, isThere: () => Promise<boolean>): Promise<void> {
    const began = performance.now()
    while (!(await isThere())) {
      if (performance.now() - began > WAIT_MAX_MS)
        throw new Error(`${what}: not reached within ${WAIT_MAX_MS / 1000} s`)
      await sleep(WAIT_POLL_MS)
    }
    console.log(`        ${what} after ${((performance.now() - began) / 1000).toFixed(1)} s`)
  }

  /** Waits until controllers no longer change an object. */
  async settled(ref: Ref): Promise<void> {
    let version = ''
    let since = performance.now()
    await this.until(`${ref.kind} ${ref.metadata.name} is settled`, async () => {
      const now = textAt(await this.find(ref), 'metadata', 'resourceVersion')
      if (now !== version) since = performance.now()
      version = now
      return performance.now() - since > SETTLED_MS
    })
  }

  /**
   * Watches the collection that contains `ref`, and records the events, including those for
   * existing objects.
   */
  async watch(name: string, ref: Ref): Promise<void> {
    const path = await this.#pathOf(ref, true)
    const query = `watch=true&resourceVersion=0&timeoutSeconds=${WATCH_S}`
    const { status, raw } = await this.#client.request({ method: 'GET', path: `${path}?${query}` })
    const lines = raw
      .toString()
      .split('\n')
      .filter((line) => line !== '')
    this.steps.push({
      name,
      status,
      warnings: [],
      body: lines.map((line) => parseBody(Buffer.from(line), 'json')),
    })
    console.log(`    ${status} ${name}`)
  }

  /** Masks the addresses in a text, because each run uses different ones. */
  hide(text: string): string {
    return text
      .replaceAll(this.server.url, '<server>')
      .replaceAll(new URL(this.server.url).port, '<port>')
      .replaceAll(this.clusterIp.replace(/\.\d+$/, '.'), '<network>.')
      .replaceAll(this.server.dir, '<server dir>')
      .replaceAll(this.dir, '<dir>')
      .replace(/https:\/\/127\.0\.0\.1:\d+/g, '<webhook>')
  }

  /** Returns the path of a kubeconfig with a token of a ServiceAccount. */
  async kubeconfigOf(namespace: string, account: string): Promise<string> {
    const ref: Ref = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: account, namespace },
    }
    const request = { spec: { expirationSeconds: TOKEN_LIFE_S } }
    const token = textAt(
      await this.write('POST', ref, request, { subresource: 'token' }),
      'status',
      'token',
    )
    const kubectl = this.#stack.use(await kubectlFor(this.server, { token }))
    return join(kubectl.dir, 'config')
  }

  /** Starts one of the product's processes. */
  async startProcess(
    tool: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
  ): Promise<Component> {
    const dir = await mkdtemp(join(tmpdir(), `keelson-${tool}-`))
    const component = this.#stack.use(new Component(tool, dir, args, { ...process.env, ...env }))
    this.#components.push(component)
    return component
  }

  get components(): readonly Component[] {
    return this.#components
  }

  /** Waits until a process reports on its own address that it is ready. */
  untilReady(what: string, url: string): Promise<void> {
    return this.until(what, () => answersOk(url))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  async #send(method: string, ref: Ref, body: object | undefined, how: Write): Promise<HttpAnswer> {
    const path = await this.#pathOf(ref, method === 'POST' && how.subresource === undefined)
    const subresource = how.subresource === undefined ? '' : `/${how.subresource}`
    const query = how.query === undefined ? '' : `?${how.query}`
    return await this.#client.request({
      method,
      path: `${path}${subresource}${query}`,
      headers: { 'content-type': mediaType(how.type ?? 'application/json') },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  }

  async #pathOf({ apiVersion, kind, metadata }: Ref, isCollection: boolean): Promise<string> {
    const key = `${apiVersion}/${kind}`
    if (!this.#places.has(key)) await this.#discover(apiVersion)
    const place = this.#places.get(key)
    if (place === undefined) throw new Error(`the server has no ${kind} in ${apiVersion}`)
    const root = rootOf(apiVersion)
    const { namespace, name } = metadata
    const collection = place.isNamespaced
      ? `namespaces/${namespace ?? 'default'}/${place.path}`
      : place.path
    return isCollection ? `${root}/${collection}` : `${root}/${collection}/${name ?? ''}`
  }

  async #discover(apiVersion: string): Promise<void> {
    for (const resource of await this.#resources(rootOf(apiVersion))) {
      const path = textAt(resource, 'name')
      if (path.includes('/')) continue
      const isNamespaced = at(resource, 'namespaced') === true
      this.#places.set(`${apiVersion}/${textAt(resource, 'kind')}`, { path, isNamespaced })
    }
  }

  async #roots(): Promise<readonly string[]> {
    const groups = arrayAt(await this.#document('/apis'), 'groups')
    const versions = groups.flatMap((group) => arrayAt(group, 'versions'))
    return ['/api/v1', ...versions.map((version) => `/apis/${textAt(version, 'groupVersion')}`)]
  }

  async #resources(root: string): Promise<readonly unknown[]> {
    return arrayAt(await this.#document(root), 'resources')
  }

  async #document(path: string): Promise<Json> {
    const { raw } = await this.#client.request({ method: 'GET', path })
    return parseBody(raw, 'json')
  }
}

export async function startStage(name: ServerName): Promise<Stage> {
  await using stack = new AsyncDisposableStack()
  const etcd = stack.use(await startEtcd())
  // A random network on the loopback interface, so that concurrent runs do not use the same
  // addresses.
  const network = `127.${byte()}.${byte()}`
  const options = {
    etcdUrl: etcd.clientUrl,
    args: ['--disable-admission-plugins=', `--service-cluster-ip-range=${network}.0/24`],
    omit: ['service-cluster-ip-range', 'disable-admission-plugins'],
  }
  const server = stack.use(
    await (name === 'reference' ? startReference(options) : startKeelson(options)),
  )
  const kubectl = stack.use(await kubectlFor(server))
  stack.use(
    await startComponent('kube-controller-manager', join(kubectl.dir, 'config'), [
      `--controllers=${CONTROLLERS.join(',')}`,
      `--service-account-private-key-file=${join(server.dir, 'sa.key')}`,
      `--root-ca-file=${join(server.dir, 'apiserver.crt')}`,
      '--leader-elect=false',
    ]),
  )
  const dir = await mkdtemp(join(tmpdir(), 'keelson-products-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  return new Stage(server, dir, `${network}.10`, stack.move())
}

const byte = (): number => 1 + Math.floor(Math.random() * 250)

export const freePort = async (): Promise<number> => (await freePorts(1))[0] ?? 0

const rootOf = (apiVersion: string): string =>
  apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`

function objectOf(value: Json): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`an object was expected, not ${JSON.stringify(value)}`)
  return value
}

const answersOk = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    get(url, { agent: false, timeout: 2000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
      .on('timeout', () => resolve(false))
      .on('error', () => resolve(false))
  })
