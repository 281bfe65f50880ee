import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { flags } from '../../config/flags.ts'
import { Verbosity } from './verbosity.ts'

test('a log level applies to all modules, or to the modules that match a pattern', () => {
  const verbosity = new Verbosity(0, [
    { pattern: 'auth*', level: 4 },
    { pattern: 'authentication', level: 9 },
    { pattern: 'fe?d', level: 2 },
  ])
  assert.ok(verbosity.isOn(0) && !verbosity.isOn(2) && !verbosity.isOn(2, 'http'))
  assert.ok(verbosity.isOn(4, 'authorization') && !verbosity.isOn(5, 'authentication'))
  assert.ok(verbosity.isOn(2, 'feed') && !verbosity.isOn(3, 'feed'))
  verbosity.level = 3
  assert.ok(verbosity.isOn(3) && verbosity.isOn(3, 'http'))
})

test('the log levels of modules can be changed', () => {
  const verbosity = new Verbosity(0, [{ pattern: 'feed', level: 2 }])
  assert.ok(verbosity.isOn(2, 'feed'))
  verbosity.setModules([{ pattern: 'http', level: 4 }])
  assert.ok(!verbosity.isOn(2, 'feed') && verbosity.isOn(4, 'http'))
  verbosity.setModules([])
  assert.ok(!verbosity.isOn(2, 'http'))
})

test('the help of --vmodule lists exactly the modules that write log entries', () => {
  const src = join(import.meta.dirname, '..', '..')
  const texts = globSync('**/*.ts', { cwd: src, exclude: ['**/*.test.ts'] }).map((file) =>
    readFileSync(join(src, file), 'utf8'),
  )
  const modules = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/named\(log, '([a-z]+)'\)/g)].map(([, name]) => name),
    ),
  )
  const named = /The components are ([a-z, ]+)\./.exec(flags.vmodule.help)?.[1]?.split(', ')
  assert.deepEqual(new Set(named), modules)
})
