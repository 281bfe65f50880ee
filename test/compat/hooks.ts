/**
 * The webhooks of scenarios, served over HTTPS on this machine. Each scenario's hooks live under its namespace, so that
 * scenarios that run at once do not hear each other. A hook is a function from the review to its answer: either the
 * body itself, or { status, headers, body }, { raw } for bytes as they are, { delayMs }, or { close } to cut the connection.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseBody } from './client.ts'
import { isRecord, type Json } from './json.ts'
import type { HookAnswer } from './steps.ts'

const fixtures = join(import.meta.dirname, 'fixtures')

type Hook = { readonly answer: HookAnswer; readonly calls: Json[] }

export class HookServer implements AsyncDisposable {
  readonly url: string
  /** The CA that a webhook configuration has to name, in base64. */
  readonly caBundle: string
  readonly #server: Server
  readonly #hooks: Map<string, Hook>

  private constructor(server: Server, hooks: Map<string, Hook>, cert: Buffer) {
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('the hook server has no port')
    this.url = `https://127.0.0.1:${address.port}`
    this.caBundle = cert.toString('base64')
    this.#server = server
    this.#hooks = hooks
  }

  static async start(): Promise<HookServer> {
    const hooks = new Map<string, Hook>()
    const cert = readFileSync(join(fixtures, 'hook-cert.pem'))
    const server = createServer({ cert, key: readFileSync(join(fixtures, 'hook-key.pem')) }, (request, response) => {
      answer(hooks, request, response).catch((error: unknown) => {
        // A scenario's own mistake: the server under test sees a failed call, and the difference shows this text.
        response.writeHead(500).end(`the hook of the scenario failed: ${String(error)}`)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new HookServer(server, hooks, cert)
  }

  /** Serves these hooks for a namespace; the addresses by name. */
  serve(namespace: string, hooks: Readonly<Record<string, HookAnswer>>): Record<string, string> {
    for (const [name, hookAnswer] of Object.entries(hooks))
      this.#hooks.set(`${namespace}/${name}`, { answer: hookAnswer, calls: [] })
    return Object.fromEntries(Object.keys(hooks).map((name) => [name, `${this.url}/${namespace}/${name}`]))
  }

  /** The calls that a hook has received and nobody has taken yet. The list is live. */
  callsOf(namespace: string, name: string): Json[] {
    const hook = this.#hooks.get(`${namespace}/${name}`)
    if (hook === undefined) throw new Error(`the scenario has no hook named ${name}: add it to its hooks`)
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
  const hook = hooks.get(`${namespace}/${name}`)
  if (hook === undefined) {
    response.writeHead(404).end()
    return
  }
  const review = parseBody(Buffer.concat(parts), request.headers['content-type'])
  hook.calls.push({
    method: request.method ?? null,
    path: url.replace(`/${namespace}`, ''),
    contentType: request.headers['content-type'] ?? null,
    accept: request.headers.accept ?? null,
    body: review,
  })
  await send(response, await hook.answer(structuredClone(review), hook.calls.length))
}

async function send(response: ServerResponse, given: unknown): Promise<void> {
  const { close, delayMs, raw, status, headers, body } = isRecord(given) ? given : {}
  if (close) {
    response.destroy()
    return
  }
  if (typeof delayMs === 'number') await sleep(delayMs)
  const content = typeof raw === 'string' || Buffer.isBuffer(raw) ? raw : JSON.stringify(body ?? given)
  response
    .writeHead(typeof status === 'number' ? status : 200, {
      'content-type': 'application/json',
      ...(isHeaders(headers) ? headers : {}),
    })
    .end(content)
}

const isHeaders = (value: unknown): value is OutgoingHttpHeaders =>
  isRecord(value) && Object.values(value).every((entry) => typeof entry === 'string')
