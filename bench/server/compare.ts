/**
 * `npm run bench -- --reference`: compares Keelson, kube-apiserver and bare etcd in one run. Each
 * server has its own etcd. The results are ratios of rates and ratios of CPU times.
 */
import { startEtcd } from '../../test/support/harness/etcd.ts'
import { startReference } from '../../test/support/harness/reference.ts'
import type { Figure } from '../report/figure.ts'
import { benchServers, type LoadReport } from './main.ts'
import { PackagedKeelson } from './packaged.ts'
import { targetOf } from './targets.ts'
import { usualLoads, wanted } from './wanted.ts'

/** Enables streaming lists, which are beta in v1.33 but disabled by default. */
const args = ['--feature-gates=WatchList=true']

export async function benchAgainstReference(options: {
  readonly only?: readonly string[]
  readonly runs?: number
}): Promise<Figure[]> {
  await using ourEtcd = await startEtcd()
  await using theirEtcd = await startEtcd()
  await using bareEtcd = await startEtcd()
  using built = new PackagedKeelson()
  await using keelson = await built.start({ etcdUrl: ourEtcd.clientUrl, args })
  await using reference = await startReference({ etcdUrl: theirEtcd.clientUrl, args })
  const { loads, memory } = await benchServers({
    targets: [
      targetOf('reference', reference, theirEtcd.clientUrl),
      targetOf('keelson', keelson, ourEtcd.clientUrl),
    ],
    etcd: { name: 'bare etcd', server: bareEtcd.clientUrl, pid: bareEtcd.pid },
    only: options.only ?? usualLoads,
    runs: options.runs ?? 3,
  })
  const figures = Object.entries(loads).flatMap(([load, reports]) => compare(load, reports))
  const { keelson: ours, reference: theirs } = memory
  if (ours !== undefined && theirs !== undefined) {
    const note = `${Math.round(ours.peakMiB)} against ${Math.round(theirs.peakMiB)} MiB at the peak`
    const pair = { keelson: ours.peakMiB, reference: theirs.peakMiB, unit: 'MiB at the peak' }
    figures.push({
      name: 'memory against the reference',
      value: ours.nowMiB / theirs.nowMiB,
      unit: 'times',
      note,
      pair,
    })
  }
  return figures
}

/** Measures Keelson alone: latency and CPU time of each load. */
export async function benchAlone(options: {
  readonly only: readonly string[]
  readonly runs?: number
}): Promise<Figure[]> {
  await using etcd = await startEtcd()
  using built = new PackagedKeelson()
  await using keelson = await built.start({ etcdUrl: etcd.clientUrl, args })
  const { loads } = await benchServers({
    targets: [targetOf('keelson', keelson, etcd.clientUrl)],
    ...options,
  })
  return Object.entries(loads).flatMap(([load, { keelson: report }]): Figure[] => {
    if (report === undefined) return []
    return [
      {
        name: `${load}: median response time`,
        value: report.p50 ?? Number.NaN,
        unit: 'ms',
      },
      { name: `${load}: CPU per request`, value: report.cpuMicros / 1000, unit: 'ms' },
    ]
  })
}

function compare(load: string, reports: Readonly<Record<string, LoadReport>>): Figure[] {
  const { keelson, reference, 'bare etcd': etcd } = reports
  if (keelson === undefined || reference === undefined) return []
  const { rate, cpu } = wanted[load] ?? {}
  const figures: Figure[] = [
    {
      name: `${load}: rate against the reference`,
      value: keelson.rate / reference.rate,
      unit: 'times',
      note: `${keelson.rate.toFixed(0)} against ${reference.rate.toFixed(0)}`,
      pair: { keelson: keelson.rate, reference: reference.rate, unit: 'a second' },
      ...(rate === undefined ? {} : { target: { atLeast: rate } }),
    },
    {
      name: `${load}: CPU against the reference`,
      value: keelson.cpuMicros / reference.cpuMicros,
      unit: 'times',
      note: `${keelson.cpuMicros.toFixed(0)} against ${reference.cpuMicros.toFixed(0)} µs`,
      pair: { keelson: keelson.cpuMicros, reference: reference.cpuMicros, unit: 'µs of CPU' },
      ...(cpu === undefined ? {} : { target: { below: cpu } }),
    },
  ]
  if (load === 'create' && etcd !== undefined) {
    const note = `${keelson.rate.toFixed(0)} against ${etcd.rate.toFixed(0)}`
    const target = { atLeast: 1 / 3 }
    figures.push({
      name: 'create: rate against a bare put',
      value: keelson.rate / etcd.rate,
      unit: 'times',
      target,
      note,
    })
  }
  return figures
}
