/**
 * One HTTPS server that acts as the extension API server of all scenarios. A request belongs to the
 * scenario whose namespace is in its path or in the server name of its connection (SNI). Therefore
 * the name of a group or a Service must contain $ns. The scenario has a function that receives the
 * request and returns an object with `status`, `headers` and `body`. A body is sent as JSON, or
 * unchanged if it is a string. This object can have further fields:
 *
 * - `delayMs` waits before the response.
 * - `hang` sends no response.
 * - `close` closes the connection immediately.
 * - `chunks` is a list, or an asynchronous iterable, of texts that are sent one by one, `pauseMs`
 *   apart.
 * - `cut` closes the connection after the body, which then has no end.
 * - `trailers` are headers after the body.
 * - `upgrade` switches to the protocol of this name; `body` is sent in it.
 *
 * The body of a request whose path contains `/unread` is not read. An upgrade request whose
 * response has no `upgrade` is refused. If the function returns undefined, the response is 404. The
 * certificate is issued for the name that the client requests, by the server's own CA
 * (`${extension.caBundle}`). Services named `untrusted…` get a certificate of another CA, and
 * Services named `misnamed…` get a certificate for another name.
 */
import { once } from 'node:events'
import { type IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { Authority } from '../../support/harness/issued-certificate.ts'
import { parseBody } from './client.ts'
import { isRecord, type Json } from './json.ts'

export type ExtensionRequest = {
  /** Namespace of the scenario. */
  readonly namespace: string
  readonly method: string
  /** Path with the query. */
  readonly path: string
  /** Headers with lower-case names. Repeated headers are joined by a comma and a space. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
  /**
   * Common name of the client certificate of the server under test, or null if it has no client
   * certificate.
   */
  readonly certificate: string | null
}

export type ExtensionAnswer = (request: ExtensionRequest, callCount: number) => unknown

type ServedAnswer = { readonly answer: ExtensionAnswer; calls: number }

export class ExtensionServer implements AsyncDisposable {
  readonly port: number
  /** CA certificate in base64. */
  readonly caBundle: string
  readonly #server: Server
  readonly #served: Map<string, ServedAnswer>

  private constructor(server: Server, served: Map<string, ServedAnswer>, authority: Authority) {
    const address = server.address()
    if (typeof address !== 'object' || address === null)
      throw new Error('the extension server has no port')
    this.port = address.port
    this.caBundle = Buffer.from(authority.certificatePem).toString('base64')
    this.#server = server
    this.#served = served
  }

  static async start(): Promise<ExtensionServer> {
    const served = new Map<string, ServedAnswer>()
    const authority = new Authority('extension-ca')
    const contexts = certificates(authority, new Authority('other-ca'))
    const own = authority.issue({
      cn: 'extension',
      usage: ['server'],
      hosts: ['localhost', '127.0.0.1'],
    })
    const options = {
      cert: own.certificatePem,
      key: own.keyPem,
      requestCert: true,
      rejectUnauthorized: false,
      SNICallback: (name: string, done: (error: Error | null, context?: SecureContext) => void) =>
        done(null, name.endsWith('.svc') ? contexts(name) : undefined),
    }
    const server = createServer(options, (request, response) => {
      answer(served, request, response).catch((error: unknown) => {
        // The function of the scenario has failed. Send its error as the response, so that the
        // reported difference contains it.
        if (response.headersSent) response.destroy()
        else response.writeHead(500).end(`the extension of the scenario failed: ${String(error)}`)
      })
    })
    server.on('upgrade', (request, socket) => {
      socket.on('error', () => undefined)
      if (!(socket instanceof TLSSocket)) return
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      response.assignSocket(socket)
      response.on('finish', () => socket.end())
      answer(served, request, response).catch(() => socket.destroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new ExtensionServer(server, served, authority)
  }

  serve(namespace: string, given: ExtensionAnswer): void {
    this.#served.set(namespace, { answer: given, calls: 0 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

/** Returns a function that issues and caches certificates by server name. */
function certificates(trusted: Authority, other: Authority): (name: string) => SecureContext {
  const issued = new Map<string, SecureContext>()
  return (name) => {
    const known = issued.get(name)
    if (known !== undefined) return known
    const hosts = [name.startsWith('misnamed') ? 'another.example.com' : name]
    const authority = name.startsWith('untrusted') ? other : trusted
    const { certificatePem, keyPem } = authority.issue({
      cn: 'extension',
      usage: ['server'],
      hosts,
    })
    const context = createSecureContext({ cert: certificatePem, key: keyPem })
    issued.set(name, context)
    return context
  }
}

async function answer(
  served: ReadonlyMap<string, ServedAnswer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? '/'
  const { socket } = request
  const isTls = socket instanceof TLSSocket
  const server = isTls && 'servername' in socket ? String(socket.servername) : ''
  const namespace = namespaceIn(decodeURIComponent(path)) ?? namespaceIn(server) ?? ''
  const own = served.get(namespace)
  const isRead = !path.includes('/unread') && request.headers.upgrade === undefined
  const parts: Buffer[] = []
  if (isRead) for await (const part of request) parts.push(part)
  if (own === undefined) {
    response.writeHead(404).end()
    return
  }
  own.calls++
  const given = await own.answer(
    {
      namespace,
      method: request.method ?? '',
      path,
      headers: Object.fromEntries(
        Object.entries(request.headersDistinct).map(([name, values = []]) => [
          name,
          values.join(', '),
        ]),
      ),
      body: parseBody(Buffer.concat(parts), request.headers['content-type']),
      certificate: isTls ? commonName(socket) : null,
    },
    own.calls,
  )
  await send(response, isRecord(given) ? given : { status: 404, body: '404 page not found\n' })
}

/** Returns the common name of the client certificate, or null if there is no client certificate. */
function commonName(socket: TLSSocket): string | null {
  const name = socket.getPeerCertificate()?.subject?.CN
  return typeof name === 'string' ? name : null
}

const namespaceIn = (text: string): string | undefined => /oracle-[0-9a-f]{10}/.exec(text)?.[0]

async function send(response: ServerResponse, given: Record<string, unknown>): Promise<void> {
  const { status, headers, body, delayMs, hang, close, chunks, pauseMs, cut, trailers, upgrade } =
    given
  if (typeof delayMs === 'number') await sleep(delayMs)
  if (close === true) return void response.destroy()
  if (hang === true) return
  if (typeof upgrade === 'string') return switchTo(upgrade, response, String(body))
  const names = isRecord(trailers) ? Object.keys(trailers) : []
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
  const all = { 'content-type': type, ...(isRecord(headers) ? headers : {}) }
  response.writeHead(typeof status === 'number' ? status : 200, {
    ...Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) =>
        value === null ? [] : [[name, asHeader(value)]],
      ),
    ),
    ...(names.length === 0 ? {} : { trailer: names.join(', ') }),
  })
  // Send the headers immediately. If these are the headers of a watch, the client must receive them
  // even if no event follows.
  if (isStream(chunks)) response.flushHeaders()
  for await (const chunk of Array.isArray(chunks) || isStream(chunks) ? chunks : []) {
    if (response.destroyed) break
    response.write(typeof chunk === 'string' ? chunk : JSON.stringify(chunk))
    await sleep(typeof pauseMs === 'number' ? pauseMs : 0)
  }
  if (body !== undefined)
    response.write(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  if (isRecord(trailers))
    response.addTrailers(Object.fromEntries(names.map((name) => [name, String(trailers[name])])))
  if (cut !== true) return void response.end()
  // Wait until the written data has arrived, and then close the connection.
  await sleep(50)
  response.destroy()
}

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/**
 * Accepts the upgrade of the connection to another protocol. Then sends `text` and ends the
 * connection.
 */
function switchTo(protocol: string, { socket }: ServerResponse, text: string): void {
  socket?.end(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n\r\n${text}`,
  )
}

const asHeader = (value: unknown): string | string[] =>
  Array.isArray(value) ? value.map(String) : String(value)
