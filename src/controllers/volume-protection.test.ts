import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { KubeObject } from '../api/object.ts'
import { Item } from '../storage/cache/item.ts'
import { isDivided } from '../lib/scheduling/parts.ts'
import { ResourceKeys } from '../storage/keys.ts'
import { isClaimUsed } from './volume-protection.ts'

const none = () => assert.fail()
const print = () => ({ bytes: Buffer.alloc(0), headBytes: 0, versionAt: 0 })

test('the event loop is not blocked while a very large number of pods is checked for a claim', async () => {
  const claim: KubeObject = { apiVersion: 'v1', kind: 'C', metadata: { name: 'c', namespace: 'n' } }
  let reads = 0
  const decode = (): KubeObject => {
    reads++
    for (const endMs = performance.now() + 0.5; performance.now() < endMs; );
    const isLast = reads === 100
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: isLast ? 'c' : 'd' } }]
    return { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { nodeName: 'n', volumes } }
  }
  const home = {
    codec: { decode, print },
    put: () => undefined,
    view: () => Buffer.alloc(0),
    keep: () => undefined,
  }
  const keys = new ResourceKeys('/registry/', 'pods', true)
  const items = Array.from(
    { length: 100 },
    (_, index) =>
      new Item(home, { key: keys.key('n', `p${index}`), revision: 1, createRevision: 1 }),
  )
  const list = async () => ({ items, revision: 1, more: false, remaining: 0 })
  const asked = isClaimUsed(claim, { keys, reader: { known: none, get: none, watch: none, list } })
  await turn()
  assert.ok(reads < 50, `${reads} in the first turn`)
  assert.equal(await asked, true)
  assert.equal(reads, 100)
})

function decodeDivided(): KubeObject {
  assert.ok(isDivided())
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }]
  return { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { nodeName: 'n', volumes } }
}

test('a large pod is decoded in parts and not kept in memory', async () => {
  const claim: KubeObject = { apiVersion: 'v1', kind: 'C', metadata: { name: 'c', namespace: 'n' } }
  const home = {
    codec: { decode: decodeDivided, print },
    put: none,
    view: () => Buffer.alloc(0),
    keep: none,
  }
  const keys = new ResourceKeys('/registry/', 'pods', true)
  const item = new Item(home, { key: keys.key('n', 'p'), revision: 1, createRevision: 1 })
  item.length = 100_000
  const list = async () => ({ items: [item], revision: 1, more: false, remaining: 0 })
  assert.ok(
    await isClaimUsed(claim, { keys, reader: { known: none, get: none, watch: none, list } }),
  )
})
