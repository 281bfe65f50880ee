/** Lists of some of many Pods: as kubelets, controllers and `kubectl get -l` ask for them. */
import { type Figures, h2load } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { measureLanes } from './lanes.ts'
import { appName, createManyPods, nodeName, podName, podsPath } from './many-pods.ts'
import type { Target } from './targets.ts'
import type { Workload, WorkloadOptions } from './workloads.ts'

export const filteredPods = { namespace: 'bench-filtered', count: 10_000, nodes: 500 }
/** Beside those of filteredPods: together they are 1 % more than 150,000. */
const largePods = { namespace: 'bench-large', count: 140_000, nodes: 5000 }
/** One in a hundred of filteredPods. */
const fewPods = { namespace: 'bench-few', count: 100, nodes: 100 }
/** Enough that the connections' handshakes, some milliseconds of each run, do not count. */
const LISTS = 1000
const LARGE_LISTS = 300
/**
 * How many times fewer where a server without an index looks at all of 150,000 Pods for each list.
 */
const LARGE_FEWER = 6
/** Clients, each of which waits for its answers. */
const LANES = 2
/** Pages of a label's Pods, as a client that shows them asks for. */
const PAGE = 25

/** What kubectl asks for. */
const tableTypes = ['v1', 'v1beta1']
  .map((version) => `application/json;as=Table;v=${version};g=meta.k8s.io`)
  .concat('application/json')
  .join(',')

type List = {
  readonly name: string
  readonly about: string
  readonly path: string
  readonly accept?: string
  /** One request for each page. */
  readonly isPaged?: boolean
  /** How many times fewer than of the others: a server may scan all for each page. */
  readonly fewer?: number
  /** The reference has no index for it. */
  readonly isScanned?: boolean
}

const lists: readonly List[] = [
  {
    name: 'by-node',
    about: 'those on one node',
    path: `/api/v1/pods?fieldSelector=spec.nodeName%3D${nodeName(7)}`,
  },
  {
    name: 'by-label',
    about: 'the 1 % with a label',
    path: `/api/v1/pods?labelSelector=app%3D${appName(7)}`,
    isScanned: true,
  },
  {
    name: 'by-none',
    about: 'by a label that none has',
    path: '/api/v1/pods?labelSelector=app%3Dnone',
    isScanned: true,
  },
  {
    name: 'by-phase',
    about: 'by a phase that none has',
    path: '/api/v1/pods?fieldSelector=status.phase%3DFailed',
    isScanned: true,
  },
  {
    name: 'by-name',
    about: 'the one with a name',
    path: `/api/v1/pods?fieldSelector=metadata.name%3D${podName(7)}`,
    isScanned: true,
  },
  { name: 'by-namespace', about: 'the 100 of a namespace', path: podsPath(fewPods.namespace) },
  {
    name: 'pages-by-label',
    about: `the 1 % with a label in pages of ${PAGE}`,
    path: `/api/v1/pods?limit=${PAGE}&labelSelector=app%3D${appName(7)}`,
    isPaged: true,
    fewer: 20,
  },
]

export function filteredLists({ scale, directory }: WorkloadOptions): Workload[] {
  const requests = Math.max(10, Math.round(LISTS * scale))
  const load = (list: List): Workload => ({
    name: list.name.startsWith('by-') ? `list-${list.name}` : list.name,
    about: `LIST ${list.about} of ${filteredPods.count} pods, latest`,
    prepare,
    run: (target) =>
      measure(target, list, { count: Math.ceil(requests / (list.fewer ?? 1)), directory }),
  })
  const kubectlGet: Workload = {
    name: 'kubectl-get',
    about: `LIST the 1 % with a label of ${filteredPods.count} pods as kubectl get -l shows them`,
    prepare,
    run: (target) =>
      measure(
        target,
        { ...find('by-label'), path: `${find('by-label').path}&limit=500`, accept: tableTypes },
        { count: requests, directory },
      ),
  }
  return [...lists.map(load), kubectlGet]
}

/** They come last in a run: what they need makes the lists above longer. */
export function largeLists({ scale, directory }: WorkloadOptions): Workload[] {
  const countOf = ({ isPaged = false, isScanned = false }: List): number =>
    Math.max(5, Math.round((LARGE_LISTS * scale) / (isScanned || isPaged ? LARGE_FEWER : 1)))
  return lists.map((list) => ({
    name: `large-${list.name}`,
    about: `LIST ${list.about} of ${filteredPods.count + largePods.count} pods, latest`,
    prepare: async (target) => {
      await prepare(target)
      await createManyPods(target, largePods)
    },
    run: (target) => measure(target, list, { count: countOf(list), directory }),
  }))
}

async function prepare(target: Target): Promise<void> {
  await createManyPods(target, filteredPods)
  await createManyPods(target, fewPods)
}

function find(name: string): List {
  const list = lists.find((one) => one.name === name)
  if (list === undefined) throw new Error(`no list is named ${name}`)
  return list
}

type Runs = { readonly count: number; readonly directory: string }

/**
 * By h2load: for a short list a client of Node's own takes as long as the server, on the same two
 * cores. It cannot follow pages.
 */
function measure(target: Target, list: List, { count, directory }: Runs): Promise<Figures> {
  const { path, accept = 'application/json', isPaged = false } = list
  if (isPaged) return measurePages(target, list, count)
  const amount = { requests: count }
  return h2load(
    target,
    { uri: path, amount, clients: LANES, streams: 1, headers: { accept } },
    directory,
  )
}

async function measurePages(target: Target, { path }: List, count: number): Promise<Figures> {
  using client = new Http2Client(target)
  return await measureLanes(target, { count, lanes: LANES }, async () => {
    let bytes = 0
    let next = path
    while (next !== '') {
      const page = await client.ask({ path: next, headers: { accept: 'application/json' } })
      bytes += page.length
      const token = /"continue":"([^"]+)"/.exec(page.toString('latin1', 0, HEAD_BYTES))?.[1]
      next = token === undefined ? '' : `${path}&continue=${encodeURIComponent(token)}`
    }
    return bytes
  })
}

/** A list's own metadata stands before its items. */
const HEAD_BYTES = 4096
