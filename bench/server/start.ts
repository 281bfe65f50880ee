/**
 * How long the built package takes from the start of its process to a ready server, on an etcd that runs and is empty, and
 * what it then holds in memory. Run by itself: node bench/server/start.ts [runs]
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts, startEtcd } from '../../test/harness/etcd.ts'
import { describeFigure, type Figure } from '../figure.ts'

const root = join(import.meta.dirname, '..', '..')
const RUNS = 5
/** Long enough that what was needed for the start alone has been collected. */
const IDLE_MS = 3_000

/** The package as it would be installed: built files, no sources. */
export function buildPackage(dir: string): string {
  const build = join(dir, 'keelson')
  mkdirSync(build)
  const tsc = join(root, 'node_modules', '.bin', 'tsc')
  execFileSync(tsc, ['-p', join(root, 'tsconfig.build.json'), '--outDir', join(build, 'dist')], { stdio: 'inherit' })
  cpSync(join(root, 'package.json'), join(build, 'package.json'))
  cpSync(join(root, 'bin'), join(build, 'bin'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(build, 'node_modules'))
  return join(build, 'bin', 'keelson')
}

type Run = { readonly readyMs: number; readonly idleMegabytes: number }

export async function measureStart(program: string, dir: string): Promise<Run> {
  await using etcd = await startEtcd()
  const [port = 0] = await freePorts(1)
  const flags = [
    `--etcd-servers=${etcd.clientUrl}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${dir}`,
  ]
  const startMs = performance.now()
  const child = spawn(program, ['serve', ...flags], {
    stdio: 'ignore',
    env: { ...process.env, NODE_COMPILE_CACHE: join(dir, 'cache') },
  })
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new Error('the server ended')
      await sleep(2)
    }
    const readyMs = performance.now() - startMs
    await sleep(IDLE_MS)
    return { readyMs, idleMegabytes: residentMegabytes(child.pid ?? 0) }
  } finally {
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
  }
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: '/readyz', rejectUnauthorized: false, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', () => resolve(false))
  })
}

const residentMegabytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const dir = mkdtempSync(join(tmpdir(), 'keelson-start-'))
try {
  const program = buildPackage(dir)
  const first = await measureStart(program, dir)
  const runs: Run[] = []
  for (let run = 0; run < Number(process.argv[2] ?? RUNS); run++) runs.push(await measureStart(program, dir))
  const figures: readonly Figure[] = [
    { name: 'first start, nothing compiled yet', value: first.readyMs, unit: 'ms' },
    {
      name: 'process start to /readyz',
      value: median(runs.map(({ readyMs }) => readyMs)),
      unit: 'ms',
      target: { below: 500 },
    },
    {
      name: 'idle memory',
      value: median(runs.map(({ idleMegabytes }) => idleMegabytes)),
      unit: 'MiB',
      target: { below: 110 },
    },
  ]
  for (const figure of figures) console.log(describeFigure(figure))
} finally {
  rmSync(dir, { recursive: true, force: true })
}
