/**
 * Tests the guarantees of the store on any engine. All tests share one engine, and each test uses
 * its own keys.
 */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { cachedAbsenceTests, cachedRefusalTests, cachedWriteTests } from './cached-contract.ts'
import { engineFeedTests, engineReadTests, engineWriteTests } from './engine-contract.ts'
import {
  feedCompactionTests,
  feedEventTests,
  feedOrderTests,
  feedProgressTests,
  feedStreamTests,
} from './feed-contract.ts'
import { historyTests, listTests, readTests, transformTests, walkTests } from './read-contract.ts'
import type { Subject } from './subject.ts'
import {
  concurrencyTests,
  deleteTests,
  failureTests,
  leaseTests,
  updateTests,
} from './write-contract.ts'

export function storeContract(name: string, makeSubject: () => Promise<Subject>): void {
  describe(`store on ${name}`, () => {
    let subject: Subject | undefined
    before(async () => {
      subject = await makeSubject()
    })
    after(async () => {
      await subject?.[Symbol.asyncDispose]()
    })
    const get = (): Subject => {
      assert.ok(subject)
      return subject
    }
    describe('reads and creates', () => readTests(get))
    describe('updates', () => updateTests(get))
    describe('concurrent updates', () => concurrencyTests(get))
    describe('cached state: writes', () => cachedWriteTests(get))
    describe('cached state: refusals', () => cachedRefusalTests(get))
    describe('cached state: keys that come and go', () => cachedAbsenceTests(get))
    describe('deletes', () => deleteTests(get))
    describe('lists', () => listTests(get))
    describe('walks', () => walkTests(get))
    describe('old revisions', () => historyTests(get))
    describe('leases', () => leaseTests(get))
    describe('transformers', () => transformTests(get))
    describe('failures', () => failureTests(get))
    describe('feed: events', () => feedEventTests(get))
    describe('feed: order', () => feedOrderTests(get))
    describe('feed: progress', () => feedProgressTests(get))
    describe('feed: compaction', () => feedCompactionTests(get))
    describe('feed: streams', () => feedStreamTests(get))
    describe('engine: feeds', () => engineFeedTests(get))
    describe('engine: writes', () => engineWriteTests(get))
    describe('engine: reads', () => engineReadTests(get))
  })
}
