import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { strictPodFaults } from './strict-addresses.ts'

test('since 1.34, the strict rules for addresses apply to the template of a StatefulSet', () => {
  const set: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 's' },
    spec: { template: { spec: { hostAliases: [{ ip: '01.2.3.4' }] } } },
  }
  const paths = [33, 34].map((release) =>
    strictPodFaults(set, undefined, { kind: 'StatefulSet.apps', release }).map(({ path }) => path),
  )
  assert.deepEqual(paths, [[], ['spec.template.spec.hostAliases[0].ip']])
})
