import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { until } from '../../../test/support/harness/until.ts'
import { listRunning, recordRunning, type RunningServer } from './running.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keelson-running-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const own: RunningServer = {
  pid: process.pid,
  url: 'https://127.0.0.1:1',
  folder: '/f',
  store: 'memory',
  startedMs: 1,
}
/** A process ID above the maximum of Linux and macOS. */
const NO_PID = 99_999_999

test('a running server is listed until its record is removed', () => {
  {
    using _ = recordRunning(own, dir)
    assert.deepEqual(listRunning(dir), [own])
    assert.deepEqual(readdirSync(dir), [`${process.pid}.json`])
  }
  assert.deepEqual(listRunning(dir), [])
  assert.deepEqual(readdirSync(dir), [])
})

test('readers never get an incomplete record of a running server', async () => {
  const seen: string[] = []
  const watcher = watch(dir, (type, name) => void seen.push(`${type} ${name}`))
  using _ = recordRunning(own, dir)
  await until(() => seen.some((event) => event.endsWith('.json')), 'the record is there')
  watcher.close()
  // The file gets its name only after it is written completely, so it does not change under this
  // name.
  assert.deepEqual(
    seen.filter((event) => event === `change ${process.pid}.json`),
    [],
  )
})

test('the record of a server is removed if its process has ended, even if the record cannot be read', () => {
  const theirs = join(dir, `${process.pid}.json`)
  const gone = join(dir, `${NO_PID}.json`)
  const stale = join(dir, `${NO_PID - 1}.json`)
  for (const text of ['', '{"pid":', '{"version":2}']) {
    writeFileSync(theirs, text)
    writeFileSync(gone, text)
    writeFileSync(stale, JSON.stringify({ ...own, pid: NO_PID - 1, mark: '1' }))
    assert.deepEqual(listRunning(dir), [])
    assert.deepEqual([theirs, gone, stale].map(existsSync), [true, false, false])
  }
})
