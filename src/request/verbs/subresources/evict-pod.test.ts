import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conflict } from '../../../api/errors.ts'
import { type Fields, fieldsOf, type KubeObject } from '../../../api/object.ts'
import { checkDeleteOptions } from '../delete-options.ts'
import { evictPod, type BudgetUse } from './evict-pod.ts'

const aPod = (status: Fields): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  status,
})

/**
 * Evicts a pod. Just before the first attempt to delete the pod, another writer stores the next
 * state of the pod. Returns the executed steps, followed by the error, if any.
 */
async function evicted(
  states: readonly KubeObject[],
  { spent = {}, options = {} }: { readonly spent?: BudgetUse; readonly options?: Fields } = {},
): Promise<string[]> {
  const log: string[] = []
  let at = 0
  let isFirst = true
  const steps = {
    read: async () => ({ pod: states[at] ?? assert.fail(), resourceVersion: `${at + 1}` }),
    spend: async () => {
      log.push('spend')
      return spent
    },
    remove: async ({ resourceVersion }: { readonly resourceVersion: string | undefined }) => {
      if (isFirst && at + 1 < states.length) at++
      isFirst = false
      if (resourceVersion !== undefined && resourceVersion !== `${at + 1}`) {
        throw conflict({ group: '', plural: 'Pod' }, 'p', 'other version')
      }
      log.push(
        `remove ${resourceVersion ?? 'any'} of ${JSON.stringify(fieldsOf(states[at]?.['status']))}`,
      )
    },
    wait: async () => void log.push('wait'),
  }
  await evictPod(checkDeleteOptions(options, 33), steps).catch((error: unknown) =>
    log.push(String(error)),
  )
  return log
}

const pending = aPod({ phase: 'Pending' })
const running = aPod({ phase: 'Running' })

test('a pod that starts during its eviction is checked again, and its PodDisruptionBudget is used', async () => {
  assert.deepEqual(await evicted([pending, running]), [
    'wait',
    'spend',
    'remove any of {"phase":"Running"}',
  ])
})

test('a finished pod is removed even if it was changed during the eviction', async () => {
  const failed = aPod({ phase: 'Failed' })
  assert.deepEqual(await evicted([failed, aPod({ phase: 'Failed', message: 'm' })]), [
    'remove any of {"phase":"Failed","message":"m"}',
  ])
})

test('an unready pod that its PodDisruptionBudget did not count is not removed if it was changed during the eviction', async () => {
  const ready = aPod({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] })
  const [first, error = ''] = await evicted([running, ready], { spent: { uncountedIn: 'b' } })
  assert.equal(first, 'spend')
  assert.match(error, /Cannot evict pod as it would violate the pod's disruption budget/)
})

test('an eviction with a resourceVersion precondition fails with a conflict, and is not retried', async () => {
  const preconditions = { resourceVersion: '1' }
  const [error = '', ...rest] = await evicted([pending, running], { options: { preconditions } })
  assert.match(error, /other version/)
  assert.deepEqual(rest, [])
})
