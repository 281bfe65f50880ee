/** Ports for a server that was not told which one to take. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { readIfThere } from '../../lib/process/files.ts'

const DEFAULT_PORT = 6443
/**
 * Of ports that the system says are free and others then take first: hundreds may start at once.
 */
const TRIES_MAX = 20

export type PortOptions = {
  /** The file with the port of the last start, so that a kubeconfig stays right. */
  readonly last: string
  readonly bindAddress: string
  /** Whether none is better than another. */
  readonly isAny: boolean
}

/** Those that are free now, the best first. */
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

/** 0: any. Undefined: it is taken, or cannot be had. */
async function tryPort(port: number, host: string): Promise<number | undefined> {
  const server = createServer()
  try {
    server.listen({ port, host, exclusive: true })
    await once(server, 'listening')
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : undefined
  } catch {
    // Whatever the reason is, the start itself would say it of a port that was asked for.
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
