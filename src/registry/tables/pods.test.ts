import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../api/object.ts'
import { tableOf } from './all.ts'

/** Returns the status that the table of Pods shows in a release. */
function statusIn(release: number, containerStatuses: readonly Fields[], isReady = false): unknown {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }]
  const status = { phase: 'Running', conditions, containerStatuses: [...containerStatuses] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: {}, status }
  return tableOf('Pod', release).cells(pod)[2]
}

const completed = { state: { terminated: { reason: 'Completed', exitCode: 0 } } }
const failed = { state: { terminated: { reason: 'Error', exitCode: 1 } } }
const running = { ready: true, state: { running: {} } }

test('since 1.35, the table of Pods shows the reason of a container that failed', () => {
  const shown = [34, 35].map((release) => statusIn(release, [completed, failed]))
  assert.deepEqual(shown, ['Completed', 'Error'])
  const beside = [34, 35].map((release) => statusIn(release, [completed, failed, running]))
  assert.deepEqual(beside, ['NotReady', 'Error'])
})

test('the table of Pods shows a ready Pod as Running although a container has failed', () => {
  const shown = [34, 35].map((release) => statusIn(release, [completed, failed, running], true))
  assert.deepEqual(shown, ['Running', 'Running'])
})
