/** Writes an answer to a socket no faster than the client reads it. */
import type { Writable } from 'node:stream'
import type { ApiResponse } from '../api/request.ts'
import type { Outgoing } from './exchange.ts'

/**
 * Parts are written together up to this size, then we wait until the socket has taken them: a list in flight costs this
 * much beyond what the cache holds anyway.
 */
const BATCH_BYTES = 256 * 1024

/** Comes back when all has been handed to the socket, or the client has gone away. */
export async function respond(outgoing: Outgoing, response: ApiResponse): Promise<void> {
  const { writable } = outgoing
  if (writable.destroyed) return
  if ('stream' in response) return respondStream(outgoing, response)
  const { status, headers, body } = response
  const parts = Buffer.isBuffer(body) ? [body] : body
  outgoing.writeHead(status, { ...headers, 'content-length': `${lengthOf(parts)}` })
  if (!outgoing.takesBody) return end(writable)
  const [only] = parts
  if (parts.length <= 1) return end(writable, only)
  await write(writable, parts)
  end(writable)
}

async function respondStream(
  outgoing: Outgoing,
  { status, headers, stream }: Extract<ApiResponse, { stream: unknown }>,
): Promise<void> {
  const { writable } = outgoing
  outgoing.writeHead(status, headers)
  outgoing.flushHead()
  for await (const parts of stream) {
    await write(writable, parts)
    if (writable.destroyed) return
  }
  end(writable)
}

/**
 * Corked, so that a batch is one write of the socket. Never ended while corked: Node 24 then loses the body of a chunked
 * answer.
 */
async function write(writable: Writable, parts: readonly Buffer[]): Promise<void> {
  let batchBytes = 0
  writable.cork()
  for (const part of parts) {
    writable.write(part)
    batchBytes += part.length
    if (batchBytes < BATCH_BYTES) continue
    writable.uncork()
    await drained(writable)
    if (writable.destroyed) return
    batchBytes = 0
    writable.cork()
  }
  writable.uncork()
  await drained(writable)
}

function drained(writable: Writable): Promise<void> | undefined {
  if (!writable.writableNeedDrain || writable.destroyed) return undefined
  return new Promise((resolve) => {
    const done = (): void => {
      writable.off('drain', done).off('close', done)
      resolve()
    }
    writable.on('drain', done).on('close', done)
  })
}

function end(writable: Writable, last?: Buffer): void {
  if (writable.destroyed || writable.writableEnded) return
  if (last === undefined) writable.end()
  else writable.end(last)
}

function lengthOf(parts: readonly Buffer[]): number {
  let bytes = 0
  for (const part of parts) bytes += part.length
  return bytes
}
