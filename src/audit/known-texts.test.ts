import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { KnownTexts } from './known-texts.ts'

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')

async function usedBytes(): Promise<number> {
  assert.ok(typeof collect === 'function')
  // What a regular expression was last applied to is kept, too.
  'another text'.match(/a/)
  // The memory of buffers is given back between two collections.
  for (let twice = 0; twice < 2; twice++) {
    collect()
    await new Promise((resolve) => void setTimeout(resolve, 20))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** What is held of so many requests, each of which has texts of 1 MB. */
async function heldBytes(count: number, remember: (request: number, longText: string) => void): Promise<number> {
  const before = await usedBytes()
  for (let request = 0; request < count; request++) remember(request, Buffer.alloc(1 << 20, 'a').toString('latin1'))
  return (await usedBytes()) - before
}

test('names of a path that are remembered do not keep the path', async () => {
  const texts = new KnownTexts()
  const held = await heldBytes(50, (request, longText) => {
    const path = Buffer.from(
      `/apis/group-of-request-${request}/v1/namespaces/namespace-of-request-${request}/pods/${longText}`,
    )
    const [, , group = '', version = '', , namespace = '', plural = ''] = path.toString('latin1').split('/')
    for (let twice = 0; twice < 2; twice++) {
      texts.place(plural, namespace)
      texts.namedPlace(plural, namespace)
      texts.version(group, version)
      texts.namedVersion(group, version)
    }
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})

test('a method that is longer than any verb is not remembered', async () => {
  const texts = new KnownTexts()
  const users = Array.from({ length: 50 }, (_, at) => ({ name: `user-${at}`, uid: '', groups: [] }))
  const source = { ips: [], userAgent: '', fields: Buffer.alloc(0) }
  const held = await heldBytes(users.length, (request, longText) => {
    const user = users[request] ?? assert.fail()
    assert.equal(texts.asking(longText, user, source).fields.length > longText.length, true)
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
  assert.equal(users.length, 50)
})
