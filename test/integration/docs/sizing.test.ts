/** Compares the sizing tables of docs/operate.md with the stored measurements and the program. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { KeptRun } from '../../../bench/report/figure.ts'
import type { Claim } from '../../../scripts/status/results.ts'
import { planCache, planMemory } from '../../../src/lib/process/memory-plan.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const page = readFileSync(join(root, 'docs', 'operate.md'), 'utf8')
const readResult = (name: string): string =>
  readFileSync(join(root, 'bench', 'results', name), 'utf8')
const claims: readonly Claim[] = JSON.parse(readResult('claims.json'))
const sizing: KeptRun = JSON.parse(readResult('sizing.json'))
const reference: KeptRun = JSON.parse(readResult('reference.json'))
/** Maximum rounding error of a number in docs/operate.md, as a fraction of the measured value. */
const DIFFERENCE_MAX = 0.06
const MIB = 2 ** 20

const claimed = (text: string): number =>
  Number.parseFloat(claims.find(({ claim }) => claim === text)?.value ?? '')

const measured = (text: string): number =>
  sizing.figures.find(({ name }) => name === text)?.value ?? Number.NaN

/** Returns the CPU time that `count` requests of a load per second need, in percent of a core. */
function share(load: string, count: number): number {
  const figure = reference.figures.find(({ name }) => name === `${load}: CPU against the reference`)
  return ((figure?.pair?.keelson ?? Number.NaN) * count) / 1e4
}

const OFTEN = 1_000
const LISTS = 10

suite('docs/operate.md contains the measured figures', () => {
  for (const [row, value] of [
    ['an idle `keelson dev --ephemeral`', claimed('Idle memory of keelson dev --ephemeral')],
    ['an idle `keelson dev` with a folder', claimed('Idle memory of keelson dev')],
    ['an idle `keelson serve` with etcd', claimed('Idle memory of keelson serve with etcd')],
    ['cached objects', measured('cached objects, against the size of their JSON')],
    ['a connection', measured('connection with TLS and HTTP/2')],
    ['the first watch of a connection', measured('first watch of a connection')],
    ['a further watch of a connection', measured('further watch of a connection')],
    ['a CustomResourceDefinition', claimed('Memory of each of 2,000 definitions')],
    ['1,000 reads of one object a second', share('get', OFTEN)],
    ['1,000 creates a second', share('create', OFTEN)],
    ['1,000 patches a second', share('patch', OFTEN)],
    ['1,000 applies a second', share('apply', OFTEN)],
    ['10 lists of 10,000 objects of 1 KB a second', share('list', LISTS)],
    ['1,000 events a second, sent to one watcher', share('watch', OFTEN)],
  ] as const)
    test(row, () => {
      const line = page.split('\n').find((one) => one.startsWith(`| ${row} |`)) ?? ''
      const shown = Number.parseFloat(line.split(' | ')[1] ?? '')
      const difference = Math.abs(shown - value) / value
      assert.ok(difference < DIFFERENCE_MAX, `${shown}, but ${value} was measured`)
    })
})

/** Budgets of the cache without a memory limit (docs/scale.md, "Use of memory"). */
const usual = {
  pastBytes: 24 * MIB,
  historiesBytes: 64 * MIB,
  decodedBytes: 32 * MIB,
  memoBytes: 24 * MIB,
}

suite('docs/operate.md describes correctly how memory is divided between cache, requests and connections', () => {
  const rows = [...page.matchAll(/^\| (\d+ [MG]iB) \| ([^|]+) \| ([^|]+) \| ([\d,]+) \|$/gm)]
  test('the table of memory limits in docs/operate.md has several rows', () =>
    assert.ok(rows.length > 4))
  for (const [, limit = '', objects = '', requests = '', connections = ''] of rows)
    test(limit, () => {
      const plan = planMemory({
        requestBytesMax: null,
        cacheBytesMax: null,
        totalBytes: 1024 * 1024 * MIB,
        constrainedBytes: bytesOf(limit),
        heapBytes: 4096 * MIB,
        filesMax: 65_536,
      })
      assert.equal(connections, plan.connections.toLocaleString('en-US'))
      assert.equal(bytesOf(requests), plan.requestBytes)
      const { objectBytes } = planCache(plan.cacheBytes, usual)
      const difference = Math.abs(bytesOf(objects) - objectBytes) / objectBytes
      assert.ok(difference < DIFFERENCE_MAX, `${objects}, but ${objectBytes / MIB} MiB fit`)
    })
})

function bytesOf(text: string): number {
  const [value = '', unit] = text.split(' ')
  return Number(value) * (unit === 'GiB' ? 1024 * MIB : MIB)
}
