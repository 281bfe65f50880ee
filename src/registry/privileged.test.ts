import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateUnprivileged } from './privileged.ts'

const spec = { containers: [{ name: 'c', securityContext: { privileged: true } }] }
const meta = { apiVersion: 'v1', kind: 'K', metadata: { name: 'n' } }

test('privileged containers are found in every kind that contains a PodSpec', () => {
  const paths = [
    validateUnprivileged({ ...meta, spec }, 'Pod'),
    validateUnprivileged(
      { ...meta, spec: { jobTemplate: { spec: { template: { spec } } } } },
      'CronJob.batch',
    ),
    validateUnprivileged({ ...meta, spec }, 'Service'),
    validateUnprivileged({ ...meta, spec: { containers: [{ name: 'c' }] } }, 'Pod'),
  ].map((faults) => faults.map(({ path }) => path))
  assert.deepEqual(paths, [
    ['spec.containers[0].securityContext.privileged'],
    ['spec.jobTemplate.spec.template.spec.containers[0].securityContext.privileged'],
    [],
    [],
  ])
})
