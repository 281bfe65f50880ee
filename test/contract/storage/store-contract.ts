/** What the store promises, on whatever engine. Each test has keys of its own; the engine is one for all of them. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { cachedTests } from './cached-contract.ts'
import { engineTests } from './engine-contract.ts'
import { feedTests } from './feed-contract.ts'
import { listTests, readTests, transformTests } from './read-contract.ts'
import type { Subject } from './subject.ts'
import { deleteTests, failureTests, leaseTests, updateTests } from './write-contract.ts'

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
    describe('cached state', () => cachedTests(get))
    describe('deletes', () => deleteTests(get))
    describe('lists', () => listTests(get))
    describe('leases', () => leaseTests(get))
    describe('transformers', () => transformTests(get))
    describe('failures', () => failureTests(get))
    describe('feed', () => feedTests(get))
    describe('engine', () => engineTests(get))
  })
}
