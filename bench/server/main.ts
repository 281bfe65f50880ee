#!/usr/bin/env node
/**
 * Runs the same load on several API servers and compares them. Absolute figures on a small shared
 * machine mean little; ratios within one run, and CPU time per request, are reliable. Servers
 * alternate, so that a temporary slowdown of the machine affects all of them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { controllers } from './controllers.ts'
import { deleteCollection } from './delete-collection.ts'
import { filteredLists, largeLists } from './filtered-lists.ts'
import { filteredWatches } from './filtered-watches.ts'
import type { Figures } from './h2load.ts'
import { informers } from './informers.ts'
import { kubelets } from './kubelets.ts'
import { residentMiB } from './process-usage.ts'
import { rest } from './rest.ts'
import { parseEtcd, parseTarget, type Target } from './targets.ts'
import { prepare, type Workload, type WorkloadOptions, workloads } from './workloads.ts'

const usage = `node bench/server/main.ts --target NAME=URL[,pid=N][,token=T][,etcd=URL] …
  --target …      a server to load (repeatable); ratios are relative to the first one
  --etcd URL[,pid=N]  the same work on bare etcd
  --only a,b      run only these loads, such as get,create
  --runs N        runs of each load after two warm-up runs; the median counts (3)
  --scale X       multiply requests and objects (1)
  --json F        write the figures to F
Requires h2load (Debian: nghttp2-client).`

/**
 * Number of warm-up runs of each load. They are needed because code is slow at first, while real
 * servers run for weeks.
 */
const WARM_UPS = 2
/** Pause between two loads, so that connections can close and garbage can be collected. */
const PAUSE_MS = 300

export type BenchOptions = {
  /** The servers to compare. The first one is the baseline for all others. */
  readonly targets: readonly Target[]
  readonly etcd?: Target | undefined
  /** Names of loads. If empty, all loads run. */
  readonly only?: readonly string[]
  readonly runs?: number
  readonly scale?: number
  readonly print?: (line: string) => void
}

export type LoadReport = {
  readonly rate: number
  readonly ratio: number
  readonly p50: number | undefined
  readonly p99: number | undefined
  readonly cpuMicros: number
  readonly failed: number
}

export type BenchReport = {
  /** Reports by the name of the load, then by the name of the server. */
  readonly loads: Readonly<Record<string, Readonly<Record<string, LoadReport>>>>
  readonly memory: Readonly<Record<string, { readonly nowMiB: number; readonly peakMiB: number }>>
}

/** Runs the selected loads on every target, and prints each figure as soon as it is measured. */
export async function benchServers({
  targets,
  etcd,
  only = [],
  runs = 3,
  scale = 1,
  print = console.log,
}: BenchOptions): Promise<BenchReport> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  try {
    const chosen = chooseLoads(only, { scale, directory })
    for (const target of targets) {
      if (chosen.some((workload) => workload.prepare === undefined))
        await prepare(target, { scale, directory })
      print(`${target.name}: prepared, RSS ${residentMiB(target.pid).toFixed(0)} MiB`)
    }
    const loads: Record<string, Record<string, LoadReport>> = {}
    for (const workload of chosen) {
      for (const target of targets) await workload.prepare?.(target)
      loads[workload.name] = await benchWorkload(workload, { targets, etcd, runs, print })
    }
    return { loads, memory: memoryOf(targets, print) }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Returns the loads with these names, or all loads if no name is given. */
export function chooseLoads(
  only: readonly string[],
  { scale, directory }: WorkloadOptions,
): Workload[] {
  const all = [
    ...workloads({ scale, directory }),
    ...filteredLists({ scale, directory }),
    ...informers({ scale, directory }),
    kubelets({ scale }),
    controllers({ scale }),
    rest({ scale }),
    deleteCollection({ scale, directory }),
    ...filteredWatches({ scale, directory }),
    ...largeLists({ scale, directory }),
  ]
  for (const name of only)
    if (!all.some((workload) => workload.name === name))
      throw new Error(
        `no load is named ${name}; there are ${all.map((workload) => workload.name).join(', ')}`,
      )
  return all.filter(({ name }) => only.length === 0 || only.includes(name))
}

type Lane = { readonly target: Target; readonly run: Workload['run']; readonly figures: Figures[] }

async function benchWorkload(
  workload: Workload,
  {
    targets,
    etcd,
    runs,
    print,
  }: Required<Pick<BenchOptions, 'targets' | 'etcd' | 'runs' | 'print'>>,
): Promise<Record<string, LoadReport>> {
  const lanes: Lane[] = targets.map((target) => ({ target, run: workload.run, figures: [] }))
  if (etcd !== undefined && workload.bare !== undefined)
    lanes.push({ target: etcd, run: workload.bare, figures: [] })
  for (let round = -(workload.warmUps ?? WARM_UPS); round < runs; round++) {
    for (const { target, run, figures } of lanes) {
      const figure = await run(target)
      if (round >= 0) figures.push(figure)
      await sleep(PAUSE_MS)
    }
  }
  print(`\n${workload.name}: ${workload.about}`)
  const first = median(lanes[0]?.figures.map(({ perSecond }) => perSecond) ?? [])
  const reports: Record<string, LoadReport> = {}
  for (const { target, figures } of lanes) {
    const report = reportOf(figures, first)
    reports[target.name] = report
    print(formatReport(target.name, report, figures))
  }
  return reports
}

function reportOf(figures: readonly Figures[], firstRate: number): LoadReport {
  const rate = median(figures.map(({ perSecond }) => perSecond))
  const middle = (key: 'p50' | 'p99'): number | undefined => {
    const value = median(figures.map((run) => run[key] ?? Number.NaN))
    return Number.isNaN(value) ? undefined : value
  }
  return {
    rate,
    ratio: rate / firstRate,
    p50: middle('p50'),
    p99: middle('p99'),
    cpuMicros: median(figures.map(({ cpuMicros }) => cpuMicros)),
    failed: figures.reduce((sum, { failed }) => sum + failed, 0),
  }
}

function formatReport(name: string, report: LoadReport, figures: readonly Figures[]): string {
  const { rate, ratio, p50, p99, cpuMicros, failed } = report
  const notes = figures.flatMap(({ note }) => note ?? []).join('; ')
  return [
    `  ${name.padEnd(12)} ${rate.toFixed(1).padStart(10)} ${figures[0]?.unit ?? '/s'}  ${ratio.toFixed(2)}x`,
    `p50 ${p50?.toFixed(2)} ms  p99 ${p99?.toFixed(2)} ms  CPU ${cpuMicros.toFixed(0)} µs each`,
    ...(failed > 0 ? [`${failed} FAILED`] : []),
    ...(notes === '' ? [] : [`(${notes})`]),
  ].join('  ')
}

function memoryOf(
  targets: readonly Target[],
  print: (line: string) => void,
): BenchReport['memory'] {
  const entries = targets.map(({ name, pid }): [string, { nowMiB: number; peakMiB: number }] => {
    const memory = { nowMiB: residentMiB(pid), peakMiB: residentMiB(pid, 'peak') }
    print(`\n${name}: RSS ${memory.nowMiB.toFixed(0)} MiB, peak ${memory.peakMiB.toFixed(0)} MiB`)
    return [name, memory]
  })
  return Object.fromEntries(entries)
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

async function main(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      target: { type: 'string', multiple: true, default: [] },
      etcd: { type: 'string' },
      only: { type: 'string' },
      runs: { type: 'string', default: '3' },
      scale: { type: 'string', default: '1' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help || values.target.length === 0) {
    console.error(usage)
    process.exitCode = values.help ? 0 : 2
    return
  }
  const { loads, memory } = await benchServers({
    targets: values.target.map(parseTarget),
    etcd: values.etcd === undefined ? undefined : parseEtcd(values.etcd),
    only: values.only?.split(',') ?? [],
    runs: Number(values.runs),
    scale: Number(values.scale),
  })
  if (values.json !== undefined)
    writeFileSync(values.json, JSON.stringify({ ...loads, memory }, null, 1))
}

if (import.meta.main) await main(process.argv.slice(2))
