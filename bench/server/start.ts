/**
 * How long the built package takes from the start of its process to a ready server, on an etcd that runs and is empty, and
 * what it then holds in memory. Run by itself: node bench/server/start.ts [runs]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts, startEtcd } from '../../test/harness/etcd.ts'
import { installPackage } from '../../test/harness/package.ts'
import { describeFigure, type Figure } from '../figure.ts'

const RUNS = 5
/** Long enough that what was needed for the start alone has been collected. */
const IDLE_MS = 3_000

type Run = { readonly readyMs: number; readonly idleMegabytes: number }

export async function measureStart(program: string, dir: string): Promise<Run> {
  await using etcd = await startEtcd()
  const [port = 0] = await freePorts(1)
  const flags = [
    `--etcd-servers=${etcd.clientUrl}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${dir}`,
    // With the default roles, which are written before the server is ready.
    '--authorization-mode=Node,RBAC',
  ]
  const startMs = performance.now()
  const child = spawn(program, ['serve', ...flags], {
    stdio: 'ignore',
    env: { ...process.env, XDG_CACHE_HOME: dir },
  })
  // One connection: a handshake for each look would take the server longer than the look.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    while (!(await isReady(port, agent))) {
      if (child.exitCode !== null) throw new Error('the server ended')
      await sleep(2)
    }
    const readyMs = performance.now() - startMs
    await sleep(IDLE_MS)
    return { readyMs, idleMegabytes: residentMegabytes(child.pid ?? 0) }
  } finally {
    agent.destroy()
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
  }
}

function isReady(port: number, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: '/readyz', rejectUnauthorized: false, agent }, (response) => {
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
  const program = await installPackage(dir)
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
