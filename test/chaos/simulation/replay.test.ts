import assert from 'node:assert/strict'
import { test } from 'node:test'
import { History } from './history.ts'
import { encodeValue } from './model.ts'
import { Replay } from './replay.ts'

function history(): History {
  const truth = new History(1)
  const put = (key: string, tag: string, revision: number) =>
    truth.add(
      [
        {
          key,
          revision,
          value: encodeValue({ tag, after: null }).toString(),
          createRevision: revision,
          version: 1,
        },
      ],
      revision,
    )
  put('a', 'w.0', 2)
  put('b', 'w.1', 3)
  put('a', 'w.2', 4)
  truth.add([{ key: 'b', revision: 5, value: undefined, createRevision: 0, version: 0 }], 5)
  return truth
}

const added = (key: string, tag: string, revision: number) =>
  ({ type: 'ADDED', item: { key, tag, revision } }) as const
const modified = (key: string, tag: string, revision: number) =>
  ({ type: 'MODIFIED', item: { key, tag, revision } }) as const
const deleted = (key: string, tag: string, revision: number) =>
  ({ type: 'DELETED', item: { key, tag, revision } }) as const

test('replaying all watch events results in the current state', () => {
  const replay = new Replay('one', '')
  for (const event of [
    added('a', 'w.0', 2),
    added('b', 'w.1', 3),
    modified('a', 'w.2', 4),
    deleted('b', 'w.1', 5),
  ])
    replay.apply(event)
  assert.deepEqual(replay.judge(history()), [])
  assert.equal(replay.revision, 5)
})

test('replaying a watch that begins with the existing objects in key order results in the current state', () => {
  const replay = new Replay('one', '')
  replay.restart()
  for (const event of [
    added('a', 'w.2', 4),
    added('b', 'w.1', 3),
    { type: 'BOOKMARK', revision: 4 } as const,
    deleted('b', 'w.1', 5),
  ]) {
    replay.apply(event)
  }
  assert.deepEqual(replay.judge(history()), [])
})

test('an event that a watch missed is reported at the next bookmark and at the end of the watch', () => {
  const replay = new Replay('one', '')
  for (const event of [added('a', 'w.0', 2), { type: 'BOOKMARK', revision: 3 } as const])
    replay.apply(event)
  const faults = replay.judge(history()).join('\n')
  assert.match(faults, /at bookmark 3: b .* is missing/)
  assert.match(faults, /at the end/)
})

test('repeated events, events out of order and deletions or changes of unknown keys are reported', () => {
  const replay = new Replay('one', '')
  for (const event of [modified('a', 'w.2', 4), added('a', 'w.2', 4), deleted('b', 'w.1', 3)])
    replay.apply(event)
  const faults = replay.judge(history()).join('\n')
  assert.match(faults, /MODIFIED of a at 4, which the watcher did not have/)
  assert.match(faults, /a at 4 was sent twice/)
  assert.match(faults, /DELETED of revision 3 after 4/)
  assert.match(faults, /DELETED of b at 3, which the watcher did not have/)
})
