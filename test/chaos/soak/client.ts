/**
 * An HTTP/2 client that reconnects when its connection is lost, as client-go does. It never retries
 * a request automatically.
 */
import { once } from 'node:events'
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { PassThrough, pipeline, type Readable } from 'node:stream'
import type { Json } from '../../../src/api/object.ts'
import { ADMIN_TOKEN } from '../../support/harness/api-server.ts'

/** Time after which a response counts as lost. */
const ANSWER_MS_MAX = 30_000

export type Metadata = { readonly name: string; readonly resourceVersion: string }
export type SoakObject = {
  readonly metadata: Metadata
  readonly data?: { readonly value?: string }
}
export type Answer = { readonly status: number; readonly body: Json }

type RequestOptions = { readonly body?: unknown; readonly type?: string }
type OpenedStream = {
  readonly stream: ClientHttp2Stream
  readonly text: Readable
  readonly status: number
}

export class SoakClient implements Disposable {
  readonly #url: string
  readonly #token: string
  #session: ClientHttp2Session | undefined

  constructor(url: string, token = ADMIN_TOKEN) {
    this.#url = url
    this.#token = token
  }

  /**
   * Sends a request. Rejects if there is no response. The outcome of the request is then unknown.
   */
  async call(
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<Answer> {
    const { text, status } = await this.#open(method, path, { body, type })
    let whole = ''
    for await (const part of text) whole += part
    // The JSON is incomplete if the connection was closed during the response, even if the stream
    // reported no error. Parsing then throws an error.
    const answer: Json = JSON.parse(whole)
    return { status, body: answer }
  }

  /**
   * Yields the events of a watch as they arrive. Rejects if the watch fails; ends when the server
   * ends it.
   */
  async *lines(path: string): AsyncGenerator<Json, void, void> {
    const { stream, text, status } = await this.#open('GET', path)
    try {
      if (status !== 200) throw new Error(`GET ${path}: ${status}`)
      let rest = ''
      for await (const part of text) {
        const lines = (rest + part).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) yield JSON.parse(line)
      }
    } finally {
      stream.close()
    }
  }

  [Symbol.dispose](): void {
    this.#session?.destroy()
  }

  async #open(
    method: string,
    path: string,
    { body, type }: RequestOptions = {},
  ): Promise<OpenedStream> {
    const headers = { ':method': method, ':path': path, authorization: `Bearer ${this.#token}` }
    const stream = this.#connected().request(
      body === undefined ? headers : { ...headers, 'content-type': type },
      {
        endStream: body === undefined,
      },
    )
    stream.on('error', () => undefined)
    // Start reading immediately, because Node.js treats a stream that ends before it has a reader
    // as aborted.
    const text = new PassThrough({ encoding: 'utf8' })
    pipeline(stream, text, () => undefined)
    if (body !== undefined) stream.end(JSON.stringify(body))
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    const lost = once(stream, 'close', { signal }).then(() => {
      throw new Error('the connection was lost')
    })
    const [head] = await Promise.race([once(stream, 'response', { signal }), lost])
    lost.catch(() => undefined)
    return { stream, text, status: Number(head[':status']) }
  }

  #connected(): ClientHttp2Session {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(this.#url, { rejectUnauthorized: false })
      this.#session.on('error', () => undefined)
    }
    return this.#session
  }
}

/** Parses an object. Throws an error if it lacks a field that the checks of the test need. */
export function readObject(value: unknown): SoakObject {
  if (typeof value === 'object' && value !== null && 'metadata' in value) {
    const { metadata } = value
    if (typeof metadata === 'object' && metadata !== null && 'resourceVersion' in metadata) {
      const name = 'name' in metadata && typeof metadata.name === 'string' ? metadata.name : ''
      const data =
        'data' in value && typeof value.data === 'object' && value.data !== null ? value.data : {}
      const text = 'value' in data && typeof data.value === 'string' ? { value: data.value } : {}
      return { metadata: { name, resourceVersion: String(metadata.resourceVersion) }, data: text }
    }
  }
  throw new Error(`not an object: ${JSON.stringify(value).slice(0, 300)}`)
}

export function readList(value: unknown): {
  readonly resourceVersion: string
  readonly items: readonly SoakObject[]
} {
  if (
    typeof value !== 'object' ||
    value === null ||
    !('items' in value) ||
    !Array.isArray(value.items)
  ) {
    throw new Error(`not a list: ${JSON.stringify(value).slice(0, 300)}`)
  }
  return {
    resourceVersion: readObject(value).metadata.resourceVersion,
    items: value.items.map(readObject),
  }
}
