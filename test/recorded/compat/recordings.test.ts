import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatBook, parseBook } from './recordings.ts'
import { loadScenarios } from './scenarios.ts'

const directory = join(import.meta.dirname, 'recordings')

void test('a recording that is read and written again stays the same, byte for byte', () => {
  for (const name of readdirSync(directory)) {
    const text = readFileSync(join(directory, name), 'utf8')
    assert.equal(formatBook(parseBook(text, name)), text, name)
  }
})

void test('each scenario has its recording and each recording its scenario', async () => {
  const scenarios = (await loadScenarios()).map(({ file, id }) => `${file}/${id}`)
  const recorded = readdirSync(directory).flatMap((name) => {
    const book = parseBook(readFileSync(join(directory, name), 'utf8'), name)
    return [...book.keys()].map((id) => `${name.replace(/\.json$/, '')}/${id}`)
  })
  assert.deepEqual(recorded.toSorted(), scenarios.toSorted())
})

void test('a file that holds no recordings is refused by name', () => {
  assert.throws(() => parseBook('[]', 'x.json'), /x\.json holds no recordings/)
  assert.throws(
    () => parseBook('{"a":[{}]}', 'x.json'),
    /the recording of a is not a list of steps/,
  )
})
