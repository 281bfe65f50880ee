/**
 * Serves the webhooks of scenarios over HTTPS. The webhooks of each scenario have its namespace in
 * their path, so that concurrent scenarios do not affect each other. A webhook is a function that
 * receives the review. It returns the body of the response, or an object with some of these fields:
 *
 * - `status`, `headers` and `body` are those of the response.
 * - `raw` contains the bytes of the body, which are sent unchanged.
 * - `delayMs` delays the response.
 * - `close` closes the connection.
 * - `hang` leaves the connection open without a response.
 *
 * Webhooks that a set-up (the configuration of a whole server) defines are called for all
 * scenarios. Such a call is attributed to the scenario whose namespace appears in the body of the
 * review.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { parseBody } from './client.ts'
import { isRecord, type Json, type JsonObject } from './json.ts'
import type { HookAnswer } from './steps.ts'

const fixtures = join(import.meta.dirname, 'fixtures')

/** Path segment of the webhooks that a set-up defines. No scenario has this namespace. */
const SHARED = 'set-up'

type Hook = { readonly answer: HookAnswer; readonly calls: Json[] }

export class HookServer implements AsyncDisposable {
  readonly url: string
  /** CA certificate for webhook configurations, in base64. */
  readonly caBundle: string
  readonly #server: Server
  readonly #hooks: Map<string, Hook>
  readonly #documents: Map<string, unknown>

  private constructor(
    server: Server,
    {
      hooks,
      documents,
    }: { readonly hooks: Map<string, Hook>; readonly documents: Map<string, unknown> },
    cert: Buffer,
  ) {
    const address = server.address()
    if (typeof address !== 'object' || address === null)
      throw new Error('the hook server has no port')
    this.url = `https://127.0.0.1:${address.port}`
    this.caBundle = cert.toString('base64')
    this.#server = server
    this.#hooks = hooks
    this.#documents = documents
  }

  static async start(): Promise<HookServer> {
    const hooks = new Map<string, Hook>()
    const cert = readFileSync(join(fixtures, 'hook-cert.pem'))
    const documents = new Map<string, unknown>()
    const tls = {
      cert,
      key: readFileSync(join(fixtures, 'hook-key.pem')),
      requestCert: true,
      rejectUnauthorized: false,
    }
    const server = createServer(tls, (request, response) => {
      if (documents.has(request.url ?? '')) {
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(documents.get(request.url ?? '')))
        return
      }
      answer(hooks, request, response).catch((error: unknown) => {
        // The function of the scenario has failed. The server under test receives an error, and the
        // reported difference contains its message.
        response.writeHead(500).end(`the hook of the scenario failed: ${String(error)}`)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new HookServer(server, { hooks, documents }, cert)
  }

  /** Serves the webhooks of the scenario with this namespace. Returns their URLs by name. */
  serve(namespace: string, hooks: Readonly<Record<string, HookAnswer>>): Record<string, string> {
    for (const [name, hookAnswer] of Object.entries(hooks))
      this.#hooks.set(`${namespace}/${name}`, { answer: hookAnswer, calls: [] })
    return Object.fromEntries(
      Object.keys(hooks).map((name) => [name, `${this.url}/${namespace}/${name}`]),
    )
  }

  /** Serves these webhooks for all scenarios. Returns their URLs by name. */
  serveAll(hooks: Readonly<Record<string, HookAnswer>>): Record<string, string> {
    return this.serve(SHARED, hooks)
  }

  /** Serves a document at this path. */
  publish(path: string, document: unknown): void {
    this.#documents.set(path, document)
  }

  /**
   * Returns the calls of a webhook that no step has recorded yet. Later calls are added to the same
   * list.
   */
  callsOf(namespace: string, name: string): Json[] {
    const hook = this.#hooks.get(`${namespace}/${name}`)
    if (hook === undefined)
      throw new Error(`the scenario has no hook named ${name}: add it to its hooks`)
    return hook.calls
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

async function answer(
  hooks: ReadonlyMap<string, Hook>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const url = request.url ?? '/'
  const [, namespace = '', name = ''] = new URL(url, 'https://hooks').pathname.split('/')
  const body = Buffer.concat(parts)
  const isShared = namespace === SHARED
  const own = isShared ? hooks.get(`${scenarioIn(body)}/${name}`) : undefined
  const hook = own ?? hooks.get(`${namespace}/${name}`)
  if (hook === undefined) {
    response.writeHead(404).end()
    return
  }
  const review = parseBody(body, request.headers['content-type'])
  // Respond to calls that belong to no scenario, but do not record them.
  if (own !== undefined || !isShared)
    hook.calls.push({
      method: request.method ?? null,
      path: url.replace(`/${namespace}`, ''),
      contentType: request.headers['content-type'] ?? null,
      accept: request.headers.accept ?? null,
      ...callerOf(request, isShared),
      body: review,
    })
  await send(response, await hook.answer(structuredClone(review), hook.calls.length))
}

/**
 * Returns the namespace of the scenario to which a call belongs. Returns undefined if the body
 * mentions no such namespace.
 */
const scenarioIn = (body: Buffer): string | undefined =>
  /oracle-[0-9a-f]{10}/.exec(body.toString('utf8'))?.[0]

/**
 * Returns the credentials that the server has sent to the webhook. If it has sent none to a webhook
 * of a scenario, which is usual, returns no fields.
 */
function callerOf({ headers, socket }: IncomingMessage, isShared: boolean): JsonObject {
  const { authorization } = headers
  const name = socket instanceof TLSSocket ? socket.getPeerCertificate()?.subject?.CN : undefined
  if (!isShared && authorization === undefined && name === undefined) return {}
  return { authorization: authorization ?? null, certificate: name ?? null }
}

async function send(response: ServerResponse, given: unknown): Promise<void> {
  const { close, hang, delayMs, raw, status, headers, body } = isRecord(given) ? given : {}
  if (close) {
    response.destroy()
    return
  }
  if (hang) return
  if (typeof delayMs === 'number') await sleep(delayMs)
  const content =
    typeof raw === 'string' || Buffer.isBuffer(raw) ? raw : JSON.stringify(body ?? given)
  response
    .writeHead(typeof status === 'number' ? status : 200, {
      'content-type': 'application/json',
      ...(isHeaders(headers) ? headers : {}),
    })
    .end(content)
}

const isHeaders = (value: unknown): value is OutgoingHttpHeaders =>
  isRecord(value) && Object.values(value).every((entry) => typeof entry === 'string')
