import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { defaultGates } from '../../api/gates.ts'
import { createAuthority } from '../../lib/x509/certificates.ts'
import type { Timer, Timers } from '../../lib/time/timers.ts'
import {
  type AuthenticationConfiguration,
  readAuthenticationConfiguration,
  rereadAuthenticationConfiguration,
} from './authentication.ts'
import type { FileRead } from './config-file.ts'
import { ConfigReloader } from './reload.ts'

const MINUTE_MS = 60_000

/**
 * A simulated clock and simulated timers. The test advances the clock, and the timers that are due
 * then fire.
 */
class VirtualTime {
  nowMs = 0
  #due: { atMs: number; everyMs: number; run: () => void }[] = []
  readonly timers: Timers = {
    after: (ms, run) => this.#add(ms, 0, run),
    every: (ms, run) => this.#add(ms, ms, run),
    defer: (run) => void this.#add(0, 0, run),
  }
  readonly clock = { wallMs: () => this.nowMs, monotonicMs: () => this.nowMs }

  #add(ms: number, everyMs: number, run: () => void): Timer {
    const entry = { atMs: this.nowMs + ms, everyMs, run }
    this.#due.push(entry)
    return { close: () => void (this.#due = this.#due.filter((one) => one !== entry)) }
  }

  pass(ms: number): void {
    const endMs = this.nowMs + ms
    for (;;) {
      const [next] = this.#due
        .filter(({ atMs }) => atMs <= endMs)
        .toSorted((one, other) => one.atMs - other.atMs)
      if (next === undefined) break
      this.nowMs = next.atMs
      if (next.everyMs === 0) this.#due = this.#due.filter((one) => one !== next)
      else next.atMs += next.everyMs
      next.run()
    }
    this.nowMs = endMs
  }
}

const file = (audience: string): string =>
  `apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\njwt: [{issuer: {url: "https://a.example.org", audiences: [${audience}]}, claimMappings: {username: {claim: sub, prefix: ""}}}]\n`

type ReloadFixture = {
  readonly time: VirtualTime
  readonly disk: { text: string | Error }
  readonly used: string[]
  readonly logged: string[]
  readonly reloader: ConfigReloader<AuthenticationConfiguration>
  readonly changed: () => void
  useFault: Error | undefined
  /** Replaces the function that reads the file. */
  read: ((bytes: Buffer) => Promise<FileRead<AuthenticationConfiguration>>) | undefined
  /** Replaces the function that applies the configuration. */
  use: ((signal: AbortSignal) => Promise<void>) | undefined
}

function follow(): ReloadFixture {
  const time = new VirtualTime()
  const disk: { text: string | Error } = { text: file('first') }
  const used: string[] = []
  const logged: string[] = []
  const watchers: (() => void)[] = []
  const options = { gates: defaultGates, disallowedIssuers: ['https://accounts.example.org'] }
  const start = readAuthenticationConfiguration(Buffer.from(file('first')), options)
  assert.ok('value' in start)
  const followed: Omit<ReloadFixture, 'reloader'> = {
    time,
    disk,
    used,
    logged,
    changed: () => watchers.forEach((report) => report()),
    useFault: undefined,
    read: undefined,
    use: undefined,
  }
  const reloader: ReloadFixture['reloader'] = new ConfigReloader(
    '/etc/authn.yaml',
    Buffer.from(file('first')),
    {
      read: (bytes) =>
        whole.read?.(bytes) ?? rereadAuthenticationConfiguration(bytes, options, start.value),
      use: ({ jwt }, signal) => {
        if (whole.use !== undefined) return whole.use(signal)
        if (whole.useFault !== undefined) throw whole.useFault
        return void used.push(jwt[0]?.issuer.audiences.join() ?? 'nobody')
      },
      what: 'authentication config',
      log: (level, message, fields) =>
        void logged.push([level, message, fields?.['error']].filter(Boolean).join(' | ')),
      clock: time.clock,
      looks: {
        timers: time.timers,
        watchFolder: (_folder, onChange) => {
          watchers.push(onChange)
          return { close: () => undefined }
        },
      },
      readBytes: () => {
        const { text } = disk
        return text instanceof Error ? Promise.reject(text) : Promise.resolve(Buffer.from(text))
      },
    },
  )
  const whole: ReloadFixture = Object.assign(followed, { reloader })
  return whole
}

/** Advances the clock, and then waits until the file has been checked. */
const settled = ({ reloader, time }: ReloadFixture, ms: number): Promise<void> => {
  time.pass(ms)
  return reloader.check()
}

test('a changed file is reloaded within a minute', async () => {
  const followed = follow()
  await settled(followed, MINUTE_MS)
  assert.deepEqual(followed.used, [], 'nothing changed')
  followed.disk.text = file('second')
  await settled(followed, MINUTE_MS)
  assert.deepEqual(followed.used, ['second'])
  assert.deepEqual(followed.reloader.reloads, {
    success: { count: 1, lastSeconds: 120 },
    failure: { count: 0, lastSeconds: 0 },
  })
  assert.deepEqual(followed.logged, ['info | reloaded authentication config'])
})

test('a change that the file system reports is reloaded immediately', async () => {
  const followed = follow()
  followed.disk.text = file('second')
  followed.changed()
  followed.time.pass(50)
  followed.changed()
  followed.time.pass(99)
  assert.deepEqual(followed.used, [])
  await settled(followed, 1)
  assert.deepEqual(followed.used, ['second'])
})

test('an invalid file is reported once, and the old configuration stays in use', async () => {
  const followed = follow()
  followed.disk.text = 'apiVersion: ['
  await settled(followed, MINUTE_MS)
  await settled(followed, MINUTE_MS)
  followed.disk.text = file('""')
  await settled(followed, MINUTE_MS)
  followed.disk.text = file('a').replace('a.example.org', 'accounts.example.org')
  await settled(followed, MINUTE_MS)
  followed.disk.text = `${file('a')}anonymous: {enabled: true}\n`
  await settled(followed, MINUTE_MS)
  assert.deepEqual(followed.used, [])
  assert.deepEqual(followed.reloader.reloads.failure, { count: 4, lastSeconds: 300 })
  assert.deepEqual(followed.logged, [
    'error | failed to load authentication config | yaml: line 1: did not find expected node content',
    "error | failed to validate authentication config | jwt[0].issuer.audiences[0]: Required value: audience can't be empty",
    'error | failed to validate authentication config | jwt[0].issuer.url: Invalid value: "https://accounts.example.org": URL must not overlap with disallowed issuers: [https://accounts.example.org]',
    'error | failed to validate authentication config | anonymous: Forbidden: changed from initial configuration file',
  ])
  followed.disk.text = file('second')
  await settled(followed, MINUTE_MS)
  assert.deepEqual(followed.used, ['second'])
})

test('a configuration file that cannot be read or applied is read again later', async () => {
  const followed = follow()
  followed.disk.text = Object.assign(new Error('gone'), { code: 'ENOENT' })
  await settled(followed, MINUTE_MS)
  followed.disk.text = file('second')
  followed.useFault = new Error('no keys yet')
  await settled(followed, MINUTE_MS)
  const failures = followed.reloader.reloads.failure.count
  assert.ok(failures >= 2)
  followed.useFault = undefined
  await settled(followed, MINUTE_MS)
  assert.deepEqual(followed.used, ['second'])
  assert.equal(
    followed.logged[0],
    'error | failed to read authentication config file | open /etc/authn.yaml: no such file or directory',
  )
  assert.ok(
    followed.logged.includes('error | failed to update authentication config | no keys yet'),
  )
})

test('a disposed reloader does not read the file', async () => {
  const followed = follow()
  followed.reloader[Symbol.dispose]()
  followed.disk.text = file('second')
  await settled(followed, 10 * MINUTE_MS)
  assert.deepEqual(followed.used, [])
})

test('a reload is retried if the function that reads the file throws an error', async () => {
  const followed = follow()
  followed.read = () => Promise.reject(new Error('out of memory'))
  followed.disk.text = file('second')
  await settled(followed, MINUTE_MS)
  followed.read = undefined
  await settled(followed, MINUTE_MS)
  assert.deepEqual(followed.used, ['second'])
  assert.equal(followed.logged[0], 'error | failed to load authentication config | out of memory')
  assert.equal(followed.reloader.reloads.failure.count > 0, true)
})

test('if a configuration cannot be applied within a minute, the reloader tries again later', async () => {
  const followed = follow()
  const signals: AbortSignal[] = []
  followed.use = (signal) => {
    signals.push(signal)
    return new Promise(() => undefined)
  }
  followed.disk.text = file('second')
  const looked = followed.reloader.check()
  while (signals.length === 0) await turn()
  followed.time.pass(MINUTE_MS - 1)
  assert.equal(signals[0]?.aborted, false)
  followed.use = undefined
  followed.time.pass(1)
  await looked
  assert.equal(signals[0].aborted, true)
  assert.equal(
    followed.logged[0],
    'error | failed to update authentication config | it could not be used within 1m0s',
  )
  await settled(followed, MINUTE_MS)
  assert.deepEqual(followed.used, ['second'])
})

test('a reloader that is disposed while it reads or applies a file does not use the file', async () => {
  const reading = follow()
  const { promise, resolve } = Promise.withResolvers<FileRead<AuthenticationConfiguration>>()
  let isReading = false
  reading.read = () => {
    isReading = true
    return promise
  }
  reading.disk.text = file('second')
  const looked = reading.reloader.check()
  while (!isReading) await turn()
  reading.reloader[Symbol.dispose]()
  resolve({ value: { jwt: [], anonymous: null } })
  await looked
  assert.deepEqual([reading.used, reading.logged], [[], []])

  const using = follow()
  const given = Promise.withResolvers<AbortSignal>()
  using.disk.text = file('second')
  using.use = (signal) => {
    given.resolve(signal)
    return new Promise(() => undefined)
  }
  void using.reloader.check()
  const signal = await given.promise
  using.reloader[Symbol.dispose]()
  assert.equal(signal.aborted, true)
})

test('a file that is replaced on disk is reloaded', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-follow-'))
  const path = join(dir, 'authn.yaml')
  await writeFile(path, file('first'))
  const options = { gates: defaultGates, disallowedIssuers: [] }
  const seen = Promise.withResolvers<string>()
  const reloader = new ConfigReloader(path, Buffer.from(file('first')), {
    read: async (bytes) => readAuthenticationConfiguration(bytes, options),
    use: ({ jwt }) => seen.resolve(jwt[0]?.issuer.audiences.join() ?? 'nobody'),
    what: 'authentication config',
    log: () => undefined,
  })
  await writeFile(join(dir, 'next'), file('second'))
  await rename(join(dir, 'next'), path)
  assert.equal(await seen.promise, 'second')
  reloader[Symbol.dispose]()
  await rm(dir, { recursive: true })
})

/** Reloads a file, and counts the ticks of the event loop during the reload. */
async function rereadInTurns(
  bytes: Buffer,
): Promise<{ readonly read: FileRead<AuthenticationConfiguration>; readonly turns: number }> {
  let turns = 0
  // setImmediate runs in every tick. An interval would run at most once per millisecond, and less
  // often on a busy machine.
  const count = (): void => {
    turns++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const options = { gates: defaultGates, disallowedIssuers: [] }
  const read = await rereadAuthenticationConfiguration(bytes, options, { jwt: [], anonymous: null })
  clearImmediate(counting)
  return { read, turns }
}

test('compiling the expressions of a large file does not block the event loop', async () => {
  const jwt = Array.from({ length: 64 }, (_, at) => ({
    issuer: { url: `https://i${at}.example.org`, audiences: ['a'] },
    claimMappings: { username: { expression: `'i${at}:' + claims.sub` } },
    claimValidationRules: Array.from({ length: 20 }, (_rule, level) => ({
      expression: `claims.tenant == 't${at}' && claims.level > ${level}`,
    })),
    userValidationRules: [{ expression: "user.groups.all(group, !group.startsWith('system:'))" }],
  }))
  const head = 'apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\n'
  const bytes = Buffer.from(`${head}jwt: ${JSON.stringify(jwt)}\n`)
  const { read, turns } = await rereadInTurns(bytes)
  assert.ok('value' in read)
  assert.equal(read.value.jwt.length, 64)
  assert.ok(turns > 5, `${turns} turns`)
})

test('decoding a large file and parsing its certificates does not block the event loop', async () => {
  const { certificatePem } = createAuthority('ca', Date.now())
  const head = {
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'AuthenticationConfiguration',
  }
  const jwt = Array.from({ length: 4 }, (_, at) => ({
    issuer: {
      url: `https://i${at}.example.org`,
      audiences: ['a'],
      certificateAuthority: certificatePem.repeat(300) + '\n'.repeat(at),
    },
    claimMappings: { username: { claim: 'sub', prefix: '' } },
  }))
  for (const bytes of [
    Buffer.from(JSON.stringify({ ...head, jwt })),
    Buffer.from(
      `apiVersion: ${head.apiVersion}\nkind: ${head.kind}\njwt: ${JSON.stringify(jwt)}\n`,
    ),
  ]) {
    assert.ok(bytes.length > 500_000)
    const { read, turns } = await rereadInTurns(bytes)
    assert.ok('value' in read)
    assert.deepEqual(
      read.value.jwt.map(({ issuer }) => issuer.certificateAuthority),
      jwt.map(({ issuer }) => issuer.certificateAuthority),
    )
    assert.ok(turns > 50, `${turns} turns`)
  }
  const { read } = await rereadInTurns(Buffer.from(JSON.stringify({ ...head, jwt, x: 1 })))
  assert.deepEqual(read, { fault: 'strict decoding error: unknown field "x"', stage: 'decoding' })
})

test('a file that exceeds the maximum size of a ConfigMap is refused', async () => {
  const bytes = Buffer.alloc((1 << 20) + 1, '#')
  const expected = {
    fault: 'the file has 1048577 bytes; at most 1048576 are allowed',
    stage: 'decoding',
  }
  assert.deepEqual((await rereadInTurns(bytes)).read, expected)
  assert.deepEqual(
    readAuthenticationConfiguration(bytes, { gates: defaultGates, disallowedIssuers: [] }),
    expected,
  )
})
