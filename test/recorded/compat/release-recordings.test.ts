import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RecordedStep } from './recorded.ts'
import { Recordings } from './recordings.ts'
import {
  baseRelease,
  formatReleaseBook,
  parseReleaseBook,
  recordedReleases,
  releaseDirectory,
  ReleaseRecordings,
} from './release-recordings.ts'
import { type FiledScenario, loadScenarios } from './scenarios.ts'

const scenario = (id: string): FiledScenario => ({ id, file: 'f', about: '', steps: [] })
const answer = (status: number): readonly RecordedStep[] => [{ step: '0 GET /x', status, body: {} }]

function withRecordings(
  check: (base: Recordings, open: () => ReleaseRecordings, directory: string) => void,
): void {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-recordings-'))
  try {
    const base = new Recordings(directory)
    base.keep(scenario('a'), answer(200))
    base.keep(scenario('b'), answer(200))
    check(base, () => new ReleaseRecordings(join(directory, '1.34'), base), directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

void test('the recordings of a release contain only what differs from 1.33', () => {
  withRecordings((_, open, directory) => {
    const written = open()
    written.keep(scenario('a'), answer(200))
    written.keep(scenario('b'), answer(404))
    written.save()
    const lines = readFileSync(join(directory, '1.34', 'f.json'), 'utf8').split('\n')
    assert.equal(lines[1], '"a": [],')
    assert.match(lines[2] ?? '', /^"b": \["[0-9a-f]{12}",\{"at":"\/0\/status","value":404\}\]$/)
    assert.deepEqual(open().stepsOf(scenario('a')), answer(200))
    assert.deepEqual(open().stepsOf(scenario('b')), answer(404))
  })
})

void test('a scenario that was not recorded on a release has no recording there', () => {
  withRecordings((_, open) => {
    assert.equal(open().stepsOf(scenario('a')), undefined)
    assert.throws(() => open().keep(scenario('c'), answer(200)), /c has no recording of 1\.33/)
  })
})

void test('the recorded changes of a release are rejected if the recording of 1.33 to which they belong has changed', () => {
  withRecordings((base, open) => {
    const recordings = open()
    recordings.keep(scenario('b'), answer(404))
    base.keep(scenario('b'), answer(500))
    assert.throws(
      () => recordings.stepsOf(scenario('b')),
      /the recording of b on 1\.33 has changed/,
    )
  })
})

for (const release of recordedReleases.filter((one) => one !== baseRelease)) {
  const directory = releaseDirectory(release)
  if (!existsSync(directory)) continue
  void test(`the recordings of 1.${release} belong to the scenarios and to their recordings of 1.33`, async () => {
    const recordings = new ReleaseRecordings(directory)
    const scenarios = new Map((await loadScenarios()).map((one) => [one.id, one]))
    for (const name of readdirSync(directory)) {
      const text = readFileSync(join(directory, name), 'utf8')
      const book = parseReleaseBook(text, name)
      assert.equal(formatReleaseBook(book), text, name)
      for (const id of book.keys()) {
        const found = scenarios.get(id)
        assert.ok(found, `${name} has ${id}, but there is no such scenario`)
        assert.ok(recordings.stepsOf(found))
      }
    }
  })
}
