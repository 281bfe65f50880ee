import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { History } from './history.ts'
import { judge } from './judge.ts'
import { encodeValue, Model, type ReadResult, type WriteOutcome } from './model.ts'

type Step = {
  readonly key?: string
  readonly tag: string | undefined
  readonly revision: number
  readonly after?: string
}

/** Returns a history of one or several keys. It counts the versions of each key as etcd does. */
function historyOf(...steps: readonly Step[]): History {
  const history = new History(1)
  const versions = new Map<string, number>()
  for (const { key = 'a', tag, revision, after = null } of steps) {
    const version = tag === undefined ? 0 : (versions.get(key) ?? 0) + 1
    versions.set(key, version)
    const value = tag === undefined ? undefined : encodeValue({ tag, after }).toString()
    history.add(
      [{ key, revision, value, createRevision: revision - version + 1, version }],
      revision,
    )
  }
  return history
}

function modelOf(
  ...writes: readonly { key?: string; tag: string | undefined; result: WriteOutcome }[]
): Model {
  const model = new Model()
  for (const { key = 'a', tag, result } of writes) model.beginWrite(key, tag)(result)
  return model
}

const acknowledged = (revision: number, previousRevision?: number): WriteOutcome => ({
  outcome: 'acknowledged',
  revision,
  previousRevision,
})
const ambiguous: WriteOutcome = { outcome: 'ambiguous' }
const refused: WriteOutcome = { outcome: 'refused', reason: 'unavailable' }

describe('the judge of a simulation checks the results of writes', () => {
  const cases: readonly {
    name: string
    model: Model
    history: History
    fault: RegExp | undefined
  }[] = [
    {
      name: 'an acknowledged write that happened is correct',
      model: modelOf(
        { tag: 'w.0', result: acknowledged(2, 0) },
        { tag: 'w.1', result: acknowledged(3, 2) },
      ),
      history: historyOf({ tag: 'w.0', revision: 2 }, { tag: 'w.1', revision: 3, after: 'w.0' }),
      fault: undefined,
    },
    {
      name: 'an acknowledged write that did not happen is reported as lost',
      model: modelOf({ tag: 'w.0', result: acknowledged(2) }),
      history: historyOf({ key: 'b', tag: undefined, revision: 2 }),
      fault: /lost: acknowledged w\.0/,
    },
    {
      name: 'an acknowledged write at another revision is reported',
      model: modelOf({ tag: 'w.0', result: acknowledged(3) }),
      history: historyOf({ tag: 'w.0', revision: 2 }),
      fault: /got revision 3/,
    },
    {
      name: 'a write that happened twice is reported',
      model: modelOf({ tag: 'w.0', result: acknowledged(2) }),
      history: historyOf({ tag: 'w.0', revision: 2 }, { tag: 'w.0', revision: 3, after: 'w.0' }),
      fault: /twice/,
    },
    {
      name: 'an ambiguous write may have happened',
      model: modelOf({ tag: 'w.0', result: ambiguous }),
      history: historyOf({ tag: 'w.0', revision: 2 }),
      fault: undefined,
    },
    {
      name: 'an ambiguous write may not have happened',
      model: modelOf({ tag: 'w.0', result: ambiguous }),
      history: historyOf(),
      fault: undefined,
    },
    {
      name: 'a refused write must not have happened',
      model: modelOf({ tag: 'w.0', result: refused }),
      history: historyOf({ tag: 'w.0', revision: 2 }),
      fault: /got the error "unavailable"/,
    },
    {
      name: 'a write that replaced another state than it was based on is a lost update',
      model: modelOf(
        { tag: 'w.0', result: acknowledged(2) },
        { tag: 'w.1', result: acknowledged(3) },
        { tag: 'w.2', result: acknowledged(4) },
      ),
      history: historyOf(
        { tag: 'w.0', revision: 2 },
        { tag: 'w.1', revision: 3, after: 'w.0' },
        { tag: 'w.2', revision: 4, after: 'w.0' },
      ),
      fault: /w\.2 replaced w\.1 in a, but was based on w\.0/,
    },
    {
      name: 'a write that claims to have replaced another revision is reported',
      model: modelOf(
        { tag: 'w.0', result: acknowledged(2) },
        { tag: 'w.1', result: acknowledged(3, 1) },
      ),
      history: historyOf({ tag: 'w.0', revision: 2 }, { tag: 'w.1', revision: 3, after: 'w.0' }),
      fault: /claims to replace revision 1, but replaced 2/,
    },
    {
      name: 'a delete that no client sent is reported',
      model: modelOf({ tag: 'w.0', result: acknowledged(2) }, { tag: undefined, result: refused }),
      history: historyOf({ tag: 'w.0', revision: 2 }, { tag: undefined, revision: 3 }),
      fault: /deleted 1 times, but at most 0/,
    },
    {
      name: 'an ambiguous delete may have happened',
      model: modelOf(
        { tag: 'w.0', result: acknowledged(2) },
        { tag: undefined, result: ambiguous },
      ),
      history: historyOf({ tag: 'w.0', revision: 2 }, { tag: undefined, revision: 3 }),
      fault: undefined,
    },
    {
      name: 'a write whose revision is not above an earlier acknowledged one is reported',
      model: modelOf(
        { tag: 'w.0', result: acknowledged(3) },
        { tag: 'w.1', result: acknowledged(2) },
      ),
      history: historyOf({ tag: 'w.1', revision: 2 }, { tag: 'w.0', revision: 3, after: 'w.1' }),
      fault: /got revision 2; 3 was acknowledged/,
    },
    {
      name: 'a value that no client wrote is reported',
      model: modelOf(),
      history: historyOf({ tag: 'w.0', revision: 2 }),
      fault: /which no client wrote/,
    },
  ]
  for (const { name, model, history, fault } of cases) {
    test(name, () => {
      const faults = judge(model, history).join('\n')
      if (fault === undefined) assert.equal(faults, '')
      else assert.match(faults, fault)
    })
  }
})

describe('the judge of a simulation checks the results of reads', () => {
  const first = { key: 'a', tag: 'w.0', revision: 2 }
  const second = { key: 'a', tag: 'w.1', revision: 4 }
  const cases: readonly { name: string; reading: ReadResult; fault: RegExp | undefined }[] = [
    {
      name: 'a read of the last value is correct',
      reading: { scope: { key: 'a' }, floor: 4, revision: undefined, items: [second] },
      fault: undefined,
    },
    {
      name: 'a read of a value that was replaced after the floor is correct',
      reading: { scope: { key: 'a' }, floor: 3, revision: undefined, items: [first] },
      fault: undefined,
    },
    {
      name: 'a read of a value that was replaced before the read began is stale',
      reading: { scope: { key: 'a' }, floor: 4, revision: undefined, items: [first] },
      fault: /stale/,
    },
    {
      name: 'a read that misses an existing value is stale',
      reading: { scope: { key: 'a' }, floor: 2, revision: undefined, items: [] },
      fault: /stale/,
    },
    {
      name: 'a read at a revision before the key existed is empty',
      reading: { scope: { key: 'a' }, floor: 0, revision: 1, items: [] },
      fault: undefined,
    },
    {
      name: 'a value with a revision that it did not have is wrong',
      reading: {
        scope: { key: 'a' },
        floor: 0,
        revision: undefined,
        items: [{ ...first, revision: 3 }],
      },
      fault: /wrong/,
    },
    {
      name: 'a list with the state of its revision is correct',
      reading: {
        scope: { prefix: '' },
        floor: 3,
        revision: 3,
        items: [first, { key: 'b', tag: 'w.2', revision: 3 }],
      },
      fault: undefined,
    },
    {
      name: 'a list that mixes two revisions is wrong',
      reading: {
        scope: { prefix: '' },
        floor: 3,
        revision: 3,
        items: [second, { key: 'b', tag: 'w.2', revision: 3 }],
      },
      fault: /wrong: list/,
    },
    {
      name: 'a list that lacks a key is wrong',
      reading: { scope: { prefix: '' }, floor: 3, revision: 4, items: [second] },
      fault: /b .* is missing/,
    },
    {
      name: 'a list that is older than the floor is stale',
      reading: { scope: { prefix: '' }, floor: 3, revision: 2, items: [first] },
      fault: /stale: list/,
    },
  ]
  for (const { name, reading, fault } of cases) {
    test(name, () => {
      const model = modelOf(
        { tag: 'w.0', result: acknowledged(2) },
        { key: 'b', tag: 'w.2', result: acknowledged(3) },
        { tag: 'w.1', result: acknowledged(4) },
      )
      model.noteReading(reading)
      const history = historyOf(
        { tag: 'w.0', revision: 2 },
        { key: 'b', tag: 'w.2', revision: 3 },
        { tag: 'w.1', revision: 4, after: 'w.0' },
      )
      const faults = judge(model, history).join('\n')
      if (fault === undefined) assert.equal(faults, '')
      else assert.match(faults, fault)
    })
  }
})

test('the value of a key can be its last acknowledged write or a later write with an unknown outcome', () => {
  const model = modelOf(
    { tag: 'w.0', result: acknowledged(2) },
    { tag: 'w.1', result: ambiguous },
    { tag: 'w.2', result: refused },
  )
  assert.deepEqual([...model.possible('a')], ['w.0', 'w.1'])
})
