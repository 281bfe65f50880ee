/** Tests the samples that test/support/language-sample.ts draws. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { drawSample, sizes } from '../../support/language-sample.ts'
import { root } from '../../support/prose.ts'

const SEED = 7
const sample = drawSample(SEED)

test('equal seeds draw equal samples, and different seeds draw different samples', () => {
  assert.deepEqual(drawSample(SEED), sample)
  assert.notDeepEqual(drawSample(SEED + 1), sample)
})

test('a sample contains different texts of each kind', () => {
  const counts = [...Map.groupBy(sample, ({ kind }) => kind)].map(([kind, texts]) => [
    kind,
    texts.length,
  ])
  assert.deepEqual(Object.fromEntries(counts), sizes)
  const places = new Set(sample.map(({ file, line, text }) => `${file}:${line} ${text}`))
  assert.equal(places.size, sample.length)
})

test('each text of a sample is in its file near the stated line', () => {
  for (const { file, line, text } of sample) {
    const [first = ''] = text.split('\n')
    const [word = ''] = first.split(' ')
    const paragraph = readFileSync(join(root, file), 'utf8')
      .split('\n')
      .slice(line - 1, line + 40)
    assert.ok(
      paragraph.some((one) => one.includes(word)),
      `${file}:${line} ${first}`,
    )
  }
})

test('generated pages and recorded data are left out', () => {
  const files = sample.map(({ file }) => file)
  assert.deepEqual(
    files.filter((file) => /^docs\/(?:reference|status)|\/(?:data|recordings)\//.test(file)),
    [],
  )
})
