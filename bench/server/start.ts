/**
 * `npm run bench -- --only start`: measures the packed package, installed as a user would install
 * it: the time from the start of the process to the first response, and the memory after that.
 * Measures `keelson dev` on the memory store and on SQLite in an existing folder, `keelson serve`
 * on an empty etcd that is already running, and the single executable.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildBinary } from '../../scripts/binary.ts'
import { freePorts, startEtcd } from '../../test/support/harness/etcd.ts'
import { installPacked, npmEnvironment, packPackage } from '../../test/support/harness/packed.ts'
import type { Figure } from '../report/figure.ts'
import { calmest, watchHost } from '../report/host.ts'

/** Wait after the start, long enough for its garbage to be collected. */
const IDLE_MS = 3_000
const POLL_MS = 2
const MEBIBYTE_KIB = 1024

/**
 * A start is repeated if steal time was more than this share of the CPU time until the server was
 * ready.
 */
export const CALM = { stolenMax: 0.02, tries: 4 }

/** Measurements of one start. */
export type Start = {
  readonly answeredMs: number
  readonly readyMs: number
  readonly idleMegabytes: number
  readonly stolen: number
}

type Case = {
  readonly name: string
  readonly args: readonly string[]
  readonly answeredMsMax?: number
  readonly readyMsMax?: number
  readonly idleMegabytesMax: number
}

export async function benchStart({ runs }: { readonly runs: number }): Promise<readonly Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-start-'))
  try {
    const env = npmEnvironment(dir, process.env['PATH'] ?? '')
    const { tarball, bytes } = await packPackage(dir, env)
    const folder = await installPacked(tarball, dir, env)
    const program = join(folder, 'node_modules', '.bin', 'keelson')
    const figures: Figure[] = [
      { name: 'packed package', value: bytes / 1e6, unit: 'MB', target: { below: 4 } },
    ]
    await using etcd = await startEtcd()
    for (const one of casesIn(dir, etcd.clientUrl))
      figures.push(...(await measureCase(program, dir, one, runs)))
    const executable = join(dir, 'executable')
    await buildBinary(executable)
    figures.push({ name: 'executable', value: statSync(executable).size / 1e6, unit: 'MB' })
    // The executable contains its code cache. An empty cache folder ensures that no other cache is
    // used.
    figures.push(...(await measureCase(executable, join(dir, 'empty'), executableCase, runs)))
    return figures
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const executableCase: Case = {
  name: 'executable: dev --ephemeral',
  args: ['dev', '--ephemeral'],
  idleMegabytesMax: 90,
}

export const casesIn = (dir: string, etcdUrl: string, prefix = '/registry'): readonly Case[] => [
  {
    name: 'dev --ephemeral',
    args: ['dev', '--ephemeral'],
    answeredMsMax: 250,
    idleMegabytesMax: 90,
  },
  {
    name: 'dev (SQLite)',
    args: ['dev', `--data-dir=${join(dir, 'data')}`],
    answeredMsMax: 350,
    idleMegabytesMax: 90,
  },
  {
    name: 'serve on etcd',
    args: [
      'serve',
      `--etcd-servers=${etcdUrl}`,
      `--etcd-prefix=${prefix}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${dir}`,
    ],
    readyMsMax: 500,
    idleMegabytesMax: 110,
  },
]

async function measureCase(
  program: string,
  dir: string,
  one: Case,
  runs: number,
): Promise<Figure[]> {
  const { name, args, answeredMsMax, readyMsMax, idleMegabytesMax } = one
  // The first start is measured separately, because it must compile all code and write the compile
  // cache. Later starts use that cache.
  const first = await measureStart(program, args, dir)
  const all: Start[] = []
  for (let run = 0; run < runs; run++)
    all.push((await calmest(() => measureStart(program, args, dir), CALM)).best)
  const figure = (
    what: string,
    unit: string,
    value: (run: Start) => number,
    below?: number,
  ): Figure => {
    const sorted = all.map(value).toSorted((a, b) => a - b)
    const stolen = Math.max(...all.map((run) => run.stolen))
    const note = `${sorted[0]?.toFixed(0)} to ${sorted.at(-1)?.toFixed(0)}, the host took at most ${(stolen * 100).toFixed(1)} %`
    const target = below === undefined ? {} : { target: { below } }
    return {
      name: `${name}: ${what}`,
      value: sorted[sorted.length >> 1] ?? 0,
      unit,
      note,
      ...target,
    }
  }
  return [
    { name: `${name}: first response of the first start`, value: first.answeredMs, unit: 'ms' },
    figure('first response', 'ms', ({ answeredMs }) => answeredMs, answeredMsMax),
    figure('ready', 'ms', ({ readyMs }) => readyMs, readyMsMax),
    figure('idle memory', 'MiB', ({ idleMegabytes }) => idleMegabytes, idleMegabytesMax),
  ]
}

export async function measureStart(
  program: string,
  args: readonly string[],
  dir: string,
): Promise<Start> {
  const [port = 0] = await freePorts(1)
  const env = { ...process.env, XDG_CACHE_HOME: join(dir, 'cache') }
  const stolenNow = watchHost()
  const startMs = performance.now()
  const child = spawn(program, [...args, `--secure-port=${port}`], { stdio: 'ignore', env })
  // Polls over one persistent connection, because a TLS handshake would cost the server more than
  // the request.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let answeredMs = 0
  try {
    for (let status = 0; status !== 200; status = await statusOf(port, agent)) {
      if (status !== 0) answeredMs ||= performance.now() - startMs
      if (child.exitCode !== null) throw new Error('the server ended')
      await sleep(POLL_MS)
    }
    const readyMs = performance.now() - startMs
    const stolen = stolenNow()
    await sleep(IDLE_MS)
    const idleMegabytes = residentMegabytes(child.pid ?? 0)
    return { answeredMs: answeredMs || readyMs, readyMs, idleMegabytes, stolen }
  } finally {
    agent.destroy()
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
  }
}

/** Returns the status code, or 0 if there is no response. */
function statusOf(port: number, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    get(
      { port, host: '127.0.0.1', path: '/readyz', rejectUnauthorized: false, agent },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    ).on('error', () => resolve(0))
  })
}

const residentMegabytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) /
  MEBIBYTE_KIB
