/** Lists of some of many Pods: as kubelets, controllers and `kubectl get -l` ask for them. */
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
/** Enough that the processor time, which Linux tells in steps of 10 ms, is known to some percent. */
const LISTS = 300
const LARGE_LISTS = 50
/** Two clients that each wait for their answers: a list is long beside what a client of Node's own takes. */
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
}

const lists: readonly List[] = [
  { name: 'by-node', about: 'those on one node', path: `/api/v1/pods?fieldSelector=spec.nodeName%3D${nodeName(7)}` },
  { name: 'by-label', about: 'the 1 % with a label', path: `/api/v1/pods?labelSelector=app%3D${appName(7)}` },
  { name: 'by-none', about: 'by a label that none has', path: '/api/v1/pods?labelSelector=app%3Dnone' },
  { name: 'by-phase', about: 'by a phase that none has', path: '/api/v1/pods?fieldSelector=status.phase%3DFailed' },
  { name: 'by-name', about: 'the one with a name', path: `/api/v1/pods?fieldSelector=metadata.name%3D${podName(7)}` },
  { name: 'by-namespace', about: 'the 100 of a namespace', path: podsPath(fewPods.namespace) },
  {
    name: 'pages-by-label',
    about: `the 1 % with a label in pages of ${PAGE}`,
    path: `/api/v1/pods?limit=${PAGE}&labelSelector=app%3D${appName(7)}`,
    isPaged: true,
    fewer: 20,
  },
]

export function filteredLists({ scale }: Pick<WorkloadOptions, 'scale'>): Workload[] {
  const requests = Math.max(10, Math.round(LISTS * scale))
  const load = (list: List): Workload => ({
    name: list.name.startsWith('by-') ? `list-${list.name}` : list.name,
    about: `LIST ${list.about} of ${filteredPods.count} pods, latest`,
    prepare,
    run: (target) => measure(target, list, Math.ceil(requests / (list.fewer ?? 1))),
  })
  const kubectlGet: Workload = {
    name: 'kubectl-get',
    about: `LIST the 1 % with a label of ${filteredPods.count} pods as kubectl get -l shows them`,
    prepare,
    run: (target) =>
      measure(
        target,
        { ...find('by-label'), path: `${find('by-label').path}&limit=500`, accept: tableTypes },
        requests,
      ),
  }
  return [...lists.map(load), kubectlGet]
}

/** They come last in a run: what they need makes the lists above longer. */
export function largeLists({ scale }: Pick<WorkloadOptions, 'scale'>): Workload[] {
  return lists.map((list) => ({
    name: `large-${list.name}`,
    about: `LIST ${list.about} of ${filteredPods.count + largePods.count} pods, latest`,
    prepare: async (target) => {
      await prepare(target)
      await createManyPods(target, largePods)
    },
    run: (target) => measure(target, list, Math.max(5, Math.round(LARGE_LISTS * scale))),
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

async function measure(target: Target, { path, accept = 'application/json', isPaged = false }: List, count: number) {
  using client = new Http2Client(target)
  const get = (asked: string): Promise<Buffer> => client.ask({ path: asked, headers: { accept } })
  return await measureLanes(target, { count, lanes: LANES }, async () => {
    let bytes = 0
    let next = path
    while (next !== '') {
      const page = await get(next)
      bytes += page.length
      const token = isPaged ? /"continue":"([^"]+)"/.exec(page.toString('latin1', 0, HEAD_BYTES))?.[1] : undefined
      next = token === undefined ? '' : `${path}&continue=${encodeURIComponent(token)}`
    }
    return bytes
  })
}

/** A list's own metadata stands before its items. */
const HEAD_BYTES = 4096
