/** Chooses ports for a server whose port was not configured. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { readIfThere } from '../../lib/process/files.ts'

const DEFAULT_PORT = 6443
/**
 * Maximum number of attempts with ports that the system reports as free. Other processes may take
 * them first: hundreds may start at once.
 */
const TRIES_MAX = 20

export type PortOptions = {
  /** The file with the port of the last start, which keeps kubeconfigs valid. */
  readonly last: string
  readonly bindAddress: string
  /** Whether no port is preferred. */
  readonly isAny: boolean
}

/** Yields ports that are free now, the preferred ones first. */
export async function* candidatePorts({
  last,
  bindAddress,
  isAny,
}: PortOptions): AsyncGenerator<number> {
  const wanted = isAny ? [] : [Number(readIfThere(last) ?? 0), DEFAULT_PORT]
  for (const port of wanted) {
    const isPort = Number.isInteger(port) && port > 0 && port < 65_536
    if (isPort && (await tryPort(port, bindAddress)) !== undefined) yield port
  }
  for (let tries = 0; tries < TRIES_MAX; tries++) yield (await tryPort(0, bindAddress)) ?? 0
}

/** Tries a port; 0 means any. Returns undefined if the port is taken or cannot be used. */
async function tryPort(port: number, host: string): Promise<number | undefined> {
  const server = createServer()
  try {
    server.listen({ port, host, exclusive: true })
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : undefined
  } catch {
    // The start of the server reports the reason for a port that was configured.
    return undefined
  } finally {
    server.close()
  }
}

/** Whether a start failed because its port is taken. */
export function isTaken(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
}
