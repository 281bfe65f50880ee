import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtIn } from '../../test/support/harness/memory-control-plane.ts'
import { storedItem } from '../../test/support/harness/stored-item.ts'
import { bestLongestTurnMs } from '../../test/support/harness/turns.ts'
import { ParentStates } from './parents.ts'

const { shape } = builtIn('namespaces')

const namespace = (annotations: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name: 'n',
        uid: 'u',
        annotations: Object.fromEntries(
          Array.from({ length: annotations }, (_, n) => [`a${n}`, '']),
        ),
      },
      status: { phase: 'Terminating' },
    }),
  )

test('a small Namespace or CustomResourceDefinition is read without delay, and only once for several creates', () => {
  let reads = 0
  const states = new ParentStates(() => (reads++ === 0 ? 'none' : 'all'))
  const item = storedItem(namespace(1), shape)
  for (let times = 0; times < 3; times++)
    assert.deepEqual(states.known(item), { uid: 'u', creates: 'none' })
  assert.equal(reads, 1)
})

test('a large Namespace or CustomResourceDefinition is read in parts, and only once for many creates', async () => {
  let reads = 0
  const states = new ParentStates(() => (reads++ >= 0 ? 'none' : 'all'))
  const item = storedItem(namespace(100_000), shape)
  assert.equal(states.known(item), undefined)
  const longestMs = await bestLongestTurnMs(async () => {
    const read = await Promise.all(Array.from({ length: 50 }, () => states.read(item)))
    assert.ok(read.every(({ creates }) => creates === 'none'))
  })
  assert.ok(longestMs < 50, `${longestMs} ms`)
  assert.deepEqual(states.known(item), { uid: 'u', creates: 'none' })
  assert.ok(reads <= 50, `${reads} reads`)
})
