/**
 * Measures the graph of the node authorizer with 10,000 Pods on 100 nodes: its memory, and the time
 * of a Pod event and of a decision. The Pods come from 1,000 templates in 200 namespaces. Each
 * refers to a ServiceAccount, to the root CA and to four objects of its own template.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defaultGates } from '../../../src/api/gates.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { authorizeNode } from '../../../src/access/authorization/node/authorize-node.ts'
import { NodeGraph } from '../../../src/access/authorization/node/graph.ts'
import { podContent, readPod } from '../../../src/access/authorization/node/read-objects.ts'
import { atOnce } from '../../../src/lib/scheduling/slices.ts'
import { Item, type ItemHome } from '../../../src/storage/cache/item.ts'
import { SharedLists } from '../../../src/lib/collections/shared-lists.ts'
import { bootstrapRules } from '../../../src/access/rbac/bootstrap-rules.ts'
import type { Figure } from '../../report/figure.ts'

const PODS = 10_000
const NODES = 100
const TEMPLATES = 1_000
const NAMESPACES = 200
const EVENTS = 20_000
const DECISIONS = 200_000
/**
 * Maximum time to update the graph after a Pod was written. It is small compared with the write
 * itself, which takes about 100 µs.
 */
const EVENT_MICROS_MAX = 50
/**
 * Maximum time to update the graph after another server wrote a Pod. Most of this time is parsing.
 */
const PARSED_MICROS_MAX = 100
const DECISION_MICROS_MAX = 5
/**
 * Maximum time for a request of a user that is not a node. The node authorizer sees all requests.
 */
const OTHERS_MICROS_MAX = 0.1
/** Maximum memory for a Pod in the graph. The same Pod takes about 5 KB in the cache. */
const POD_BYTES_MAX = 1_000

const namespaceOf = (at: number): string => `team-namespace-${(at % TEMPLATES) % NAMESPACES}`
const nameOf = (at: number): string =>
  `application-${at % TEMPLATES}-5d8c7b9f4-${(at * 7919).toString(36)}`
const nodeOf = (at: number): string =>
  `worker-${Math.floor(at / (PODS / NODES))}.zone-a.example.com`

function pod(at: number): KubeObject {
  const app = `application-${at % TEMPLATES}`
  const env = Array.from({ length: 12 }, (_, number) => ({
    name: `SETTING_${number}`,
    value: `value of ${number}`,
  }))
  const managed = Object.fromEntries(
    env.map(({ name }) => [`k:{"name":"${name}"}`, { '.': {}, 'f:name': {}, 'f:value': {} }]),
  )
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: nameOf(at),
      namespace: namespaceOf(at),
      uid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
      resourceVersion: String(at + 1),
      labels: { app, 'pod-template-hash': '5d8c7b9f4' },
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          fieldsV1: { 'f:spec': { 'f:containers': managed } },
        },
      ],
    },
    spec: {
      volumes: [
        { name: 'settings', configMap: { name: `${app}-settings`, defaultMode: 420 } },
        { name: 'certificates', secret: { secretName: `${app}-certificates`, defaultMode: 420 } },
        {
          name: 'kube-api-access-abcde',
          projected: {
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              {
                configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] },
              },
            ],
          },
        },
      ],
      containers: ['main', 'proxy'].map((name) => ({
        name,
        image: `registry.example.com/${app}/${name}:v1.2.3`,
        env,
        envFrom: [{ secretRef: { name: `${app}-environment` } }],
        resources: { requests: { cpu: '100m', memory: '128Mi' } },
        volumeMounts: [{ name: 'settings', mountPath: '/etc/settings' }],
      })),
      imagePullSecrets: [{ name: `${app}-registry` }],
      nodeName: nodeOf(at),
      serviceAccountName: `${app}-account`,
    },
    status: {
      phase: 'Running',
      podIP: '10.1.2.3',
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  }
}

const head = '{"kind":"Pod","apiVersion":"v1",'

/**
 * Returns an item as the cache stores it, with the bytes that clients receive. With `isDecoded`,
 * the item also has the decoded object, as after a write through this server.
 */
function itemOf(object: KubeObject, { isDecoded }: { readonly isDecoded: boolean }): Item {
  const { apiVersion: _, kind: __, ...rest } = object
  const bytes = Buffer.from(`${head}${JSON.stringify(rest).slice(1)}\n`)
  let kept: Buffer = bytes
  const home: ItemHome = {
    codec: { decode: () => object, print: () => ({ bytes, headBytes: head.length, versionAt: 1 }) },
    put: (item, given) => {
      kept = given
      item.length = given.length
    },
    view: (_item, start = 0, end = kept.length) => kept.subarray(start, end),
    keep: () => undefined,
  }
  const { namespace, name } = object.metadata
  const item = new Item(home, {
    key: `/registry/pods/${namespace}/${name}`,
    revision: 1,
    createRevision: 1,
  })
  item.wire()
  item.decoded = isDecoded ? object : undefined
  return item
}

function set(graph: NodeGraph, item: Item, at: number, shared: SharedLists): void {
  const [namespace, name] = [namespaceOf(at), nameOf(at)]
  const read = readPod(item, { namespace, name })
  graph.setPod(`${namespace}/${name}`, read && atOnce(podContent(read, shared)))
}

function fill(graph: NodeGraph, shared: SharedLists): void {
  for (let at = 0; at < PODS; at++) set(graph, itemOf(pod(at), { isDecoded: true }), at, shared)
}

/**
 * Returns the memory of the graph in bytes per Pod, after the objects have been garbage-collected.
 */
function weigh(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  const before = process.memoryUsage().heapUsed
  const graph = new NodeGraph()
  const shared = new SharedLists()
  fill(graph, shared)
  collect()
  const { heapUsed } = process.memoryUsage()
  if ([...graph.names('pods')].length !== PODS) throw new Error('pods are missing from the graph')
  return (heapUsed - before) / PODS
}

function eventMicros(kind: 'decoded' | 'parsed' | 'moved'): number {
  const graph = new NodeGraph()
  const shared = new SharedLists()
  fill(graph, shared)
  const items = Array.from({ length: 100 }, (_, at) =>
    itemOf(pod(at), { isDecoded: kind !== 'parsed' }),
  )
  const run = (): void => {
    for (let event = 0; event < EVENTS; event++) {
      const at = event % items.length
      const item = items[at]
      if (item === undefined) return
      if (kind === 'moved') graph.setPod(`${namespaceOf(at)}/${nameOf(at)}`, undefined)
      set(graph, item, at, shared)
    }
  }
  run()
  const before = performance.now()
  run()
  return ((performance.now() - before) * 1000) / EVENTS
}

type DecisionOptions = { readonly isAllowed: boolean; readonly isNode?: boolean }

function decisionMicros(name: string, { isAllowed, isNode = true }: DecisionOptions): number {
  const graph = new NodeGraph()
  fill(graph, new SharedLists())
  const rules = bootstrapRules('system:node', defaultGates)
  const parts = { graph, rules: () => rules, gates: defaultGates }
  const user = isNode
    ? {
        name: `system:node:${nodeOf(0)}`,
        uid: '',
        groups: ['system:nodes', 'system:authenticated'],
      }
    : { name: 'system:serviceaccount:default:default', uid: '', groups: ['system:authenticated'] }
  const namespace = namespaceOf(0)
  const asked = {
    kind: 'resource',
    verb: 'get',
    group: '',
    version: 'v1',
    plural: 'secrets',
    subresource: '',
    namespace,
    name,
  } as const
  const run = (): void => {
    for (let round = 0; round < DECISIONS; round++) {
      if ((authorizeNode(parts, user, asked).verdict === 'allow') !== isAllowed)
        throw new Error(`${name} got the opposite decision`)
    }
  }
  run()
  const before = performance.now()
  run()
  return ((performance.now() - before) * 1000) / DECISIONS
}

export function benchNodes(): Figure[] {
  const below = { below: EVENT_MICROS_MAX }
  const decided = { below: DECISION_MICROS_MAX }
  const bytes = Math.round(JSON.stringify(pod(0)).length)
  return [
    {
      name: 'graph of nodes: memory per pod',
      value: weigh(),
      unit: 'bytes',
      target: { below: POD_BYTES_MAX },
      note: `pods of ${bytes} bytes`,
    },
    {
      name: 'event of a pod: status, written by this server',
      value: eventMicros('decoded'),
      unit: 'µs',
      target: below,
    },
    {
      name: 'event of a pod: status, written by another server',
      value: eventMicros('parsed'),
      unit: 'µs',
      target: { below: PARSED_MICROS_MAX },
    },
    {
      name: 'event of a pod: deleted, created',
      value: eventMicros('moved'),
      unit: 'µs',
      target: below,
    },
    {
      name: 'a node reads a secret of its pod',
      value: decisionMicros('application-0-certificates', { isAllowed: true }),
      unit: 'µs',
      target: decided,
    },
    {
      name: 'a node reads another secret: refused',
      value: decisionMicros('application-1-certificates', { isAllowed: false }),
      unit: 'µs',
      target: decided,
    },
    {
      name: 'a user who is not a node reads a secret',
      value: decisionMicros('application-1-certificates', { isAllowed: false, isNode: false }),
      unit: 'µs',
      target: { below: OTHERS_MICROS_MAX },
    },
  ]
}
