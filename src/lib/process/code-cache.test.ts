import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { loadWithCodeCache, runWithCodeCache } from './code-cache.ts'

let dir = ''
/** The utilization of the simulated event loop: the share of time in which it is busy. */
let share = 0
beforeEach(() => {
  share = 0
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  // Simulates an event loop whose utilization is `share`.
  mock.method(performance, 'eventLoopUtilization', () => ({
    active: 0,
    idle: 0,
    utilization: share,
  }))
  dir = mkdtempSync(join(tmpdir(), 'code-cache-'))
  mkdirSync(folder())
})
afterEach(() => {
  mock.timers.reset()
  mock.restoreAll()
  rmSync(dir, { recursive: true })
})

/** Advances time in steps, because timers that are set by other timers fire in a later step. */
function passTime(): void {
  for (let seconds = 0; seconds < 60; seconds++) mock.timers.tick(1_000)
}

const folder = (): string => join(dir, 'cache')
const saved = (): string[] => readdirSync(folder())

/** Runs a program with this content for a while. Returns its output. */
function run(content: string): string {
  const file = join(dir, 'program.cjs')
  const text = `require('node:fs').writeFileSync(__dirname + '/out', (${content})())`
  writeFileSync(file, `(function (require, __filename, __dirname) {${text}\n})`)
  runWithCodeCache({ file, id: crc32(content).toString(16) }, folder())
  passTime()
  return readFileSync(join(dir, 'out'), 'utf8')
}

test('compiled code is saved after the program has run for a while, and is used by later runs', () => {
  assert.equal(run("() => 'one'"), 'one')
  const [name = ''] = saved()
  const { mtimeMs } = statSync(join(folder(), name))
  assert.equal(run("() => 'one'"), 'one')
  assert.equal(statSync(join(folder(), name)).mtimeMs, mtimeMs)
})

test('a busy program saves its compiled code when it exits', () => {
  share = 0.5
  const listeners = process.listeners('exit')
  run("() => 'one'")
  assert.deepEqual(saved(), [])
  const [atEnd] = process.listeners('exit').filter((one) => !listeners.includes(one))
  atEnd?.(0)
  assert.equal(saved().length, 1)
  assert.deepEqual(process.listeners('exit'), listeners)
})

test('compiled code of another version of the program is not used, and is deleted', () => {
  assert.equal(run("() => 'one'"), 'one')
  const before = saved()
  assert.equal(run("() => 'two'"), 'two')
  assert.equal(saved().length, 1)
  assert.notDeepEqual(saved(), before)
})

for (const [what, damage] of Object.entries({
  'cut off': (code: Buffer) => code.subarray(0, code.length >> 1),
  changed: (code: Buffer) => code.with(code.length >> 1, (code.at(code.length >> 1) ?? 0) ^ 1),
  empty: () => Buffer.alloc(0),
})) {
  test(`source code is compiled again if the saved compiled code is ${what}`, () => {
    run("() => 'one'")
    const path = join(folder(), saved()[0] ?? '')
    const whole = readFileSync(path)
    writeFileSync(path, damage(whole))
    assert.equal(run("() => 'one'"), 'one')
    const again = readFileSync(path)
    assert.equal(again.readUInt32LE(again.length - 4), crc32(again.subarray(0, -4)))
  })
}

test('a program runs even if its compiled code cannot be saved', () => {
  rmSync(folder(), { recursive: true })
  writeFileSync(folder(), 'a file')
  assert.equal(run("() => 'one'"), 'one')
})

test('compiled code that is shipped with a program is used, unless the code is damaged', () => {
  run("() => 'one'")
  const kept = readFileSync(join(folder(), saved()[0] ?? ''))
  const text = `(function (require, __filename, __dirname) {require('node:fs').writeFileSync(__dirname + '/out', (() => 'one')())\n})`
  const runWith = (given: Buffer): void => {
    rmSync(folder(), { recursive: true })
    mkdirSync(folder())
    rmSync(join(dir, 'out'), { force: true })
    // The program is passed as text. No file with this name exists.
    runWithCodeCache({ file: join(dir, 'inside.cjs'), text, saved: given, id: 'id' }, folder())
    passTime()
    assert.equal(readFileSync(join(dir, 'out'), 'utf8'), 'one')
  }
  runWith(kept)
  assert.deepEqual(saved(), [])
  for (const damaged of [kept.with(9, (kept[9] ?? 0) ^ 1), Buffer.alloc(0)]) {
    runWith(Buffer.from(damaged))
    assert.equal(saved().length, 1)
  }
})

test('the compiled code of a library is saved after the library was used, and the compiled code of the program is kept', () => {
  run("() => 'one'")
  const [ofProgram = ''] = saved()
  const file = join(dir, 'library.cjs')
  writeFileSync(file, "(function (require, __filename, __dirname) { return { one: () => 'one' } })")
  const load = () => loadWithCodeCache({ file, id: 'id', prefix: 'library-', flags: '0' }, folder())
  const { exports, save } = load()
  assert.ok(typeof exports === 'object' && exports !== null && 'one' in exports)
  passTime()
  assert.deepEqual(saved(), [ofProgram], 'importing it alone saves nothing')
  save()
  passTime()
  const [, ofLibrary = ''] = saved()
  assert.match(ofLibrary, /^library-v.*-id-0$/)
  const { mtimeMs } = statSync(join(folder(), ofLibrary))
  load().save()
  passTime()
  assert.equal(statSync(join(folder(), ofLibrary)).mtimeMs, mtimeMs)
  run("() => 'two'")
  assert.ok(saved().includes(ofLibrary), 'the program removes only its own code')
})
