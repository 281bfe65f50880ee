/**
 * Checks that names on which users depend do not change: flags, metrics with their labels, keys of
 * log lines, files of a data folder, and exports of `keelson/testing`. user-visible-names.json
 * lists them. A new name is added to that file; a name that disappears is a breaking change.
 *
 * Flags and metrics are read from docs/reference, which `scripts/reference.ts --check` compares
 * with the program.
 *
 *   UPDATE=1 node --test test/recorded/golden/user-visible-names.test.ts    writes the file
 */
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fillDataFolder, openDataFolder } from '../../../src/entry/dev/data-folder.ts'
import { fileIn, lockFolder } from '../../../src/storage/sqlite/folder-lock.ts'
import { exportedNames } from './exported-names.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const recordedPath = join(import.meta.dirname, 'user-visible-names.json')

const names = {
  flags: flags(),
  metrics: metrics(),
  logKeys: logKeys(),
  dataFolder: dataFolder(),
  testingExports: exportedNames(root, 'src/entry/testing/index.ts'),
}

if (process.env['UPDATE'] === '1')
  writeFileSync(recordedPath, `${JSON.stringify(names, undefined, 2)}\n`)

const recorded: typeof names = JSON.parse(readFileSync(recordedPath, 'utf8'))

for (const what of ['flags', 'metrics', 'logKeys', 'dataFolder', 'testingExports'] as const) {
  test(`${what}: every recorded name exists, and every name is recorded`, () => {
    assert.deepEqual(names[what], recorded[what])
  })
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function flags(): string[] {
  const pages = read('docs/reference/flags.md') + read('docs/reference/commands.md')
  return unique([...pages.matchAll(/`(--[a-z0-9-]+)/g)].map(([, name = '']) => name))
}

/** Returns the metrics in the form `name{label,label}`. */
function metrics(): string[] {
  const rows = read('docs/reference/metrics.md').matchAll(
    /^\| `(\w+)` \| (?:counter|gauge|histogram|summary) \| \w+ \| (.*?) \|/gm,
  )
  return unique(
    [...rows].map(([, name = '', labels = '']) => {
      const list = [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)
      return list.length === 0 ? name : `${name}{${list.join(',')}}`
    }),
  )
}

/** Returns the keys of the fields in calls such as `log('warn', 'message', { key: value })`. */
function logKeys(): string[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  return unique(files.flatMap((file) => [...keysOfCalls(read(file))]))
}

function* keysOfCalls(text: string): Generator<string> {
  const calls = /\blog\(|\b\w+\((?=\s*'(?:debug|info|warn|error)',)/g
  for (const { 0: call, index } of text.matchAll(calls)) {
    const [, , fields = ''] = argumentsAt(text, index + call.length)
    if (!fields.startsWith('{')) continue
    for (const member of argumentsAt(fields, 1)) {
      const [, key] = /^(\w+)\s*(?:$|:)/.exec(member) ?? /^'([^']+)':/.exec(member) ?? []
      if (key !== undefined) yield key
    }
  }
}

/** Returns the arguments from a position up to the closing bracket, split at commas. */
function argumentsAt(text: string, start: number): string[] {
  const found: string[] = []
  let depth = 0
  let from = start
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at)
    if (`'"\``.includes(character)) at = endOfString(text, at)
    else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character) && depth-- === 0) {
      found.push(text.slice(from, at))
      break
    } else if (character === ',' && depth === 0) {
      found.push(text.slice(from, at))
      from = at + 1
    }
  }
  return found.map((one) => one.trim()).filter((one) => one !== '')
}

function endOfString(text: string, start: number): number {
  const quote = text.charAt(start)
  for (let at = start + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++
    else if (text.charAt(at) === quote) return at
  }
  return text.length
}

/** Returns the files of `keelson dev` and of `--data-dir`. */
function dataFolder(): string[] {
  const path = mkdtempSync(join(tmpdir(), 'keelson-names-'))
  try {
    const folder = openDataFolder(path)
    using held = new DisposableStack()
    held.use(lockFolder(path))
    fillDataFolder(folder, { bindAddress: '127.0.0.1', nowMs: Date.now() })
    const layout = Object.values(folder).filter((one) => one.startsWith(path))
    const files = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !/-(?:journal|wal|shm)$/.test(name),
    )
    return unique([
      ...files,
      ...[...layout, fileIn(folder.store)].map((one) => relative(path, one)),
    ])
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)].filter((one) => one !== '').toSorted()
}
