/** Tests the samples that test/support/language-sample.ts draws. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { allTexts, drawSample, sentencesOf, sizes } from '../../support/language-sample.ts'
import { root } from '../../support/prose.ts'

const SEED = 7
const sample = drawSample(SEED)
const everyText = allTexts()

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

test('generated pages and recorded data are not sampled', () => {
  const files = sample.map(({ file }) => file)
  assert.deepEqual(
    files.filter((file) => /^docs\/(?:reference|status)|\/(?:data|recordings)\//.test(file)),
    [],
  )
})

test('a paragraph is split between sentences, but not at abbreviations or inside inline code', () => {
  const sentences = [
    'Use a proxy, e.g. Envoy.',
    'Type `Run. Wait.` and press Enter (twice).',
    '`keelson dev` starts etcd 3.6.',
    'Is it ready?',
  ]
  assert.deepEqual(sentencesOf(sentences.join(' ')), sentences)
})

test('list numbers, single words and headings are not sentences', () => {
  for (const text of ['5.', '`note`.', '**One queue.**', 'Set up a server'])
    assert.deepEqual(sentencesOf(text), [], text)
  assert.deepEqual(sentencesOf('**One queue.** Requests wait.'), ['Requests wait.'])
})

test('sentences are not taken from headings and contain whole inline code', () => {
  for (const { kind, file, line, text } of everyText) {
    if (kind !== 'sentence') continue
    const first = readFileSync(join(root, file), 'utf8').split('\n')[line - 1]
    assert.ok(first?.startsWith('#') === false, `${file}:${line} ${text}`)
    assert.equal(text.split('`').length % 2, 1, `${file}:${line} ${text}`)
  }
})

test('sampled comments contain no comment markers', () => {
  for (const { kind, file, line, text } of everyText)
    if (kind === 'comment')
      assert.doesNotMatch(text, /^(?:\/\*|\/\/|\/ |# |\* )/m, `${file}:${line}`)
})
