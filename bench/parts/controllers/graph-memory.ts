/**
 * What the graph of the garbage collector takes beyond the caches.
 * Run by itself: node --expose-gc bench/parts/controllers/graph-memory.ts [objects]
 */
import { randomUUID } from 'node:crypto'
import { Graph, type Key } from '../../../src/controllers/garbage-collector/graph.ts'
import type { ObjectHead, OwnerReference } from '../../../src/controllers/object-head.ts'
import { describeFigure } from '../../report/figure.ts'

const objects = Number(process.argv[2] ?? 300_000)
const BYTES_MAX = 250

const heapBytes = (): number => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

/** Keys and uids as the cache has them: the keys as texts, the uids in bytes. */
const uids = Buffer.alloc(objects * 36)
for (let at = 0; at < objects; at++) uids.write(randomUUID(), at * 36)
const uidAt = (at: number): string => uids.toString('latin1', at * 36, at * 36 + 36)
const keys = Array.from({ length: objects }, (_, at) =>
  Buffer.from(`/registry/pods/namespace-${at % 500}/some-pod-${at}`).toString(),
)

/** Pods of ReplicaSets of Deployments: each `perOwner` objects share one owner. */
function measure(name: string, ownerOf: (at: number) => number | undefined): void {
  const before = heapBytes()
  const graph = new Graph({
    keyOf: ({ name: place }) => keys[Number(place)],
    find: (key: Key) => key,
    onSuspect: () => undefined,
    onOrphaning: () => undefined,
  })
  for (const [at, key] of keys.entries()) {
    const owner = ownerOf(at)
    const owners: OwnerReference[] =
      owner === undefined
        ? []
        : [
            {
              apiVersion: 'v1',
              kind: 'K',
              name: String(owner),
              uid: uidAt(owner),
              blocks: true,
              fields: {},
            },
          ]
    const head: ObjectHead = { uid: uidAt(at), isMarked: false, finalizers: [], owners }
    graph.set(key, head)
  }
  const bytes = (heapBytes() - before) / objects
  console.log(
    describeFigure({
      name: `${name} (${graph.size} nodes)`,
      value: bytes,
      unit: 'B',
      target: { below: BYTES_MAX },
    }),
  )
}

measure('ten dependents an owner, three generations', (at) =>
  at < objects / 100 ? undefined : Math.floor(at / 10),
)
measure('one dependent an owner', (at) => (at % 2 === 0 ? undefined : at - 1))
measure('each the owner of the next', (at) => (at === 0 ? undefined : at - 1))
measure('nobody owns anybody', () => undefined)
