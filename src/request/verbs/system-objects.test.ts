import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtIn, MemoryControlPlane } from '../../../test/support/harness/memory-control-plane.ts'
import { bestLongestTurnMs } from '../../../test/support/harness/turns.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { pickObjects } from './system-objects.ts'
import { selectsInJson } from './subresources/budgets.ts'

const budgets = builtIn('poddisruptionbudgets', 'policy')
const budget = (name: string, selector: Json | undefined): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name, namespace: 'n' },
  spec: { minAvailable: 1, ...(selector === undefined ? {} : { selector }) },
})
const isWanted = (selector: Buffer | undefined): boolean =>
  selector !== undefined && selectsInJson(selector, { app: 'a' })
const wanted = { path: ['spec', 'selector'], isWanted, countMax: 2 }

test('the PodDisruptionBudgets whose selectors match a pod are found, up to the requested number', async () => {
  await using plane = await MemoryControlPlane.start([budgets])
  await plane.create(budgets, budget('all', {}))
  await plane.create(budgets, budget('none', undefined))
  await plane.create(budgets, budget('other', { matchLabels: { app: 'b' } }))
  await plane.create(budgets, budget('own', { matchLabels: { app: 'a' } }))
  await plane.create(budgets, budget('third', {}))
  const { keys, reader } = plane.accessOf(budgets)
  const { items } = await reader.list(keys.range('n'), 'latest')
  const picked = await pickObjects(items, wanted)
  assert.deepEqual(
    picked.map(({ metadata }) => metadata.name),
    ['all', 'own'],
  )
})

test('selecting from many large PodDisruptionBudgets does not block the event loop', async () => {
  await using plane = await MemoryControlPlane.start([budgets])
  const values = Array.from({ length: 120_000 }, (_, at) => `v${at}`)
  const selector = { matchExpressions: [{ key: 'app', operator: 'In', values }] }
  for (let at = 0; at < 10; at++) await plane.create(budgets, budget(`b${at}`, selector))
  const { keys, reader } = plane.accessOf(budgets)
  const { items } = await reader.list(keys.range('n'), 'latest')
  // The JSON of the items is generated when it is first read. Read it now, so that the measurement
  // does not include this.
  for (const item of items) item.wire()
  const ms = await bestLongestTurnMs(async () =>
    assert.deepEqual(await pickObjects(items, wanted), []),
  )
  assert.ok(ms < 50, `${ms} ms`)
})
