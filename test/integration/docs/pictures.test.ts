/**
 * Tests that the plot in README.md shows the stored run, and that our pictures are readable on
 * light and dark pages.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KeptRun } from '../../../bench/report/figure.ts'
import { plot } from '../../../bench/report/plot.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const read = (...path: readonly string[]): string => readFileSync(join(root, ...path), 'utf8')

test('the stored picture of the benchmarks is the one that npm run bench -- --plot draws', () => {
  const run: KeptRun = JSON.parse(read('bench', 'results', 'reference.json'))
  assert.equal(read('docs', 'pictures', 'bench.svg'), plot(run))
})

test('the plot of a benchmark run shows the figures of each load, and the date and commit of the run', () => {
  const pair = { keelson: 1234.4, reference: 500, unit: 'a second' }
  const drawn = plot({
    date: '2026-01-02',
    command: 'npm run bench -- --only <get>',
    commit: 'abc',
    machine: '2 cores',
    figures: [
      { name: 'get: rate against the reference', value: 2.47, unit: 'times', pair },
      { name: 'get: CPU against the reference', value: 0.25, unit: 'times', note: '3 µs' },
      { name: 'create: rate against a bare put', value: 0.5, unit: 'times' },
    ],
  })
  for (const expected of [
    '>get<',
    '>2.5×<',
    '>1,234 against 500 a second<',
    '>25 %<',
    '>3 µs<',
    '2026-01-02, commit abc',
  ])
    assert.ok(drawn.includes(expected), expected)
  assert.ok(drawn.includes('--only &lt;get&gt;'))
  assert.ok(!drawn.includes('create'))
})

test('pictures have colors for light and dark pages, and a text alternative', () => {
  const pictures = globSync('docs/pictures/*.svg', { cwd: root })
  assert.ok(pictures.length >= 2)
  for (const picture of pictures) {
    const text = read(picture)
    assert.match(text, /@media \(prefers-color-scheme: dark\)/)
    assert.match(text, /<svg [^>]*role="img" aria-label="[^"]+"/)
  }
})
