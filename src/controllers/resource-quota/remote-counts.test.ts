import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenCharges } from '../../admission/resource-quota/open-charges.ts'
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { builtIn, MemoryControlPlane } from '../../../test/support/harness/memory-control-plane.ts'
import { answering, RemoteApiServer } from '../../../test/support/harness/remote-api-server.ts'
import { until } from '../../../test/support/harness/until.ts'
import { QueueMetrics } from '../../lib/telemetry/queue-metrics.ts'
import { QuotaController } from './quota-controller.ts'

const quotas = builtIn('resourcequotas')
const name = 'count/things.remote.example.com'
const quota = (more: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q', namespace: 'n', uid: 'uid-q' },
  spec: { hard: { [name]: '2' } },
  ...more,
})

async function usedOf({ accessOf }: MemoryControlPlane): Promise<unknown> {
  const { keys, reader } = accessOf(quotas)
  const status = (await reader.get(keys.key('n', 'q'), 'latest')).item?.object()['status']
  return fieldsOf(fieldsOf(status)['used'])[name]
}

function counting(
  plane: Pick<MemoryControlPlane, 'registry' | 'accessOf' | 'handle'>,
  remote: RemoteApiServer,
): QuotaController {
  const { registry, accessOf } = plane
  const metrics = new QueueMetrics(new Metrics())
  const gates = { release: 33, isOn: () => true }
  const openCharges = new OpenCharges()
  const parts = {
    registry,
    accessOf,
    metrics,
    openCharges,
    gates,
    clock: systemClock,
    log: silent,
    remote: remote.apis,
  }
  return new QuotaController({ ...parts, handle: remote.before(plane.handle) })
}

test('objects of remote servers are counted when they are created and deleted', async () => {
  await using plane = await MemoryControlPlane.start([quotas])
  const remote = new RemoteApiServer()
  remote.create('a')
  remote.create('elsewhere', { namespace: 'm' })
  await using parts = new AsyncDisposableStack()
  parts.use(counting(plane, remote))
  await plane.create(quotas, quota())
  await until(async () => (await usedOf(plane)) === '1', 'existing objects are counted')
  remote.create('b')
  remote.create('c')
  await until(async () => (await usedOf(plane)) === '3', 'new objects are counted')
  remote.remove('a')
  remote.remove('b')
  await until(async () => (await usedOf(plane)) === '1', 'deleted objects are not counted')
})

test('the recorded number of remote objects does not change while a remote server is unavailable', async () => {
  await using plane = await MemoryControlPlane.start([quotas])
  const remote = new RemoteApiServer()
  remote.create('a')
  let asked = 0
  remote.answer = () => {
    asked++
    return answering(503, 'away')
  }
  await using parts = new AsyncDisposableStack()
  parts.use(counting(plane, remote))
  await plane.create(quotas, quota({ status: { hard: {}, used: { [name]: '7' } } }))
  await until(() => asked > 1, 'the request is retried')
  await until(async () => {
    const { keys, reader } = plane.accessOf(quotas)
    const status = (await reader.get(keys.key('n', 'q'), 'latest')).item?.object()['status']
    return fieldsOf(fieldsOf(status)['hard'])[name] === '2'
  }, 'the limits are reported')
  assert.equal(await usedOf(plane), '7')
  remote.answer = () => undefined
  await until(async () => (await usedOf(plane)) === '1', 'the server is back')
})

test('a resource of a remote server that no quota limits is not requested', async () => {
  await using plane = await MemoryControlPlane.start([quotas])
  const remote = new RemoteApiServer()
  await using parts = new AsyncDisposableStack()
  parts.use(counting(plane, remote))
  await plane.create(quotas, quota({ spec: { hard: { pods: '1' } } }))
  await until(async () => {
    const { keys, reader } = plane.accessOf(quotas)
    return (await reader.get(keys.key('n', 'q'), 'latest')).item?.object()['status'] !== undefined
  }, 'the quota was processed')
  assert.deepEqual(remote.asked, [])
})

test('a status write that fails with a conflict although the quota is unchanged is not retried immediately', async () => {
  await using plane = await MemoryControlPlane.start([quotas])
  let writes = 0
  const refusing: Handler = async (request, user) => {
    if (request.method !== 'PUT') return plane.handle(request, user)
    writes++
    return answering(409, '{"kind":"Status","reason":"Conflict"}')
  }
  await using parts = new AsyncDisposableStack()
  parts.use(
    counting(
      { registry: plane.registry, accessOf: plane.accessOf, handle: refusing },
      new RemoteApiServer(),
    ),
  )
  await plane.create(quotas, quota())
  await until(() => writes > 0, 'the status is written')
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.ok(writes < 15, `${writes} writes in a second`)
})
