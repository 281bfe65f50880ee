/** Extracts the stacks from V8's profiles. */
import type { HeapProfiler, Profiler, Runtime } from 'node:inspector'
import type { Frame, StackSample } from './pprof.ts'

/**
 * Nodes of a profile that are not functions. As in Go profiles, `(idle)` is left out, and `(garbage
 * collector)` and `(program)` are included.
 */
const notShown: ReadonlySet<string> = new Set(['(root)', '(idle)'])

export function* cpuStacks({ nodes }: Profiler.Profile, periodNs: number): Generator<StackSample> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map<number, number>()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  for (const { id, hitCount = 0, callFrame } of nodes) {
    if (hitCount === 0 || notShown.has(callFrame.functionName)) continue
    const stack: Frame[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const node = byId.get(at)
      if (node !== undefined && !notShown.has(node.callFrame.functionName))
        stack.push(frameOf(node.callFrame))
    }
    yield { stack, values: [hitCount, hitCount * periodNs] }
  }
}

/**
 * V8's profile does not contain the number of sampled objects. The number is estimated as one
 * object for each sampling period.
 */
export function* heapStacks(
  { head }: HeapProfiler.SamplingHeapProfile,
  periodBytes: number,
): Generator<StackSample> {
  const waiting: {
    readonly node: HeapProfiler.SamplingHeapProfileNode
    readonly below: readonly Frame[]
  }[] = [{ node: head, below: [] }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, below } = next
    const stack = notShown.has(node.callFrame.functionName)
      ? below
      : [frameOf(node.callFrame), ...below]
    if (node.selfSize > 0 && stack.length > 0)
      yield { stack, values: [Math.ceil(node.selfSize / periodBytes), node.selfSize] }
    for (const child of node.children) waiting.push({ node: child, below: stack })
  }
}

/** Returns the frame of a node. V8's line numbers begin at 0, and those of a frame at 1. */
const frameOf = ({ functionName, url, lineNumber }: Runtime.CallFrame): Frame => ({
  name: functionName === '' ? '(anonymous)' : functionName,
  file: url.replace(/^file:\/\//, ''),
  line: lineNumber + 1,
})
