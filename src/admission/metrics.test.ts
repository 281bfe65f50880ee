import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anObject, attributes } from '../../test/support/harness/admission.ts'
import { Metrics } from '../lib/telemetry/metrics.ts'
import { Admission, type Plugin } from './admission.ts'
import { AdmissionMetrics } from './metrics.ts'

const write = attributes({ plural: 'configmaps', object: anObject('ConfigMap', 'c') })
const running = [
  'NamespaceLifecycle',
  'LimitRanger',
  'Priority',
  'PersistentVolumeClaimResize',
  'MutatingAdmissionWebhook',
  'ResourceQuota',
]

/** Creates an admission chain whose clock advances by a second with each reading. */
function measured(plugins: readonly Plugin[]) {
  const metrics = new Metrics()
  let seconds = 0
  const monotonicMs = () => 1000 * seconds++
  const admission = new Admission(plugins, {
    running,
    metrics: new AdmissionMetrics(metrics, monotonicMs),
    monotonicMs,
  })
  /** Returns the counts and sums that are not 0, with their labels. */
  const read = () =>
    metrics
      .print()
      .split('\n')
      .filter((line) =>
        /^apiserver_admission_(controller|step)_admission_duration_seconds_(sum|count)\{/.test(
          line,
        ),
      )
      .map((line) =>
        line.replace(/^apiserver_admission_(\w+?)_admission_duration_seconds_(\w+)/, '$1 $2'),
      )
      .filter((line) => !line.endsWith(' 0'))
      .toSorted()
  return { admission, read }
}

const lifecycle: Plugin = { name: 'NamespaceLifecycle', mutate: ({ object }) => object }
const ofPods: Plugin = {
  name: 'LimitRanger',
  resources: new Set(['pods']),
  mutate: ({ object }) => object,
}
const notCounted: Plugin = { name: 'NotUpstreams', mutate: ({ object }) => object }

const label = (name: string): string =>
  `{name="${name}",operation="CREATE",rejected="false",type="admit"}`

test('every plugin that handles the operation is counted, and the duration of a plugin is recorded if the plugin handles the resource', async () => {
  const { admission, read } = measured([notCounted, lifecycle, ofPods])
  await admission.mutate(write)
  await admission.mutate(write)
  assert.deepEqual(read(), [
    `controller count${label('LimitRanger')} 2`,
    `controller count${label('MutatingAdmissionWebhook')} 2`,
    `controller count${label('NamespaceLifecycle')} 2`,
    `controller count${label('Priority')} 2`,
    `controller sum${label('NamespaceLifecycle')} 2`,
    'step count{operation="CREATE",rejected="false",type="admit"} 2',
    'step sum{operation="CREATE",rejected="false",type="admit"} 4',
  ])
})

test('plugins that follow the plugin that rejected the request are not counted', async () => {
  const { admission, read } = measured([
    {
      name: 'Priority',
      validate: () => {
        throw new Error('no')
      },
    },
    { name: 'ResourceQuota', validate: () => undefined },
  ])
  await assert.rejects(async () => admission.validate(write))
  assert.deepEqual(read(), [
    'controller count{name="LimitRanger",operation="CREATE",rejected="false",type="validate"} 1',
    'controller count{name="Priority",operation="CREATE",rejected="true",type="validate"} 1',
    'controller sum{name="Priority",operation="CREATE",rejected="true",type="validate"} 1',
    'step count{operation="CREATE",rejected="true",type="validate"} 1',
    'step sum{operation="CREATE",rejected="true",type="validate"} 1',
  ])
})

test('a second round of mutating admission is counted for each plugin, but not for the mutating step as a whole', async () => {
  const { admission, read } = measured([
    {
      name: 'MutatingAdmissionWebhook',
      mutate: async ({ object }, rounds) => {
        rounds.needsSecond = true
        return object
      },
    },
  ])
  await admission.mutate(write)
  const counts = read().filter((line) => line.includes(' count'))
  assert.equal(
    counts.filter((line) => line.startsWith('controller') && line.endsWith(' 2')).length,
    4,
  )
  assert.equal(counts.filter((line) => line.startsWith('step') && line.endsWith(' 1')).length, 1)
})

test('plugins are not called for operations that they do not handle', async () => {
  const asked: string[] = []
  const plugin = (name: string): Plugin => ({
    name,
    validate: ({ operation }) => void asked.push(`${name} ${operation}`),
  })
  const { admission } = measured([
    plugin('PersistentVolumeClaimResize'),
    plugin('ResourceQuota'),
    plugin('AlwaysAdmit'),
  ])
  for (const operation of ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const) {
    await admission.validate({ ...write, operation })
  }
  assert.deepEqual(asked, [
    'ResourceQuota CREATE',
    'AlwaysAdmit CREATE',
    'PersistentVolumeClaimResize UPDATE',
    'ResourceQuota UPDATE',
    'AlwaysAdmit UPDATE',
    'AlwaysAdmit DELETE',
    'AlwaysAdmit CONNECT',
  ])
})
