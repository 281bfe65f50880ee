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
  describe(`the store works on ${name}`, () => {
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
    describe('values can be created and read', () => readTests(get))
    describe('values can be updated', () => updateTests(get))
    describe('concurrent updates do not overwrite each other', () => concurrencyTests(get))
    describe('writes can be based on cached state', () => cachedWriteTests(get))
    describe('refusals because of stale cached state are repeated', () => cachedRefusalTests(get))
    describe('cached state can be wrong about whether a key exists', () => cachedAbsenceTests(get))
    describe('values can be deleted', () => deleteTests(get))
    describe('values can be listed', () => listTests(get))
    describe('values can be read page by page', () => walkTests(get))
    describe('values can be read at old revisions', () => historyTests(get))
    describe('values with a lease expire', () => leaseTests(get))
    describe('values can be transformed', () => transformTests(get))
    describe('failures of the database are reported', () => failureTests(get))
    describe('event feeds report writes', () => feedEventTests(get))
    describe('event feeds keep the order of writes', () => feedOrderTests(get))
    describe('event feeds report progress', () => feedProgressTests(get))
    describe('event feeds report compactions', () => feedCompactionTests(get))
    describe('event feeds can be ended and reopened', () => feedStreamTests(get))
    describe('engines report previous values', () => engineFeedTests(get))
    describe('engines compare values before they write', () => engineWriteTests(get))
    describe('engines read ranges and old revisions', () => engineReadTests(get))
  })
}
