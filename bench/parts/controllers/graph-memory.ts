/**
 * Measures how much memory the graph of the garbage collector needs in addition to the caches. Run
 * it directly: node --expose-gc bench/parts/controllers/graph-memory.ts [objects]
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

/** Keys and uids in the form that the cache stores: keys as strings, uids as bytes. */
const uids = Buffer.alloc(objects * 36)
for (let at = 0; at < objects; at++) uids.write(randomUUID(), at * 36)
const uidAt = (at: number): string => uids.toString('latin1', at * 36, at * 36 + 36)
const keys = Array.from({ length: objects }, (_, at) =>
  Buffer.from(`/registry/pods/namespace-${at % 500}/some-pod-${at}`).toString(),
)

/**
 * Builds a graph like that of Pods, ReplicaSets and Deployments, and reports its memory per object.
 */
function measure(name: string, ownerOf: (at: number) => number | undefined): void {
  const before = heapBytes()
  const graph = new Graph({
    keyOf: ({ name: place }) => keys[Number(place)],
    find: (key: Key) => key,
    onSuspect: () => undefined,
    onSuspects: () => undefined,
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

measure('ten dependents per owner, three generations', (at) =>
  at < objects / 100 ? undefined : Math.floor(at / 10),
)
measure('one dependent per owner', (at) => (at % 2 === 0 ? undefined : at - 1))
measure('a chain: each object owns the next one', (at) => (at === 0 ? undefined : at - 1))
measure('no owners', () => undefined)
