import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { argv0Of, planProgram, testsOf } from './program.ts'

test('Go test files are turned into files of ordinary packages, with a table of their tests', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-program-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const write = (file: string, text: string): void =>
    writeFileSync(join(folder, 'pods', file), text)
  mkdirSync(join(folder, 'pods'))
  write('util.go', 'package pods\n\nfunc TestNotOne(t *testing.T) {}\n')
  write('main_test.go', 'package pods\n\nfunc TestMain(m *testing.M) {\n}\n')
  write(
    'pods_test.go',
    'package pods\n\nfunc TestA(t *testing.T) {\n}\nfunc testHelp(t *testing.T) {}\nfunc Test_b(tt *testing.T) {}\nfunc Testing(t *testing.T) {}\n',
  )
  write('outer_test.go', 'package pods_test\n\nfunc TestC(t *testing.T) {\n}\n')
  write('notes.txt', '')

  const place = { name: 'x/pods', folder, path: 'k8s.io/x', within: 'pods' }
  const table = join(folder, 'table', 'suites.go')
  const overlay = planProgram([place], place, table)

  const seen = [...overlay].map(
    ([path, file]) => `${path.slice(folder.length)} ${file.slice(folder.length)}`,
  )
  assert.deepEqual(seen.toSorted(), [
    '/program/pods/main_tests.go /pods/main_test.go',
    '/program/pods/pods_tests.go /pods/pods_test.go',
    '/program/pods/util.go /pods/util.go',
    '/program/pods_external/outer_tests.go /pods/outer_test.go',
    '/program/suites.go /table/suites.go',
  ])
  const text = readFileSync(table, 'utf8')
  assert.match(
    text,
    /\tx_pods_0 "k8s.io\/x\/program\/pods"\n\tx_pods_1 "k8s.io\/x\/program\/pods_external"\n/,
  )
  assert.ok(
    text.includes(
      '\t"x/pods": {x_pods_0.TestMain, []testing.InternalTest{{"TestA", x_pods_0.TestA}, {"Test_b", x_pods_0.Test_b}, {"TestC", x_pods_1.TestC}}},\n',
    ),
    text,
  )
  assert.deepEqual(testsOf(place), ['TestA', 'TestC', 'Test_b'])
  assert.equal(argv0Of(place), 'pods.test')
})
