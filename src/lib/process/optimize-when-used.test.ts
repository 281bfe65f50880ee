import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { Script } from 'node:vm'

const module = join(import.meta.dirname, 'optimize-when-used.ts')

/**
 * A program for a separate process, because disabling the compilers affects the whole process. Bit
 * 4 of V8's optimization status indicates whether the code of a function is optimized.
 */
const program = `
import { setTimeout as sleep } from 'node:timers/promises'
import { optimizeWhenUsed } from ${JSON.stringify(module)}
const hot = (count) => {
  let sum = 0
  for (let at = 0; at < count; at++) sum += at & 3
  return sum
}
const isOptimized = () => (%GetOptimizationStatus(hot) & 16) !== 0
optimizeWhenUsed()
for (let calls = 0; calls < 200; calls++) hot(100_000)
const atStart = isOptimized()
await sleep(3_000)
for (let calls = 0; calls < 20; calls++) hot(1_000)
const idle = isOptimized()
const tooLate = performance.now() + 120_000
while (!isOptimized() && performance.now() < tooLate) {
  const untilMs = performance.now() + 50
  while (performance.now() < untilMs) hot(10_000)
  await sleep(1)
}
console.log(atStart, idle, isOptimized())
`

test('code is optimized only after the process becomes busy', async () => {
  const args = ['--allow-natives-syntax', '--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 240_000 })
  assert.equal(stdout, 'false false true\n')
})

/** Prints `grown` before marking is enabled again. V8 prints when it starts incremental marking. */
const growing = `
import { setTimeout as sleep } from 'node:timers/promises'
import { optimizeWhenUsed } from ${JSON.stringify(module)}
const grow = async () => {
  const kept = []
  for (let count = 0; count < 200; count++) {
    kept.push(Array.from({ length: 5_000 }, (_, at) => ({ at })))
    await sleep(0)
  }
}
optimizeWhenUsed()
await grow()
console.log('grown')
await sleep(3_000)
await grow()
`

test('V8 starts no incremental marking while the process starts, and starts it later', async () => {
  const args = ['--trace-incremental-marking', '--input-type=module', '-e', growing]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 240_000 })
  const [before = '', after = ''] = stdout.split('grown')
  assert.doesNotMatch(before, /Start marking/)
  assert.match(after, /Start marking/)
})

/** A script instead of a module: Node without WebAssembly cannot load TypeScript. */
const inScript = `${stripTypeScriptTypes(readFileSync(module, 'utf8')).replaceAll('export ', '')}
const hot = (count) => {
  let sum = 0
  for (let at = 0; at < count; at++) sum += at & 3
  return sum
}
optimizeWhenUsed()
const endMs = performance.now() + 4_000
const use = () => {
  const untilMs = performance.now() + 50
  while (performance.now() < untilMs) hot(10_000)
  if (performance.now() < endMs) setTimeout(use, 1)
  else console.log((%GetOptimizationStatus(hot) & 16) !== 0)
}
use()
`

test('compilers that were disabled by flags when Node was started are not enabled later', async () => {
  for (const flags of [['--jitless'], ['--no-opt', '--no_maglev']]) {
    const args = [...flags, '--allow-natives-syntax', '-e', inScript]
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 240_000 })
    assert.equal(stdout, 'false\n', flags.join(' '))
  }
})

/**
 * A program that prints compiled code. The code must be valid in a new process that has the flags
 * with which this process was started.
 */
const saving = `
import { Script } from 'node:vm'
import { optimizeWhenUsed, withGivenFlags } from ${JSON.stringify(module)}
optimizeWhenUsed()
console.log(withGivenFlags(() => new Script('1 + 1').createCachedData()).toString('base64'))
`

test('a code cache that is saved while the compilers are disabled is accepted by a process with all compilers', async () => {
  const args = ['--input-type=module', '-e', saving]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 240_000 })
  const { cachedDataRejected } = new Script('1 + 1', { cachedData: Buffer.from(stdout, 'base64') })
  assert.equal(cachedDataRejected, false)
})
