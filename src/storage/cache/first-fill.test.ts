import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Log } from '../../lib/telemetry/log.ts'
import { type Fillable, FirstFill } from './first-fill.ts'

type Fake = { readonly name: string; readonly count: number; readonly fill?: () => Promise<void> }

function harness({ heldBytes = () => 0 }: { heldBytes?: () => number } = {}) {
  const filled: string[] = []
  const warnings: string[] = []
  const due: (() => void)[] = []
  const counts = new Map<string, number>()
  const log: Log = (_level, message) => void warnings.push(message)
  const after = (_ms: number, call: () => void) => {
    due.push(call)
    return { close: () => undefined }
  }
  const first = new FirstFill({
    count: async ({ from }) => ({ count: counts.get(from) ?? 0 }),
    heldBytes,
    timers: { after, every: after, defer: (call) => call() },
    log,
  })
  const fillable = ({ name, count, fill }: Fake): Fillable => {
    counts.set(name, count)
    return {
      name,
      range: { from: name, to: `${name}~` },
      fill: async () => {
        await fill?.()
        filled.push(name)
      },
    }
  }
  const run = (fakes: readonly Fake[]): Promise<void> => {
    const total = fakes.reduce((sum, { count }) => sum + count, 0)
    counts.set('', total)
    return first.run(fakes.map(fillable), { from: '', to: '~' })
  }
  return { first, run, filled, warnings, onLate: () => due.forEach((call) => call()) }
}

test('only resources with at least 100 objects are loaded at startup', async () => {
  const { first, run, filled } = harness()
  assert.equal(first.isDone, false)
  await run([
    { name: 'pods', count: 300 },
    { name: 'secrets', count: 99 },
    { name: 'nodes', count: 100 },
  ])
  assert.deepEqual(filled.toSorted(), ['nodes', 'pods'])
  assert.equal(first.isDone, true)
})

test('a resource that would exceed the memory limit by itself is not loaded at startup', async () => {
  const { first, run, filled } = harness()
  await run([
    { name: 'configmaps', count: 1_000_000 },
    { name: 'pods', count: 250_000 },
  ])
  assert.deepEqual(filled, ['pods'])
  assert.equal(first.isDone, true)
})

test('a resource that fails to load is logged, and does not delay other resources or readiness', async () => {
  const { first, run, filled, warnings } = harness()
  await run([
    { name: 'pods', count: 300, fill: () => Promise.reject(new Error('etcd is away')) },
    { name: 'nodes', count: 100 },
  ])
  assert.deepEqual(filled, ['nodes'])
  assert.equal(warnings.length, 1)
  assert.equal(first.isDone, true)
})

test('no more resources are loaded if the cached objects already exceed the memory limit', async () => {
  const { first, run, filled } = harness({ heldBytes: () => 1 << 30 })
  await run([{ name: 'pods', count: 300 }])
  assert.deepEqual(filled, [])
  assert.equal(first.isDone, true)
})

test('readiness waits for the resources only until the timeout', async () => {
  const { first, run, onLate } = harness()
  const running = run([{ name: 'pods', count: 300, fill: () => new Promise(() => undefined) }])
  assert.equal(first.isDone, false)
  onLate()
  await running
  assert.equal(first.isDone, true)
})
