import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { OpenCharges } from '../../admission/resource-quota/open-charges.ts'
import { fieldsOf, type KubeObject } from '../../api/object.ts'
import { request } from '../../api/own-request.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { builtIn, MemoryControlPlane } from '../../../test/support/harness/memory-control-plane.ts'
import { until } from '../../../test/support/harness/until.ts'
import { QueueMetrics } from '../../lib/telemetry/queue-metrics.ts'
import { STORED_MS } from './recent-charges.ts'
import { QuotaController, type QuotaControllerOptions } from './quota-controller.ts'

/** Time within which the controller counts a quota. */
const SETTLED_MS = 200

const quotas = builtIn('resourcequotas')
const configMaps = builtIn('configmaps')

const named = (
  kind: string,
  namespace: string,
  name: string,
  more: Partial<KubeObject> = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace, uid: `${namespace}-${name}` },
  ...more,
})

const limited = (namespace: string, used: string): KubeObject => {
  const hard = { configmaps: '2' }
  return named('ResourceQuota', namespace, 'q', {
    spec: { hard },
    status: { hard, used: { configmaps: used } },
  })
}

async function usedIn({ accessOf }: MemoryControlPlane, namespace: string): Promise<unknown> {
  const { keys, reader } = accessOf(quotas)
  const status = (await reader.get(keys.key(namespace, 'q'), 'latest')).item?.object()['status']
  return fieldsOf(fieldsOf(status)['used'])['configmaps']
}

type StartOptions = Pick<QuotaControllerOptions, 'openCharges' | 'hasReplicas' | 'clock'>

function start(plane: MemoryControlPlane, options: StartOptions): QuotaController {
  const { registry, accessOf, handle } = plane
  const metrics = new QueueMetrics(new Metrics())
  const gates = { isOn: () => true }
  const parts = { registry, accessOf, handle, metrics, gates, log: silent }
  return new QuotaController({ ...parts, ...options })
}

test('a recount of a quota keeps the charge for an object that is not stored yet', async () => {
  await using plane = await MemoryControlPlane.start([quotas, configMaps])
  const openCharges = new OpenCharges()
  await plane.create(configMaps, named('ConfigMap', 'busy', 'old'))
  await plane.create(configMaps, named('ConfigMap', 'other', 'old'))
  await using _ = start(plane, { openCharges, hasReplicas: false, clock: systemClock })
  const end = openCharges.begin('busy')
  // One object is stored, and another one is charged but not stored yet.
  await plane.create(quotas, limited('busy', '2'))
  await plane.create(quotas, limited('other', '2'))
  await until(async () => (await usedIn(plane, 'other')) === '1', 'quotas are counted')
  assert.equal(await usedIn(plane, 'busy'), '2')
  await plane.create(configMaps, named('ConfigMap', 'busy', 'new'))
  end()
  await plane.remove(configMaps, 'busy', 'old')
  await until(async () => (await usedIn(plane, 'busy')) === '1', 'the deleted object is given back')
})

test('a recount of a quota keeps the recent charges of other servers', async () => {
  await using plane = await MemoryControlPlane.start([quotas, configMaps])
  let passedMs = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs }
  await plane.create(configMaps, named('ConfigMap', 'busy', 'old'))
  await plane.create(quotas, limited('busy', '3'))
  await using _ = start(plane, { openCharges: new OpenCharges(), hasReplicas: true, clock })
  await setTimeout(SETTLED_MS)
  assert.equal(await usedIn(plane, 'busy'), '3', 'earlier charges are unknown')
  passedMs += STORED_MS
  const charged = { status: limited('busy', '4')['status'] }
  const path = '/api/v1/namespaces/busy/resourcequotas/q/status'
  const { signal } = new AbortController()
  await request(plane.handle, { method: 'PUT', path, body: charged, signal })
  await plane.remove(configMaps, 'busy', 'old')
  await until(async () => (await usedIn(plane, 'busy')) !== '4', 'the quota is counted')
  assert.equal(await usedIn(plane, 'busy'), '1', 'no object is stored, and one is charged')
  passedMs += STORED_MS
  await until(async () => (await usedIn(plane, 'busy')) === '0', 'the quota is counted again')
})
