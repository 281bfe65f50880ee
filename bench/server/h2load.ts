/** Runs h2load (Debian: nghttp2-client) against a target and returns its figures. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cpuSeconds } from './process-usage.ts'
import type { Target } from './targets.ts'

/** Maximum size of h2load's output, far more than its summary and one line per client. */
const OUTPUT_BYTES_MAX = 64 << 20
/**
 * Time after which h2load is killed. A client of h2load that connects after the end of the load
 * would never stop.
 */
const LATE_MS_MAX = 30_000

export type Load = {
  /** One path, or several paths that are used in turn. */
  readonly uri: string | readonly string[]
  /** Number of requests, or the duration in seconds. */
  readonly amount: { readonly requests: number } | { readonly seconds: number }
  readonly clients?: number
  readonly streams?: number
  /** Requests per second of each client. If absent, the rate is not limited. */
  readonly perSecond?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly body?: string | Buffer
}

export type Figures = {
  readonly failed: number
  readonly perSecond: number
  /** Median latency in milliseconds. Undefined if no request got a response. */
  readonly p50: number | undefined
  readonly p99: number | undefined
  readonly megabytes: number
  /** CPU time that the server spent per request, in µs. */
  readonly cpuMicros: number
  /** Unit of `perSecond`. If absent, the unit is requests. */
  readonly unit?: string
  readonly note?: string
}

/**
 * Runs h2load once. h2load reads URLs and request bodies from files in `directory`, and writes its
 * log there.
 */
export async function h2load(target: Target, load: Load, directory: string): Promise<Figures> {
  const log = join(directory, `log-${randomUUID()}`)
  const cpuBefore = cpuSeconds(target.pid)
  const began = performance.now()
  const timeout = 'seconds' in load.amount ? load.amount.seconds * 1000 + LATE_MS_MAX : 0
  const output = await run(argumentsOf(target, load, { log, directory }), timeout)
  const elapsedSeconds = (performance.now() - began) / 1000
  const cpu = cpuSeconds(target.pid) - cpuBefore
  const rows = readFileSync(log, 'utf8').trim().split('\n').filter(Boolean).map(parseRow)
  const good = rows.filter(({ status }) => status >= 200 && status < 300)
  const times = good.map(({ micros }) => micros / 1000).toSorted((a, b) => a - b)
  return {
    failed: rows.length - good.length,
    perSecond: good.length / (finishedSeconds(output) ?? elapsedSeconds),
    p50: times[Math.floor(times.length / 2)],
    p99: times[Math.floor(times.length * 0.99)],
    megabytes: dataBytes(output) / 1e6,
    cpuMicros: (cpu / Math.max(1, good.length)) * 1e6,
  }
}

function argumentsOf(
  target: Target,
  load: Load,
  { log, directory }: { log: string; directory: string },
): string[] {
  const { uri, amount, clients = 4, streams = 8, perSecond, headers = {}, method, body } = load
  const file = (kind: string, data: string | Buffer): string => {
    const path = join(directory, `${kind}-${randomUUID()}`)
    writeFileSync(path, data)
    return path
  }
  const token = target.token === undefined ? {} : { authorization: `Bearer ${target.token}` }
  const all = Object.entries({
    ...token,
    ...headers,
    ...(method === undefined ? {} : { ':method': method }),
  })
  return [
    '--log-file',
    log,
    '-c',
    `${clients}`,
    '-m',
    `${streams}`,
    ...(perSecond === undefined ? [] : ['--rps', `${perSecond}`]),
    ...('seconds' in amount ? ['-D', `${amount.seconds}`] : ['-n', `${amount.requests}`]),
    ...all.flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...(body === undefined ? [] : ['-d', file('body', body)]),
    ...(typeof uri === 'string'
      ? [target.server + uri]
      : ['-i', file('uris', uri.map((path) => target.server + path).join('\n'))]),
  ]
}

/**
 * Resolves to the output of h2load even if h2load exits with an error. A single failed request is
 * enough for this exit code.
 */
function run(args: readonly string[], timeout: number): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('h2load', args, { maxBuffer: OUTPUT_BYTES_MAX, timeout }, (error, output) => {
      if (error === null || output !== '') resolve(output)
      else
        reject(
          new Error('h2load did not run: install it (Debian: nghttp2-client)', { cause: error }),
        )
    })
  })
}

/** Parses a line of the log: start time, status and duration of a request in µs. */
function parseRow(line: string): { status: number; micros: number } {
  const [, status, micros] = line.split('\t').map(Number)
  return { status: status ?? 0, micros: micros ?? Number.NaN }
}

const secondsPer: Readonly<Record<string, number>> = { us: 1e-6, ms: 1e-3, s: 1, m: 60 }

function finishedSeconds(output: string): number | undefined {
  const [, amount, unit = 's'] = /finished in ([\d.]+)(ms|s|us|m)?/.exec(output) ?? []
  return amount === undefined ? undefined : Number(amount) * (secondsPer[unit] ?? 1)
}

const dataBytes = (output: string): number =>
  Number(/traffic: [\d.]+\w+ \(\d+\) total.*?\((\d+)\) data/s.exec(output)?.[1] ?? Number.NaN)
