import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestLongestTurnMs, turnsDuring } from '../../../../test/support/harness/turns.ts'
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

test('compiling the selectors of a claim does not block the event loop', async () => {
  const claim = claimOf(Array.from({ length: 16 }, (_, at) => long(`d${at}`)))
  const turns = await turnsDuring(async () =>
    assert.deepEqual(await resourceClaimRules.validateInSlices?.(claim, undefined), []),
  )
  assert.ok(turns > 5, `${turns} turns`)
})

const TURN_MS_MAX = 50

test('validating many selectors of a claim does not block the event loop', async () => {
  const selectors = Array.from({ length: 450_000 }, () => ({}))
  const requests = [
    { name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'All', selectors } },
  ]
  const claim = { ...claimOf([]), spec: { devices: { requests } } }
  const ms = await bestLongestTurnMs(async () => {
    await resourceClaimRules.validateInSlices?.(claim, undefined)
  })
  assert.ok(ms < TURN_MS_MAX, `${ms} ms`)
})

test('the error for a selector that does not compile reports the path of its expression', async () => {
  const faults =
    (await resourceClaimRules.validateInSlices?.(claimOf(['true', '1 +']), undefined)) ?? []
  assert.deepEqual(
    faults.map(({ path }) => path),
    ['spec.devices.requests[1].exactly.selectors[0].cel.expression'],
  )
})
