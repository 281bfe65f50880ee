/**
 * Measures many clusters in one process: how soon a cluster is ready, the cost of a fork, and the
 * memory of many clusters that all serve requests. Runs in a separate process, because memory is
 * measured per process. The limits for times apply to an idle machine.
 */
import { execFileSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { startCluster as Start } from '../../../src/entry/testing/index.ts'
import type { Figure } from '../../report/figure.ts'

const START_MS_MAX = 100
const FORK_MS_MAX = 5
const FORK_KB_MAX = 200
const CLUSTERS = 200
const CLUSTERS_MB_MAX = 1536

const OBJECTS = 10_000
const OBJECT_BYTES = 500
const STARTS = 20
const FORKS = 50

export function benchTesting(): readonly Figure[] {
  const flags = ['--expose-gc', import.meta.filename]
  const measure = (part: string): readonly Figure[] => {
    const figures: readonly Figure[] = JSON.parse(
      execFileSync(process.execPath, [...flags, part], { encoding: 'utf8', maxBuffer: 1 << 20 }),
    )
    return figures
  }
  return [...measure('starts'), ...measure('forks'), ...measure('many')]
}

const parts: Readonly<Record<string, () => Promise<readonly Figure[]>>> = { starts, forks, many }

async function starts(): Promise<readonly Figure[]> {
  const importing = performance.now()
  const { startCluster } = await import('../../../src/entry/testing/index.ts')
  const importMs = performance.now() - importing
  const all: number[] = []
  for (let i = 0; i < STARTS; i++) {
    const begin = performance.now()
    await using cluster = await startCluster()
    await cluster.request({ path: '/api/v1/namespaces/default' })
    all.push(performance.now() - begin)
  }
  const [first = 0, ...later] = all
  return [
    { name: 'testing: import, from source', value: importMs, unit: 'ms' },
    {
      name: 'testing: first cluster, to its first response',
      value: first,
      unit: 'ms',
      note: 'bootstraps',
    },
    {
      name: 'testing: a further cluster, to its first response',
      value: median(later),
      unit: 'ms',
      target: { below: START_MS_MAX },
      note: `of ${later.length}, worst ${Math.max(...later).toFixed(0)} ms`,
    },
  ]
}

async function forks(): Promise<readonly Figure[]> {
  const { startCluster } = await import('../../../src/entry/testing/index.ts')
  await using cluster = await startCluster()
  await fill(cluster)
  const collect = collector()
  // The first fork creates the data that all forks share.
  await (await cluster.fork()).stop()
  collect()
  const before = usedBytes()
  const times: number[] = []
  const made: Awaited<ReturnType<typeof cluster.fork>>[] = []
  for (let i = 0; i < FORKS; i++) {
    const begin = performance.now()
    made.push(await cluster.fork())
    times.push(performance.now() - begin)
  }
  collect()
  const kb = (usedBytes() - before) / FORKS / 1024
  const answers: number[] = []
  for (const fork of made.slice(0, 5)) {
    const begin = performance.now()
    const { status } = await fork.request({ path: '/api/v1/namespaces/default/configmaps/c-77' })
    if (status !== 200) throw new Error(`a fork answers ${status}`)
    answers.push(performance.now() - begin)
  }
  await Promise.all(made.map((fork) => fork.stop()))
  const of = `of ${OBJECTS} objects`
  return [
    {
      name: `testing: a fork ${of}`,
      value: median(times),
      unit: 'ms',
      target: { below: FORK_MS_MAX },
    },
    {
      name: `testing: memory of a fork ${of}`,
      value: kb,
      unit: 'KB',
      target: { below: FORK_KB_MAX },
      note: 'not used',
    },
    {
      name: 'testing: the first response of a fork',
      value: median(answers),
      unit: 'ms',
      note: 'starts its server',
    },
  ]
}

async function many(): Promise<readonly Figure[]> {
  const { startCluster } = await import('../../../src/entry/testing/index.ts')
  const begin = performance.now()
  const clusters = []
  for (let i = 0; i < CLUSTERS; i++) clusters.push(await startCluster())
  const startedMs = performance.now() - begin
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
  const path = '/api/v1/namespaces/default/configmaps'
  const answers = await Promise.all(
    clusters.map((cluster) => cluster.request({ method: 'POST', path, body })),
  )
  const answering = answers.filter(({ status }) => status === 201).length
  const mb = process.memoryUsage().rss / 1024 / 1024
  await Promise.all(clusters.map((cluster) => cluster.stop()))
  return [
    {
      name: `testing: ${CLUSTERS} clusters in one process`,
      value: mb,
      unit: 'MiB',
      target: { below: CLUSTERS_MB_MAX },
      note: `${(startedMs / 1000).toFixed(1)} s to start`,
    },
    {
      name: 'testing: number of them that respond',
      value: answering,
      unit: '',
      target: { atLeast: CLUSTERS },
    },
  ]
}

type FilledCluster = Awaited<ReturnType<typeof Start>>

async function fill(cluster: FilledCluster): Promise<void> {
  const text = 'x'.repeat(OBJECT_BYTES)
  for (let i = 0; i < OBJECTS; ) {
    const batch = Array.from({ length: 200 }, () => i++)
    await Promise.all(
      batch.map((at) =>
        cluster.request({
          method: 'POST',
          path: '/api/v1/namespaces/default/configmaps',
          body: {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: `c-${at}` },
            data: { text },
          },
        }),
      ),
    )
  }
}

function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  return () => {
    for (let i = 0; i < 3; i++) collect()
  }
}

function usedBytes(): number {
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + external + arrayBuffers
}

const median = (all: readonly number[]): number =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0

if (import.meta.main) {
  const part = parts[process.argv[2] ?? '']
  if (part === undefined) throw new Error(`usage: give one of ${Object.keys(parts).join(', ')}`)
  console.log(JSON.stringify(await part()))
}
