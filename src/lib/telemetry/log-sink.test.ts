import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { linesTo, LogSink } from './log-sink.ts'
import { Verbosity } from './verbosity.ts'

const clock = { wallMs: () => Date.parse('2026-01-02T03:04:05.678Z'), monotonicMs: () => 0 }

function lines(format: 'text' | 'json', isVerbose: boolean, hasColours = false): string[] {
  const written: string[] = []
  const { log } = new LogSink({
    format,
    verbosity: new Verbosity(isVerbose ? 2 : 0),
    clock,
    hasColours,
    write: (line) => written.push(line),
  })
  log('info', 'serving', { url: 'https://[::1]:1', user: 'two words' })
  log('debug', 'detail')
  log('error', 'a request failed', { error: 'line\nline' })
  return written
}

test('the text format prints each entry on one line', () => {
  assert.deepEqual(lines('text', false), [
    '03:04:05.678 serving url=https://[::1]:1 user="two words"\n',
    '03:04:05.678 ERROR a request failed error="line\\nline"\n',
  ])
  assert.equal(lines('text', true)[1], '03:04:05.678 DEBUG detail\n')
  const [, coloured = ''] = lines('text', false, true)
  assert.ok(coloured.startsWith('\u001b[31m') && coloured.includes('failed\u001b[0m error'))
})

test('control characters in a string from a client are escaped', () => {
  const written: string[] = []
  const write = (line: string): void => void written.push(line)
  const { log } = new LogSink({ format: 'text', verbosity: new Verbosity(0), clock, write })
  log('info', 'request', {
    path: '/\u001b[2J',
    user: 'a\u009b31m',
    group: '\u202eb',
    other: 'é\u{e0001}',
  })
  assert.deepEqual(written, [
    '03:04:05.678 request path="/\\u001b[2J" user="a\\u009b31m" group="\\u202eb" other="é\\udb40\\udc01"\n',
  ])
})

test('the JSON format prints one object for each entry', () => {
  const [first = ''] = lines('json', false)
  const time = '2026-01-02T03:04:05.678Z'
  assert.deepEqual(JSON.parse(first), {
    level: 'info',
    time,
    url: 'https://[::1]:1',
    user: 'two words',
    message: 'serving',
  })
})

test('details are logged for selected modules, and for all modules after the verbosity was raised', () => {
  const written: string[] = []
  const verbosity = new Verbosity(0, [{ pattern: 'feed', level: 2 }])
  const { log } = new LogSink({
    format: 'text',
    verbosity,
    clock,
    write: (line) => written.push(line),
  })
  log('debug', 'a', {}, 'feed')
  log('debug', 'b', {}, 'http')
  verbosity.level = 2
  log('debug', 'c', {}, 'http')
  assert.deepEqual(
    written.map((line) => line.at(-2)),
    ['a', 'c'],
  )
})

test('lines that are not read are buffered up to a limit, and a failed write is ignored', async () => {
  const line = 'x'.repeat(1 << 20)
  const stream = new Writable({ write: () => undefined })
  const write = linesTo(stream)
  for (let count = 0; count < 100; count++) write(line)
  assert.ok(stream.writableLength < 10 << 20, `${stream.writableLength}`)
  const full = new Writable({
    write: (_chunk, _encoding, done) => done(new Error('ENOSPC')),
    autoDestroy: false,
  })
  const fail = linesTo(full)
  fail(line)
  await new Promise((resolve) => setImmediate(resolve))
  fail(line)
})

for (const format of ['text', 'json'] as const)
  test(`a long string is truncated (${format})`, () => {
    const written: string[] = []
    const write = (line: string): void => void written.push(line)
    const { log } = new LogSink({ format, verbosity: new Verbosity(0), clock, write })
    const long = 'x'.repeat(1_000_000)
    log('info', 'slow request', { path: long, parts: [long] })
    assert.ok(written.join('').length < 20_000, `${written.join('').length}`)
    assert.match(written.join(''), /x… \(1000000 characters\)/)
  })
