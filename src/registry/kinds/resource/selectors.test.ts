import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../../test/harness/turns.ts'
import type { KubeObject } from '../../../api/object.ts'
import { resourceClaimRules } from './resource-claim.ts'

const claimOf = (expressions: readonly string[]): KubeObject => ({
  apiVersion: 'resource.k8s.io/v1beta2',
  kind: 'ResourceClaim',
  metadata: { name: 'x' },
  spec: {
    devices: {
      requests: expressions.map((expression, at) => ({
        name: `r${at}`,
        exactly: {
          deviceClassName: 'c',
          allocationMode: 'All',
          selectors: [{ cel: { expression } }],
        },
      })),
    },
  },
})

const long = (driver: string): string =>
  Array.from({ length: 300 }, (_, at) => `device.driver != '${driver}${at}'`).join(' && ')

test('others get their turns while the selectors of a claim are compiled', async () => {
  const claim = claimOf(Array.from({ length: 16 }, (_, at) => long(`d${at}`)))
  const turns = await turnsDuring(async () =>
    assert.deepEqual(await resourceClaimRules.validateInSlices?.(claim, undefined), []),
  )
  assert.ok(turns > 5, `${turns} turns`)
})

test('a selector that cannot be compiled is told at its place', async () => {
  const faults = (await resourceClaimRules.validateInSlices?.(claimOf(['true', '1 +']), undefined)) ?? []
  assert.deepEqual(
    faults.map(({ path }) => path),
    ['spec.devices.requests[1].exactly.selectors[0].cel.expression'],
  )
})
