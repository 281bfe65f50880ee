import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { formatBook, parseBook } from './recordings.ts'
import { loadScenarios } from './scenarios.ts'

const directory = join(import.meta.dirname, 'recordings')

void test('reading and writing a recording does not change any byte', () => {
  for (const name of readdirSync(directory)) {
    const text = readFileSync(join(directory, name), 'utf8')
    assert.equal(formatBook(parseBook(text, name)), text, name)
  }
})

void test('each scenario has a recording, and each recording has a scenario', async () => {
  const scenarios = (await loadScenarios()).map(({ file, id }) => `${file}/${id}`)
  const recorded = readdirSync(directory).flatMap((name) => {
    const book = parseBook(readFileSync(join(directory, name), 'utf8'), name)
    return [...book.keys()].map((id) => `${name.replace(/\.json$/, '')}/${id}`)
  })
  assert.deepEqual(recorded.toSorted(), scenarios.toSorted())
})

void test('the error for a file without recordings names the file', () => {
  assert.throws(() => parseBook('[]', 'x.json'), /x\.json has no recordings/)
  assert.throws(
    () => parseBook('{"a":[{}]}', 'x.json'),
    /the recording of a is not a list of steps/,
  )
})
