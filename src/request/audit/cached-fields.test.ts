import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import { CachedFields } from './cached-fields.ts'

/** Returns the number of bytes in use after `count` requests, each of which has strings of 1 MB. */
const heldOf = (
  count: number,
  remember: (request: number, longText: string) => void,
): Promise<number> =>
  heldBytes(() => {
    for (let request = 0; request < count; request++)
      remember(request, Buffer.alloc(1 << 20, 'a').toString('latin1'))
  })

test('the cache of audit event fields retains names in request paths, but not the whole paths in memory', async () => {
  const texts = new CachedFields()
  const held = await heldOf(50, (request, longText) => {
    const path = Buffer.from(
      `/apis/group-of-request-${request}/v1/namespaces/namespace-of-request-${request}/pods/${longText}`,
    )
    const [, , group = '', version = '', , namespace = '', plural = ''] = path
      .toString('latin1')
      .split('/')
    for (let twice = 0; twice < 2; twice++) {
      texts.place(plural, namespace)
      texts.namedPlace(plural, namespace)
      texts.version(group, version)
      texts.namedVersion(group, version)
    }
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
})

test('the cache of audit event fields ignores methods that are longer than any known verb', async () => {
  const texts = new CachedFields()
  const users = Array.from({ length: 50 }, (_, at) => ({ name: `user-${at}`, uid: '', groups: [] }))
  const source = { ips: [], userAgent: '', fields: Buffer.alloc(0) }
  const held = await heldOf(users.length, (request, longText) => {
    const user = users[request] ?? assert.fail()
    assert.equal(texts.asking(longText, user, source).fields.length > longText.length, true)
  })
  assert.ok(held < 10 << 20, `${held} bytes are held`)
  assert.equal(users.length, 50)
})
