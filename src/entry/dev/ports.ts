/** Chooses a port for a server if no port was configured. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { readIfThere } from '../../lib/process/files.ts'
import { listenError } from '../../server/build-serving.ts'

const DEFAULT_PORT = 6443
/**
 * Maximum number of attempts to use a port that the system reports as free. Hundreds of servers may
 * start at once, so another process may take the port first.
 */
const TRIES_MAX = 20

export type PortOptions = {
  /**
   * The file that contains the port of the last start. Reusing the port keeps kubeconfigs valid.
   */
  readonly last: string
  readonly bindAddress: string
  /**
   * Whether to use any free port. Otherwise, the port of the last start and the default port are
   * tried first.
   */
  readonly isAny: boolean
}

/** Returns the port of the last start, or the default port if there is none. */
export function preferredPort(last: string): number {
  const port = Number(readIfThere(last) ?? 0)
  return isPort(port) ? port : DEFAULT_PORT
}

const isPort = (port: number): boolean => Number.isInteger(port) && port > 0 && port < 65_536

/** Yields ports that are currently free, starting with the preferred ports. */
export async function* candidatePorts({
  last,
  bindAddress,
  isAny,
}: PortOptions): AsyncGenerator<number> {
  const wanted = isAny ? [] : new Set([preferredPort(last), DEFAULT_PORT])
  for (const port of wanted) {
    if ((await tryPort(port, bindAddress)) !== undefined) yield port
  }
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = await tryPort(0, bindAddress)
    if (port !== undefined) yield port
  }
}

/**
 * Returns `port` if it is free, or any free port if `port` is 0. Returns undefined if the port is
 * taken or not allowed. Throws an error with the reason if no port of this host can be used.
 */
async function tryPort(port: number, host: string): Promise<number | undefined> {
  const server = createServer()
  try {
    server.listen({ port, host, exclusive: true })
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : undefined
  } catch (cause) {
    if (port === 0) throw listenError(cause, host)
    return undefined
  } finally {
    server.close()
  }
}

/** Whether a start failed because the port is taken. */
export function isTaken(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
}
