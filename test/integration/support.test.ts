import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEtcd } from '../support/harness/etcd.ts'
import { startOn } from './support.ts'

test('a test server that fails to start disposes of the resources that it owns', async () => {
  const etcd = await startEtcd()
  let isEnded = false
  const owned = {
    [Symbol.asyncDispose]: async () => {
      isEnded = true
      await etcd[Symbol.asyncDispose]()
    },
  }
  await assert.rejects(startOn(etcd, ['--no-such-flag'], { owned }), /no-such-flag/)
  assert.ok(isEnded)
})
