import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { markdownOf, summaryOf } from './report.ts'
import { Results } from './results.ts'

const passed = { name: '[sig-x] a | b', result: 'passed', seconds: 1.25, said: '' } as const
const failed = { name: '[sig-x] c', result: 'failed', seconds: 2, said: 'expected 1' } as const

test('the last result of each test is stored for the next run', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-results-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'deeper', 'wide.json')
  const results = new Results(file)
  results.keep({ ...passed, result: 'failed' })
  results.keep(failed)
  results.keep(passed)
  const again = new Results(file)
  assert.deepEqual(again.get(passed.name), passed)
  assert.deepEqual(again.get(failed.name), failed)
  assert.equal(again.get('[sig-x] d'), undefined)
})

test('two concurrent runs can store their results in the same file', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-results-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'wide.json')
  const [one, two] = [new Results(file), new Results(file)]
  one.keep(passed)
  two.keep(failed)
  const again = new Results(file)
  assert.deepEqual(again.get(passed.name), passed)
  assert.deepEqual(again.get(failed.name), failed)
})

test('a report contains both servers, and compares the times of tests that passed on both', () => {
  const rows = [
    { outcome: passed, reference: { ...passed, seconds: 3 } },
    { outcome: failed, reference: { ...failed, result: 'passed', seconds: 4 } as const },
    { outcome: { ...passed, name: '[sig-x] e' }, reference: undefined },
  ]
  const summary =
    'wide: 3 tests, 2 passed, 1 failed, 0 skipped; 1 passed on both, 1 s and 3 s on the reference'
  assert.equal(summaryOf('wide', rows), summary)
  assert.deepEqual(markdownOf('wide', rows).split('\n'), [
    `# ${summary}`,
    '',
    'Seconds are those of the test alone. The machine may have been busy.',
    '',
    '## Failed',
    '',
    '- [sig-x] c (reference: passed 4.0)',
    '  expected 1',
    '',
    '## sig-x',
    '',
    '| test | result | seconds | reference |',
    '|---|---|---:|---:|',
    '| a \\| b | passed | 1.3 | passed 3.0 |',
    '| c | failed | 2.0 | passed 4.0 |',
    '| e | passed | 1.3 | - |',
    '',
  ])
})
