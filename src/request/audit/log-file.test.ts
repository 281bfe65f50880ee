import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { LogFile, type LogFileOptions } from './log-file.ts'

const MEGABYTE = 1 << 20
const noon = Date.parse('2026-01-31T12:00:00.000Z')

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-audit-log-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const log = (_level: string, message: string, fields?: object): void =>
  assert.fail(`${message} ${JSON.stringify(fields)}`)

/** Each call of `wallMs` returns a time one second later. */
function optionsOf(path: string, old: Partial<LogFileOptions['old']> = {}): LogFileOptions {
  let ms = noon
  const wallMs = (): number => (ms += 1000)
  return {
    path,
    megabytesMax: 1,
    wallMs,
    monotonicMs: () => 0,
    old: { filesMax: 0, daysMax: 0, isCompressed: false, wallMs: () => noon, log, ...old },
  }
}

const lines = (...texts: readonly string[]): Buffer =>
  Buffer.from(texts.map((text) => `${text}\n`).join(''))

const line = (character: string): string => character.repeat(MEGABYTE / 2)

test('the audit log appends lines to a file that only its owner can read', async (t) => {
  const path = join(folder(t), 'a', 'b', 'audit.log')
  const file = await LogFile.create(optionsOf(path))
  assert.equal(statSync(path).mode & 0o777, 0o600)
  await file.append(lines('one', 'two'))
  await file.append(lines('three'))
  await file.close()
  const again = await LogFile.create(optionsOf(path))
  await again.append(lines('four'))
  await again.close()
  assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\nthree\nfour\n')
})

test('a line that consists of several pieces is appended to one audit log file', async (t) => {
  const dir = folder(t)
  const path = join(dir, 'audit.log')
  const file = await LogFile.create(optionsOf(path))
  await file.append(lines('one'))
  const pieces = ['a', 'b', '\n'].map((text) =>
    Buffer.from(text === '\n' ? text : line(text).slice(1)),
  )
  await file.appendLong(pieces)
  assert.equal(readFileSync(path, 'utf8'), Buffer.concat(pieces).toString())
  assert.equal(readdirSync(dir).length, 2)
  await assert.rejects(file.appendLong([...pieces, Buffer.from('cc')]), /exceeds maximum file size/)
  await file.append(lines('two'))
  await file.close()
  assert.equal(readFileSync(path, 'utf8'), 'two\n')
})

test('a deleted folder of the audit log is created again with the same mode', async (t) => {
  const removed = join(folder(t), 'a')
  const path = join(removed, 'b', 'audit.log')
  const file = await LogFile.create(optionsOf(path))
  const modes = (): number[] =>
    [removed, join(removed, 'b')].map((one) => statSync(one).mode & 0o777)
  assert.deepEqual(modes(), [0o700, 0o700])
  rmSync(removed, { recursive: true })
  await file.append(lines('one'))
  await file.close()
  assert.equal(readFileSync(path, 'utf8'), 'one\n')
  assert.deepEqual(modes(), [0o700, 0o700])
})

test('a short write to the audit log is synchronous, unless a write was slow within the last minute', async (t) => {
  const path = join(folder(t), 'audit.log')
  let ms = 0
  let tookMs = 0
  let looks = 0
  const monotonicMs = (): number => {
    looks++
    return (ms += tookMs)
  }
  const file = await LogFile.create({ ...optionsOf(path), monotonicMs })
  await file.append(lines('first'))
  /** Whether the duration of the write was measured, which happens only for synchronous writes. */
  const isAtOnce = async (text: string): Promise<boolean> => {
    looks = 0
    await file.append(lines(text))
    assert.ok(readFileSync(path, 'utf8').endsWith(`\n${text}\n`))
    return looks > 1
  }
  assert.equal(await isAtOnce('a'), true)
  assert.equal(await isAtOnce('x'.repeat(1 << 16)), false)
  tookMs = 11
  assert.equal(await isAtOnce('b'), true)
  tookMs = 0
  assert.equal(await isAtOnce('c'), false)
  ms += 59_980
  assert.equal(await isAtOnce('d'), false)
  ms += 20
  assert.equal(await isAtOnce('e'), true)
  await file.close()
})

test('writes to an audit log that is not a regular file are asynchronous', async (t) => {
  const path = '/dev/null'
  const file = await LogFile.create(optionsOf(path))
  const clock = t.mock.fn(() => 0)
  const other = new LogFile({ ...optionsOf(path), monotonicMs: clock })
  await other.append(lines('a'))
  assert.equal(clock.mock.callCount(), 0)
  await Promise.all([file.close(), other.close()])
})

for (const megabytesMax of [2048, 4096, 2 ** 31 - 1]) {
  test(`the maximum size of an audit log file can be ${megabytesMax} MB`, async (t) => {
    const dir = folder(t)
    const file = await LogFile.create({ ...optionsOf(join(dir, 'audit.log')), megabytesMax })
    await file.append(lines('one', 'two'))
    await file.append(lines('three'))
    await file.close()
    assert.deepEqual(readdirSync(dir), ['audit.log'])
    assert.equal(readFileSync(join(dir, 'audit.log'), 'utf8'), 'one\ntwo\nthree\n')
  })
}

test('a full audit log is renamed with a timestamp, and a new file is created', async (t) => {
  const dir = folder(t)
  const file = await LogFile.create(optionsOf(join(dir, 'audit.log')))
  await file.append(lines(line('a'), line('b'), line('c')))
  await file.close()
  assert.deepEqual(readdirSync(dir).toSorted(), [
    'audit-2026-01-31T12-00-01.000.log',
    'audit-2026-01-31T12-00-02.000.log',
    'audit.log',
  ])
  assert.equal(readFileSync(join(dir, 'audit.log'), 'utf8'), `${line('c')}\n`)
})

for (const isCompressed of [false, true]) {
  test(`if several audit logs become full in the same millisecond, all are preserved (compressed: ${isCompressed})`, async (t) => {
    const dir = folder(t)
    const options = optionsOf(join(dir, 'audit.log'), { isCompressed })
    const file = await LogFile.create({ ...options, wallMs: () => noon })
    for (const character of ['a', 'b', 'c']) {
      await file.append(lines(line(character)))
      // Closing the log waits until the old file is compressed.
      if (character === 'b') await file.close()
    }
    await file.close()
    const names = ['12-00-00.000', '12-00-00.001'].map(
      (at) => `audit-2026-01-31T${at}.log${isCompressed ? '.gz' : ''}`,
    )
    assert.deepEqual(readdirSync(dir).toSorted(), [...names, 'audit.log'])
  })
}

test('a new audit log is written even if its owner cannot be set to that of the old file', async (t) => {
  const dir = folder(t)
  const path = join(dir, 'audit.log')
  const file = await LogFile.create(optionsOf(path))
  const handle = await open(path)
  const refused = Object.assign(new Error('EPERM: operation not permitted, fchown'), {
    code: 'EPERM',
  })
  const chown = t.mock.method(Object.getPrototypeOf(handle), 'chown', () => Promise.reject(refused))
  t.mock.property(process, 'getuid', () => -1)
  await handle.close()
  await file.append(lines(line('a'), line('b')))
  await file.close()
  assert.equal(chown.mock.callCount(), 1)
  assert.equal(readFileSync(path, 'utf8'), `${line('b')}\n`)
})

test('a line that exceeds the maximum size of an audit log file is rejected, and other lines are written', async (t) => {
  const path = join(folder(t), 'audit.log')
  const file = await LogFile.create(optionsOf(path))
  const long = 'x'.repeat(MEGABYTE)
  await assert.rejects(
    file.append(lines(long)),
    /^Error: write length 1048577 exceeds maximum file size 1048576$/,
  )
  await file.append(lines('short'))
  await file.close()
  assert.ok(readFileSync(path, 'utf8').endsWith('short\n'))
})

test('old audit logs are removed by number and by age, whether they are compressed or not', async (t) => {
  const dir = folder(t)
  const old = [
    'audit-2026-01-31T11-00-00.000.log',
    'audit-2026-01-30T13-00-00.000.log.gz',
    'audit-2026-01-29T11-00-00.000.log',
    'audit-2026-01-28T11-00-00.000.log',
  ]
  for (const name of [...old, 'audit-x.log', 'other-2026-01-01T00-00-00.000.log'])
    writeFileSync(join(dir, name), '')
  const byAge = await LogFile.create(optionsOf(join(dir, 'audit.log'), { daysMax: 2 }))
  await byAge.append(lines('x'))
  await byAge.close()
  const kept = ['audit-x.log', 'audit.log', 'other-2026-01-01T00-00-00.000.log']
  assert.deepEqual(readdirSync(dir).toSorted(), [old[1], old[0], ...kept])
  const byNumber = await LogFile.create(optionsOf(join(dir, 'audit.log'), { filesMax: 1 }))
  await byNumber.append(lines('x'))
  await byNumber.close()
  assert.deepEqual(readdirSync(dir).toSorted(), [old[0], ...kept])
})

test('old audit logs are compressed', async (t) => {
  const dir = folder(t)
  const file = await LogFile.create(optionsOf(join(dir, 'audit.log'), { isCompressed: true }))
  await file.append(lines(line('a'), line('b')))
  await file.close()
  assert.deepEqual(readdirSync(dir).toSorted(), [
    'audit-2026-01-31T12-00-01.000.log.gz',
    'audit.log',
  ])
  assert.equal(
    gunzipSync(readFileSync(join(dir, 'audit-2026-01-31T12-00-01.000.log.gz'))).toString(),
    `${line('a')}\n`,
  )
})

test('if the folder of the audit log cannot be created, this is reported when the server starts', async (t) => {
  const path = join(folder(t), 'file')
  writeFileSync(path, '')
  await assert.rejects(LogFile.create(optionsOf(join(path, 'audit.log'))), { code: 'EEXIST' })
})
