/**
 * The servers that a benchmark sends requests to. If the process ID of a server is known, its CPU
 * time and memory are measured.
 */
import type { ApiServerProcess } from '../../test/support/harness/api-server.ts'

export type Target = {
  readonly name: string
  readonly server: string
  /** Process ID of the server. Without it, CPU time and memory are not measured. */
  readonly pid?: number
  readonly token?: string
  /** URL of the server's etcd, for loads that write objects directly to it. */
  readonly etcd?: string
  /** Stops the server and starts it again, for loads that measure a new server. */
  readonly restart?: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
}

/** Returns a target for a server that the current process has started. */
export const targetOf = (name: string, server: ApiServerProcess, etcd: string): Target => ({
  name,
  server: server.url,
  token: server.token,
  etcd,
  restart: (signal) => server.restart(signal),
  get pid() {
    return server.pid
  },
})

/** Parses NAME=URL[,pid=N][,token=T][,etcd=URL]. */
export function parseTarget(text: string): Target {
  const [first = '', ...rest] = text.split(',')
  const [name = '', server = ''] = cut(first)
  if (name === '' || !URL.canParse(server))
    throw new Error(`${text}: a target is NAME=URL[,pid=N][,token=T][,etcd=URL]`)
  return { name, server, ...parseDetails(rest, text) }
}

/** Parses URL[,pid=N]. */
export function parseEtcd(text: string): Target {
  const [server = '', ...rest] = text.split(',')
  if (!URL.canParse(server)) throw new Error(`${text}: etcd is given as URL[,pid=N]`)
  return { name: 'bare etcd', server, ...parseDetails(rest, text) }
}

type Details = { pid?: number; token?: string; etcd?: string }

function parseDetails(details: readonly string[], text: string): Details {
  const found: Details = {}
  for (const detail of details) {
    const [key, value] = cut(detail)
    if (key === 'pid' && Number.isInteger(Number(value))) found.pid = Number(value)
    else if (key === 'token' && value !== undefined) found.token = value
    else if (key === 'etcd' && value !== undefined && URL.canParse(value)) found.etcd = value
    else throw new Error(`${text}: '${detail}' is not one of pid=N, token=T and etcd=URL`)
  }
  return found
}

/** Splits at the first equals sign, because a token can contain further ones. */
const cut = (text: string): string[] => text.split(/=(.*)/s, 2)
