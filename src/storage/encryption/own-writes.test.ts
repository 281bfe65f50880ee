import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { heldBytes } from '../../../test/support/harness/held-bytes.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { OpenedEvents } from '../opened-events.ts'
import { Encryption, type ProvidersByResource } from './encryption.ts'
import { RandomPool } from '../../lib/bytes/random-pool.ts'
import { OwnWrites } from './own-writes.ts'
import { keyedProvider, type Provider } from './provider.ts'

const root = '/registry/'
const keyOf = (name: string): string => `${root}secrets/default/${name}`

/** Creates providers that count decryptions in `opened`. */
async function countingProviders(): Promise<{
  readonly rules: ProvidersByResource
  opened: number
}> {
  const secret = createSecretKey(Buffer.alloc(32, 1))
  const provider = await keyedProvider('aesgcm', [{ name: 'k1', secret }], new RandomPool())
  const counting: Provider = {
    ...provider,
    open: (key, sealed) => {
      counted.opened++
      return provider.open(key, sealed)
    },
  }
  const counted = { rules: new Map([['secrets', [counting] as const]]), opened: 0 }
  return counted
}

const encryptionOf = (rules: ProvidersByResource): Encryption =>
  new Encryption(rules, { root, resourceOf: () => ({ group: '', resource: 'secrets' }) })

/** Returns the values that the cache receives for stored values. */
function seen(transformer: Encryption, stored: ReadonlyMap<string, Buffer>): string[] {
  const values: string[] = []
  const events = new OpenedEvents({
    transformer,
    time: systemTime,
    onEvents: (opened) => values.push(...opened.map(({ value }) => value.toString())),
    onGap: () => assert.fail('nothing is lost'),
  })
  events.push(
    [...stored].map(([name, value], at) => ({
      type: 'put',
      key: keyOf(name),
      // Copies the value, because a received value is never in the buffer that was sent.
      value: Buffer.from(value),
      revision: at + 1,
      createRevision: at + 1,
    })),
  )
  return values
}

test('an event with exactly the bytes that this server wrote is not decrypted', async () => {
  const counted = await countingProviders()
  const encryption = encryptionOf(counted.rules)
  const stored = await encryption.toStorage(keyOf('a'), Buffer.from('first'))
  assert.deepEqual(seen(encryption, new Map([['a', stored]])), ['first'])
  assert.equal(counted.opened, 0)
  assert.deepEqual(seen(encryption, new Map([['a', stored]])), ['first'], 'a second time it is')
  assert.equal(counted.opened, 1)
})

test('a value is decrypted if its key or its bytes differ from those that this server wrote', async () => {
  const counted = await countingProviders()
  const encryption = encryptionOf(counted.rules)
  const other = await encryptionOf(counted.rules).toStorage(
    keyOf('a'),
    Buffer.from('of another server'),
  )
  const own = await encryption.toStorage(keyOf('a'), Buffer.from('own'))
  assert.deepEqual(seen(encryption, new Map([['a', other]])), ['of another server'])
  assert.equal(counted.opened, 1)
  assert.equal(encryption.takeOwn(keyOf('b'), own), undefined)
  assert.equal(encryption.takeOwn(keyOf('a'), own)?.toString(), 'own')
})

test('large values are not stored as recent writes, and values from before a reload are removed', async () => {
  const { rules } = await countingProviders()
  const encryption = encryptionOf(rules)
  const large = await encryption.toStorage(keyOf('a'), Buffer.alloc(100_000))
  assert.equal(encryption.takeOwn(keyOf('a'), large), undefined)
  const small = await encryption.toStorage(keyOf('a'), Buffer.alloc(100))
  encryption.replace(rules)
  assert.equal(encryption.takeOwn(keyOf('a'), small), undefined)
})

test('a write that is in progress during a reload is not recorded, because its key may have been removed', async () => {
  const { rules } = await countingProviders()
  const [provider] = rules.get('secrets') ?? assert.fail()
  const asked = Promise.withResolvers<void>()
  const slow: Provider = {
    ...provider,
    seal: async (key, plain) => asked.promise.then(() => provider.seal(key, plain)),
  }
  const encryption = encryptionOf(new Map([['secrets', [slow]]]))
  const writing = encryption.toStorage(keyOf('a'), Buffer.from('first'))
  encryption.replace(rules)
  asked.resolve()
  assert.equal(encryption.takeOwn(keyOf('a'), await writing), undefined)
})

test('a recent write that is stored does not retain the text of its request in memory', async () => {
  const writes = new OwnWrites()
  const held = await heldBytes(() => {
    for (let at = 0; at < 20; at++) {
      const text = `name-of-secret-${at}/${Buffer.alloc(1 << 20, 'a').toString('latin1')}`
      const [name = ''] = Buffer.from(text).toString('latin1').split('/')
      writes.keep(keyOf(name), Buffer.from('sealed'), Buffer.from('plain'))
    }
  })
  assert.equal(writes.take(keyOf('name-of-secret-19'), Buffer.from('sealed'))?.toString(), 'plain')
  assert.ok(held < 5 << 20, `${held} bytes are held`)
})
