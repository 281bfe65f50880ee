import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { KmsPluginServer, PluginKeys } from '../../../../test/support/harness/kms-plugin.ts'
import { Metrics } from '../../../lib/telemetry/metrics.ts'
import { systemTime, type Time } from '../../../lib/time/timers.ts'
import { isCode } from '../../errors.ts'
import { RandomPool } from '../../../lib/bytes/random-pool.ts'
import { ProviderList } from '../provider-list.ts'
import { KmsV1 } from './kms-v1.ts'
import { KmsV2 } from './kms-v2.ts'
import { KmsMetrics } from './metrics.ts'
import { KmsPlugin } from './plugin.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-kms-'))
after(() => rmSync(folder, { recursive: true, force: true }))
let sockets = 0
const socket = (): string => join(folder, `${++sockets}.sock`)

const log = (): void => undefined
const key = '/registry/secrets/default/a'
const plain = Buffer.from('a value that nobody is to see')

/** Creates a clock that a test can advance. */
function movable(): { readonly time: Time; readonly moveOn: (ms: number) => void } {
  let offsetMs = 0
  const time = {
    ...systemTime,
    monotonicMs: () => systemTime.monotonicMs() + offsetMs,
    wallMs: () => systemTime.wallMs() + offsetMs,
  }
  return {
    time,
    moveOn: (ms) => {
      offsetMs += ms
    },
  }
}

function partsOf(path: string, time: Time = systemTime, timeoutMs = 10_000) {
  const metrics = new KmsMetrics(new Metrics(), 'server', time)
  const plugin = new KmsPlugin({ name: 'plugin', path, timeoutMs }, { time, log, metrics })
  return { plugin, nonces: new RandomPool(), metrics, time, log }
}

const isExpired = (error: unknown): boolean =>
  isCode(error, 'sealed') &&
  /^encryptedDEKSource with keyID hash "sha256:\w{64}" expired at /.test(
    String(error).slice('StorageError: '.length),
  )
const isSealed = (error: unknown): boolean =>
  isCode(error, 'sealed') && String(error).endsWith('got unexpected nil transformer')

describe('the KMS v2 provider encrypts and decrypts values', () => {
  test('the writes of one server together need one call to the KMS plugin, and so do all reads of another server', async () => {
    await using server = new KmsPluginServer(socket())
    await server.start()
    using first = new KmsV2(partsOf(server.path))
    await first.start()
    const list = new ProviderList([first.provider])
    const stored = await list.toStorage(key, plain)
    assert.ok(stored.subarray(0, 23).equals(Buffer.from('k8s:enc:kms:v2:plugin:\n')))
    assert.ok(!stored.includes(plain))
    assert.ok(
      !(await list.toStorage(key, plain)).equals(stored),
      'each value has a nonce of its own',
    )
    assert.deepEqual(list.fromStorage(key, stored), { value: plain, stale: false })
    assert.deepEqual(server.calls, ['v2 Status', 'v2 Encrypt'])

    using second = new KmsV2(partsOf(server.path))
    await second.start()
    const other = new ProviderList([second.provider])
    const reads = [other.fromStorage(key, stored), other.fromStorage(key, stored)]
    assert.ok(reads.every((read) => read instanceof Promise))
    for (const read of await Promise.all(reads))
      assert.deepEqual(read, { value: plain, stale: false })
    assert.deepEqual(server.calls.slice(2), ['v2 Status', 'v2 Encrypt', 'v2 Decrypt'])
    assert.deepEqual(
      other.fromStorage(key, stored),
      { value: plain, stale: false },
      'now without a promise',
    )
  })

  test('1,024 values share a derived key, and each value has its own nonce', async () => {
    await using server = new KmsPluginServer(socket())
    await server.start()
    using kms = new KmsV2(partsOf(server.path))
    await kms.start()
    const start = kms.provider.prefix.length + 2
    const infos = new Map<string, number>()
    const nonces = new Set<string>()
    for (let count = 0; count < 3000; count++) {
      const stored = await kms.provider.seal(key, plain)
      const info = stored.toString('latin1', start, start + 32)
      infos.set(info, (infos.get(info) ?? 0) + 1)
      nonces.add(stored.toString('latin1', start + 32, start + 44))
      if (count % 500 === 0) {
        const opened = await kms.provider.open(key, stored.subarray(kms.provider.prefix.length))
        assert.deepEqual(opened, { value: plain, stale: false })
      }
    }
    assert.deepEqual([...infos.values()], [1024, 1024, 952])
    assert.equal(nonces.size, 3000)
  })

  test('a value cannot be decrypted under another etcd key', async () => {
    await using server = new KmsPluginServer(socket())
    await server.start()
    using kms = new KmsV2(partsOf(server.path))
    await kms.start()
    const stored = await kms.provider.seal(key, plain)
    const sealed = stored.subarray(kms.provider.prefix.length)
    assert.throws(
      () => kms.provider.open('/registry/secrets/default/b', sealed),
      /message authentication failed/,
    )
  })

  test('a new key ID of the KMS plugin causes a new seed, and makes values with the old ID stale', async () => {
    await using server = new KmsPluginServer(socket())
    await server.start()
    const { time, moveOn } = movable()
    using kms = new KmsV2(partsOf(server.path, time))
    await kms.start()
    const list = new ProviderList([kms.provider])
    const old = await list.toStorage(key, plain)
    server.keyId = 'key-2'
    moveOn(21_000)
    assert.equal(await kms.health.fault(), undefined)
    assert.deepEqual(list.fromStorage(key, old), { value: plain, stale: true })
    const renewed = await list.toStorage(key, plain)
    assert.ok(renewed.includes('key-2') && !renewed.includes('key-1'))
    assert.deepEqual(list.fromStorage(key, renewed), { value: plain, stale: false })
  })

  test('while a KMS v2 plugin is down, reads continue, and writes continue for three minutes', async () => {
    await using server = new KmsPluginServer(socket())
    await server.start()
    const { time, moveOn } = movable()
    using kms = new KmsV2(partsOf(server.path, time))
    await kms.start()
    const list = new ProviderList([kms.provider])
    const stored = await list.toStorage(key, plain)
    await server.stop()
    moveOn(60_000)
    const step =
      /^failed to perform status section of the healthz check for KMS Provider plugin, error: rpc error: code = /
    assert.match((await kms.health.fault()) ?? '', step)
    assert.match(
      (await kms.health.fault()) ?? '',
      /^rpc error: code = /,
      'a later caller gets only the cause',
    )
    assert.ok((await list.toStorage(key, plain)).length > 0)
    moveOn(3 * 60_000)
    assert.throws(() => list.toStorage(key, plain), isExpired)
    assert.deepEqual(list.fromStorage(key, stored), { value: plain, stale: false })
    await server.start()
    moveOn(60_000)
    assert.equal(await kms.health.fault(), undefined)
    assert.deepEqual(list.fromStorage(key, await list.toStorage(key, plain)), {
      value: plain,
      stale: false,
    })
  })

  test('reads and writes fail until the KMS plugin first responds, and the health check reports why the plugin is unhealthy', async () => {
    const path = socket()
    using kms = new KmsV2(partsOf(path, systemTime, 200))
    await kms.start()
    assert.throws(() => kms.provider.seal(key, plain), isSealed)
    assert.throws(() => kms.provider.open(key, Buffer.from('x')), isSealed)

    await using server = new KmsPluginServer(path)
    server.healthz = 'sick'
    await server.start()
    const { time, moveOn } = movable()
    using sick = new KmsV2(partsOf(path, time))
    await sick.start()
    const why = 'kmsv2 Provider plugin is not healthy, error: got unexpected healthz status: sick'
    assert.equal(await sick.health.fault(), why)
    const stored = await sick.provider.seal(key, plain)
    assert.deepEqual(await sick.provider.open(key, stored.subarray(sick.provider.prefix.length)), {
      value: plain,
      stale: false,
    })
    Object.assign(server, { healthz: 'ok', version: 'v2beta1' })
    moveOn(21_000)
    const changed =
      'KMSv2 API version should not change after the initial status response version v2, got v2beta1'
    assert.equal(
      await sick.health.fault(),
      `kmsv2 Provider plugin is not healthy, error: ${changed}`,
    )
    Object.assign(server, { version: 'v2', keyId: '' })
    moveOn(21_000)
    assert.match(
      (await sick.health.fault()) ?? '',
      /got invalid KMSv2 KeyID hash "": keyID is empty$/,
    )
  })

  test('a value is reported as corrupt if the KMS plugin has lost the key of the value', async () => {
    const keys = new PluginKeys()
    await using server = new KmsPluginServer(socket(), keys)
    await server.start()
    using kms = new KmsV2(partsOf(server.path))
    await kms.start()
    const stored = await kms.provider.seal(key, plain)
    server.keyId = 'key-2'
    keys.lose('key-1')
    using later = new KmsV2(partsOf(server.path))
    await later.start()
    const reading = new ProviderList([later.provider]).fromStorage(key, stored)
    await assert.rejects(
      async () => reading,
      (error) =>
        isCode(error, 'corrupt') &&
        String(error).endsWith(
          'failed to decrypt DEK, error: rpc error: code = Unknown desc = key key-1 is gone',
        ),
    )
  })

  test('the error for a malformed encrypted value states what is wrong', async () => {
    await using server = new KmsPluginServer(socket())
    await server.start()
    using kms = new KmsV2(partsOf(server.path))
    await kms.start()
    for (const [bytes, why] of [
      ['', /encrypted data is empty/],
      ['ff', /proto/],
      ['0a', /proto/],
      ['0a0100', /encrypted DEK source is empty/],
      ['0a01001a0100', /keyID is empty/],
      ['0a01001a010012016b2802', /unknown encryptedDEKSourceType: 2/],
      ['0a01001a010012016b22030a0161', /annotations: Invalid value: "a"/],
    ] as const) {
      assert.throws(() => kms.provider.open(key, Buffer.from(bytes, 'hex')), why, bytes)
    }
  })
})

describe('the KMS v1 provider encrypts and decrypts values', () => {
  test('each value has its own key, and values whose keys are cached are decrypted without a call to the plugin', async () => {
    await using server = new KmsPluginServer(socket())
    await server.start()
    using kms = new KmsV1({ ...partsOf(server.path), keysMax: 2 })
    const list = new ProviderList([kms.provider])
    const stored = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => list.toStorage(name, plain)),
    )
    assert.deepEqual([...new Set(server.calls)], ['v1 Version', 'v1 Encrypt'])
    const [a, , c] = stored
    assert.ok(a !== undefined && c !== undefined)
    assert.ok(!a.includes(plain))
    assert.deepEqual(list.fromStorage('c', c), { value: plain, stale: false })
    const asked = list.fromStorage('a', a)
    assert.ok(asked instanceof Promise)
    assert.deepEqual(await asked, { value: plain, stale: false })
    assert.equal(server.calls.at(-1), 'v1 Decrypt')
    assert.equal(await kms.health.fault(), undefined)
    for (const bytes of ['', '00', '0005aabb']) {
      assert.throws(
        () => kms.provider.open(key, Buffer.from(bytes, 'hex')),
        /failed to read uint16 length prefixed data/,
      )
    }
  })

  test('while a KMS v1 plugin is down, writes fail', async () => {
    using kms = new KmsV1({ ...partsOf(socket(), systemTime, 200), keysMax: 10 })
    await assert.rejects(
      async () => kms.provider.seal(key, plain),
      (error) => isCode(error, 'sealed'),
    )
    const why =
      /^failed to perform encrypt section of the healthz check for KMS Provider plugin, error: failed get version/
    assert.match((await kms.health.fault()) ?? '', why)
  })
})
