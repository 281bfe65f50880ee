/** The half of a request that is written to. Made of a socket by `exchange.ts`, and by tests of anything writable. */
import type { Writable } from 'node:stream'
import type { Headers } from '../api/request.ts'

export interface Outgoing {
  readonly writable: Writable
  /** False: the method is HEAD, and the answer has no body. */
  readonly takesBody: boolean
  /** Whether the client wants large bodies compressed. */
  readonly takesGzip: () => boolean
  /** `length`: of the body, where it is known. */
  readonly writeHead: (status: number, headers: Headers, length: number | undefined) => void
  /** Sends the headers before there is a body. */
  readonly flushHead: () => void
  /** Called once, when the client goes away or the server stops. At once when that has happened already. */
  readonly onClose: (close: () => void) => void
  /** True while the socket has bytes of the answer that it has not got rid of. */
  isWriting: boolean
  /** How often it got rid of some. */
  writes: number
}

/** Fails never: a client that has gone away is noticed by `writable.destroyed`. True when the socket has taken the bytes. */
export function write(outgoing: Outgoing, bytes: Buffer): Promise<boolean> {
  const { writable } = outgoing
  if (writable.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const onClose = (): void => resolve(false)
    writable.once('close', onClose)
    outgoing.isWriting = true
    writable.write(bytes, (error) => {
      outgoing.isWriting = false
      outgoing.writes++
      writable.off('close', onClose)
      resolve(error === undefined || error === null)
    })
  })
}

/** The last bytes; with them the answer counts as being written until the client has them. */
export function end(outgoing: Outgoing, last?: Buffer): void {
  const { writable } = outgoing
  if (writable.destroyed || writable.writableEnded) return
  outgoing.isWriting = true
  if (last === undefined) writable.end()
  else writable.end(last)
}
