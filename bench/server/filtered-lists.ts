/** Loads that list a subset of many Pods, as kubelets, controllers and `kubectl get -l` do. */
import { type Figures, h2load } from './h2load.ts'
import { Http2Client } from './http2-client.ts'
import { measureLanes } from './lanes.ts'
import { appName, createManyPods, nodeName, podName, podsPath } from './many-pods.ts'
import type { Target } from './targets.ts'
import type { Workload, WorkloadOptions } from './workloads.ts'

export const filteredPods = { namespace: 'bench-filtered', count: 10_000, nodes: 500 }
/**
 * Pods in addition to `filteredPods`. The total is 150,000, not counting the Pods of other loads.
 */
const largePods = { namespace: 'bench-large', count: 140_000, nodes: 5000 }
/** A namespace with few Pods: one hundredth of the number in `filteredPods`. */
const fewPods = { namespace: 'bench-few', count: 100, nodes: 100 }
/**
 * Number of lists, large enough that connection handshakes, which take a few milliseconds of each
 * run, are negligible.
 */
const LISTS = 1000
const LARGE_LISTS = 300
/**
 * The number of lists is divided by this factor if a server without an index would scan all 150,000
 * Pods.
 */
const LARGE_FEWER = 6
/** Number of concurrent clients. Each waits for a response before it sends the next request. */
const LANES = 2
/** Page size of lists by label, typical of a client that displays them. */
const PAGE = 25

/** The Accept header that kubectl sends. */
const tableTypes = ['v1', 'v1beta1']
  .map((version) => `application/json;as=Table;v=${version};g=meta.k8s.io`)
  .concat('application/json')
  .join(',')

type List = {
  readonly name: string
  readonly about: string
  readonly path: string
  readonly accept?: string
  /** Whether the list is read in pages, with one request for each page. */
  readonly isPaged?: boolean
  /**
   * If present, the number of lists is divided by this factor, because a server may scan all Pods
   * for each page.
   */
  readonly fewer?: number
  /** Whether kube-apiserver scans all Pods because it has no index for this list. */
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
    about: 'those with a label that no Pod has',
    path: '/api/v1/pods?labelSelector=app%3Dnone',
    isScanned: true,
  },
  {
    name: 'by-phase',
    about: 'those in a phase that no Pod is in',
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

/**
 * Returns the lists over many Pods. They run last, because the additional Pods slow down the other
 * lists.
 */
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
 * Measures with h2load, because for a short list a client in Node uses as much CPU time as the
 * server, on the same two cores. h2load cannot request the next page, so paged lists use a client
 * in Node.
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

/**
 * Number of bytes at the beginning of a response. They contain the metadata of the list, which
 * precedes the items.
 */
const HEAD_BYTES = 4096
