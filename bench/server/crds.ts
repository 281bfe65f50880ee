/**
 * A client that creates CustomResourceDefinitions by the thousand and requests the resources that
 * they define.
 */
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_TOKEN } from '../../test/support/harness/api-server.ts'

const PER_GROUP = 10
const FIELDS = 60
const AT_ONCE = 16
const LOOK_AGAIN_MS = 50
export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const OK = 200
const CREATED = 201
const NOT_FOUND = 404

type SentRequest = {
  readonly method?: string
  readonly path: string
  readonly body?: object
  readonly accept?: string
}
type Answer = { readonly status: number; readonly body: Buffer }

export const groupOf = (at: number): string => `g${Math.floor(at / PER_GROUP)}.bench.example.com`
const pluralOf = (at: number): string => `things${at}`
const nameOf = (at: number): string => `${pluralOf(at)}.${groupOf(at)}`
const collectionOf = (at: number): string =>
  `/apis/${groupOf(at)}/v1/namespaces/default/${pluralOf(at)}`

/** Returns a CustomResourceDefinition of a kind whose schema has 60 fields with descriptions. */
export function definition(at: number): object {
  const properties = Object.fromEntries(
    Array.from({ length: FIELDS }, (_, field) => [
      `field${field}`,
      {
        type: 'string',
        description: `What field ${field} of this kind is about, in one line.`,
        maxLength: 100,
      },
    ]),
  )
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties }, status: { type: 'object' } },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: nameOf(at) },
    spec: {
      group: groupOf(at),
      scope: 'Namespaced',
      names: { plural: pluralOf(at), kind: `Thing${at}` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
}

export class DefinitionsClient implements Disposable {
  readonly #session: ClientHttp2Session

  constructor(url: string) {
    this.#session = connect(url, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: 4 << 20 },
    })
    this.#session.on('connect', () => this.#session.setLocalWindowSize(16 << 20))
    this.#session.setMaxListeners(0)
  }

  [Symbol.dispose](): void {
    this.#session.destroy()
  }

  async create(at: number): Promise<void> {
    const { status, body } = await this.ask({
      method: 'POST',
      path: definitionsPath,
      body: definition(at),
    })
    if (status !== CREATED)
      throw new Error(`definition ${at}: ${status} ${body.toString().slice(0, 500)}`)
  }

  createAll(count: number): Promise<void> {
    return inParallel(count, (at) => this.create(at))
  }

  /**
   * Checks all definitions with one discovery request. Requests for the resources themselves are
   * not used, because the duration of the first request for each resource is measured elsewhere.
   */
  async waitUntilServed(count: number): Promise<void> {
    for (;;) {
      const { body } = await this.ask({ path: '/apis', accept: aggregated })
      if ((body.toString().match(/"resource":"things\d+"/g)?.length ?? 0) === count) return
      await sleep(LOOK_AGAIN_MS)
    }
  }

  async delete(at: number): Promise<void> {
    await this.ask({ method: 'DELETE', path: `${definitionsPath}/${nameOf(at)}` })
  }

  async deleteAll(count: number): Promise<void> {
    await inParallel(count, (at) => this.delete(at))
    while (
      (await this.ask({ path: `${definitionsPath}?limit=1` })).body.includes('"name":"things')
    ) {
      await sleep(LOOK_AGAIN_MS)
    }
  }

  async createObject(at: number): Promise<void> {
    const spec = { field0: 'a' }
    const body = {
      apiVersion: `${groupOf(at)}/v1`,
      kind: `Thing${at}`,
      metadata: { name: 'first' },
      spec,
    }
    const { status } = await this.ask({ method: 'POST', path: collectionOf(at), body })
    if (status !== CREATED) throw new Error(`an object of definition ${at}: ${status}`)
  }

  /** Repeats a request until the server serves the objects of a definition. */
  async waitForCollection(at: number): Promise<void> {
    while ((await this.ask({ path: collectionOf(at) })).status !== OK) continue
  }

  /**
   * Waits until the definition is deleted, then until its objects are no longer served. Returns the
   * duration of the second wait.
   */
  async waitUntilWithdrawn(at: number): Promise<number> {
    while ((await this.ask({ path: `${definitionsPath}/${nameOf(at)}` })).status !== NOT_FOUND)
      continue
    const began = performance.now()
    while ((await this.ask({ path: collectionOf(at) })).status !== NOT_FOUND) continue
    return performance.now() - began
  }

  aggregated(): Promise<Answer> {
    return this.ask({ path: '/apis', accept: aggregated })
  }

  ask({ method = 'GET', path, body, accept = 'application/json' }: SentRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const stream = this.#session.request({
        [constants.HTTP2_HEADER_METHOD]: method,
        [constants.HTTP2_HEADER_PATH]: path,
        authorization: `Bearer ${ADMIN_TOKEN}`,
        accept,
        'content-type': 'application/json',
      })
      const chunks: Buffer[] = []
      let status = 0
      stream.on('response', (headers) => {
        status = Number(headers[constants.HTTP2_HEADER_STATUS])
      })
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => resolve({ status, body: Buffer.concat(chunks) }))
      stream.on('error', reject)
      stream.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }
}

async function inParallel(count: number, run: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
