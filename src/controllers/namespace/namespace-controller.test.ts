import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defaultGates } from '../../api/gates.ts'
import { fieldsOf, type KubeObject, textsOf } from '../../api/object.ts'
import type { EventSource } from '../../storage/cache/watch.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import type { Resource } from '../../registry/resource.ts'
import { builtIn, MemoryControlPlane } from '../../../test/support/harness/memory-control-plane.ts'
import { QueueMetrics } from '../../lib/telemetry/queue-metrics.ts'
import type { CacheAccess } from '../cache-access.ts'
import { NamespaceController } from './namespace-controller.ts'

const namespaces = builtIn('namespaces')

const ending = (uid: string, finalizers: readonly string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'n', uid, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers },
  spec: { finalizers: ['kubernetes'] },
})

test('a namespace is also emptied if it replaced another namespace of the same name while no watch was open', async () => {
  await using plane = await MemoryControlPlane.start([namespaces])
  const watches: EventSource[] = []
  let open = Promise.resolve()
  const accessOf = (resource: Resource): CacheAccess => {
    const { keys, reader } = plane.accessOf(resource)
    const watch: CacheAccess['reader']['watch'] = async (options) => {
      await open
      const source = await reader.watch(options)
      watches.push(source)
      return source
    }
    const get: typeof reader.get = (...asked) => reader.get(...asked)
    const list: typeof reader.list = (...asked) => reader.list(...asked)
    return { keys, reader: { known: () => reader.known(), get, list, watch } }
  }
  const { handle, registry } = plane
  const metrics = new QueueMetrics(new Metrics())
  await plane.create(namespaces, ending('one', ['example.com/hold']))
  await using controller = new NamespaceController({
    handle,
    registry,
    accessOf,
    hasReplicas: true,
    metrics,
    clock: systemClock,
    gates: defaultGates,
    log: silent,
  })
  void controller
  const read = async (): Promise<KubeObject | undefined> => {
    const { keys, reader } = plane.accessOf(namespaces)
    return (await reader.get(keys.key(undefined, 'n'), 'latest')).item?.object()
  }
  const isFinalized = async (): Promise<boolean> =>
    textsOf(fieldsOf((await read())?.['spec'])['finalizers']).length === 0
  await until(isFinalized)
  const reopened = Promise.withResolvers<void>()
  open = reopened.promise
  for (const watch of watches) watch.close()
  await plane.remove(namespaces, undefined, 'n')
  await plane.create(namespaces, ending('two', ['example.com/hold']))
  reopened.resolve()
  assert.equal((await read())?.metadata.uid, 'two')
  await until(isFinalized)
})

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 30_000
  while (!(await isDone())) {
    assert.ok(performance.now() < endMs, 'not within half a minute')
    await sleep(20)
  }
}
