import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../../../api/gates.ts'
import { autoscalerV1Rules } from './horizontal-pod-autoscaler.ts'

test('numbers in annotations may be beyond what a double holds', () => {
  const annotations = {
    'autoscaling.alpha.kubernetes.io/behavior':
      '{"ScaleUp":{"Policies":[{"Type":"Pods","Value":9007199254740993,"PeriodSeconds":1}]}}',
    'autoscaling.alpha.kubernetes.io/conditions': '[{"type":"A","x":9007199254740993}]',
  }
  const object = {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'x', annotations },
    spec: { maxReplicas: 1 },
  }
  const defaulted = autoscalerV1Rules.setDefaults?.(object, defaultGates, () => '')
  assert.match(
    defaulted?.metadata.annotations?.['autoscaling.alpha.kubernetes.io/behavior'] ?? '',
    /"Value":900719925474099/,
  )
})
