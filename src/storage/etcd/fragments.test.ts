import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { EtcdEvent } from './codec/watch.ts'
import { Fragments } from './fragments.ts'

const event = (modRevision: number): EtcdEvent => ({
  type: 'put',
  kv: {
    key: Buffer.from('k'),
    value: Buffer.alloc(0),
    createRevision: 1,
    modRevision,
    version: 1,
    lease: 0n,
  },
})
const revisions = (events: readonly EtcdEvent[] | undefined): number[] | undefined =>
  events?.map((one) => one.kv.modRevision)

test('a watch response that is not fragmented is returned unchanged', () => {
  const events = [event(5), event(6)]
  equal(new Fragments().add({ fragment: false, events }, 10), events)
})

test('the fragments of a watch response are joined and returned when the last one has arrived', () => {
  const fragments = new Fragments()
  equal(fragments.add({ fragment: true, events: [event(5), event(6)] }, 10), undefined)
  equal(fragments.add({ fragment: true, events: [event(6)] }, 10), undefined)
  deepEqual(revisions(fragments.add({ fragment: false, events: [event(7)] }, 10)), [5, 6, 6, 7])
  deepEqual(revisions(fragments.add({ fragment: false, events: [event(8)] }, 10)), [8])
})

test('if the fragments of a watch response exceed the size limit, complete revisions are returned early, and the last revision is kept', () => {
  const fragments = new Fragments(15)
  equal(fragments.add({ fragment: true, events: [event(5), event(6)] }, 10), undefined)
  deepEqual(
    revisions(fragments.add({ fragment: true, events: [event(6), event(7)] }, 10)),
    [5, 6, 6],
  )
  deepEqual(revisions(fragments.add({ fragment: false, events: [event(7)] }, 10)), [7, 7])
})

test('a single revision of a watch response that exceeds the size limit is an error', () => {
  const fragments = new Fragments(15)
  fragments.add({ fragment: true, events: [event(5)] }, 10)
  throws(() => fragments.add({ fragment: true, events: [event(5)] }, 10), {
    code: 'ResourceExhausted',
  })
})
