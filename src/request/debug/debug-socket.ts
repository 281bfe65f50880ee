/**
 * Implements --debug-socket-path: serves the debug pages on a Unix domain socket, without
 * authentication or authorization. Only the owner of the socket can connect to it.
 */
import { once } from 'node:events'
import { chmodSync, rmSync, statSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { TextError } from '../../api/errors.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { DebugPages } from './debug-pages.ts'

/** Maximum size of a request body. The only bodies are verbosity levels, which have a few bytes. */
const BODY_BYTES_MAX = 1024
const OWNER_ONLY = 0o600

/**
 * Opens the socket. Fails if the socket cannot be created, or if another process is using it. If a
 * process that has exited left a socket behind, this socket is replaced.
 */
export async function openDebugSocket(path: string, pages: DebugPages): Promise<AsyncDisposable> {
  if (isSocket(path)) {
    if (await isAnswered(path))
      throw new Error(`--debug-socket-path: another process serves ${path}: choose another path`)
    rmSync(path)
  }
  // Load node:http only when it is needed. An import would load all of it at startup.
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer((request, response) => void answer(request, response, pages))
  await listen(server, path)
  return {
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * Creates the socket so that other users can never connect. The socket is created in the current
 * tick of the event loop with a restrictive file mode mask, so the mask affects no other files. A
 * worker thread cannot set the mask. In a worker thread, the mode is therefore changed shortly
 * after the creation.
 */
async function listen(server: Server, path: string): Promise<void> {
  const mask = isMainThread ? process.umask(0o177) : undefined
  try {
    server.listen(path)
  } finally {
    if (mask !== undefined) process.umask(mask)
  }
  await once(server, 'listening')
  chmodSync(path, OWNER_ONLY)
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  pages: DebugPages,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  let answered: ApiResponse
  try {
    answered = (await pages(apiRequest(request, gone.signal))) ?? plain(404, '404 page not found\n')
  } catch (error) {
    answered =
      error instanceof TextError
        ? plain(error.code, error.message)
        : plain(500, `${String(error)}\n`)
  }
  if (!('body' in answered) || !Buffer.isBuffer(answered.body)) return void response.destroy()
  for (const [name, value] of Object.entries(answered.headers)) response.setHeader(name, value)
  response.writeHead(answered.status).end(answered.body)
}

const plain = (status: number, text: string): ApiResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: Buffer.from(text),
})

function apiRequest(request: IncomingMessage, signal: AbortSignal): ApiRequest {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  return {
    method: request.method ?? '',
    path: pathname,
    query: searchParams,
    headers: request.headers,
    hasBody: true,
    body: () => readBody(request),
    pipeBody: async (take) => {
      await take(await readBody(request))
    },
    signal,
    remoteAddress: '',
    peerCertificate: () => undefined,
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request) {
    if (!Buffer.isBuffer(piece)) continue
    length += piece.length
    if (length > BODY_BYTES_MAX) throw new TextError(413, 'the body is too long\n')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
