/**
 * Checks that names on which users depend do not change. user-visible-names.json lists these names:
 *
 * - flags with their types and defaults, and metrics with their types and labels,
 * - keys of log lines, API groups, labels and annotations,
 * - files of a data folder, and exports of `keelson/testing`.
 *
 * Add new names to the file. Removing or changing a name is a breaking change.
 * test/integration/exit-codes.test.ts checks the exit codes of the commands.
 *
 * Metrics, feature gates, and the flags of all commands except `serve` are read from
 * docs/reference, which `scripts/reference.ts --check` compares with the program.
 *
 *   UPDATE=1 node --test test/recorded/golden/user-visible-names.test.ts    writes the file;
 *   `npm run format` formats it
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import type { Flag } from '../../../src/config/flag.ts'
import { flags } from '../../../src/config/flags.ts'
import { fillDataFolder, openDataFolder } from '../../../src/entry/dev/data-folder.ts'
import { LogSink } from '../../../src/lib/telemetry/log-sink.ts'
import { Verbosity } from '../../../src/lib/telemetry/verbosity.ts'
import { systemClock } from '../../../src/lib/time/clock.ts'
import { fileIn, lockFolder } from '../../../src/storage/sqlite/folder-lock.ts'
import { exportedNames } from './exported-names.ts'
import {
  apiStrings,
  environmentVariables,
  logKeys,
  ownStrings,
  presetFlags,
  unique,
} from './names-in-sources.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const recordedPath = join(import.meta.dirname, 'user-visible-names.json')

const names = {
  serveFlags: serveFlags(),
  commandFlags: commandFlags(),
  flagsOfDev: presetFlags(root, 'dev'),
  flagsOfTesting: presetFlags(root, 'testing'),
  featureGates: featureGates(),
  environmentVariables: environmentVariables(root),
  metrics: metrics(),
  logLineKeys: logLineKeys(),
  logKeys: logKeys(root),
  apiStrings: apiStrings(root),
  ownStrings: ownStrings(root),
  dataFolder: dataFolder(),
  package: packageNames(),
  testingExports: exportedNames(root, 'src/entry/testing/index.ts'),
}

if (process.env['UPDATE'] === '1')
  writeFileSync(recordedPath, `${JSON.stringify(names, undefined, 2)}\n`)

const recorded: Record<string, readonly string[]> = JSON.parse(readFileSync(recordedPath, 'utf8'))

for (const [what, list] of Object.entries(names)) {
  test(`${what}: every recorded name exists, and every name is recorded`, () => {
    assert.ok(list.length > 0)
    assert.deepEqual(list, recorded[what])
  })
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Returns the flags of `keelson serve` in the form `--name type (default value)`. */
function serveFlags(): string[] {
  return unique(
    Object.entries<Flag>(flags).map(
      ([name, { type, default: value = '' }]) =>
        `--${name} ${type}${value === '' ? '' : ` (default ${value})`}`,
    ),
  )
}

/** Returns the flags in the help of the other commands: `dev --context=name (default keelson)`. */
function commandFlags(): string[] {
  const sections = read('docs/reference/commands.md')
    .split(/^## keelson /m)
    .slice(1)
  return sections.flatMap((section) => {
    const [command = ''] = section.split('\n', 1)
    const lines = [...section.matchAll(/^ {2}(-.*?),?$/gm)]
    return lines
      .flatMap(([, line = '']) => line.split(/,\s*(?=-)/))
      .map((flag) => `${command} ${flag}`)
      .toSorted()
  })
}

/** Returns the metrics in the form `name type STABILITY {label,label}`. */
function metrics(): string[] {
  const rows = read('docs/reference/metrics.md').matchAll(
    /^\| `(\w+)` \| (counter|gauge|histogram|summary) \| (\w+) \| (.*?) \|/gm,
  )
  return unique(
    [...rows].map(([, name = '', type = '', stability = '', labels = '']) => {
      const list = [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)
      return `${name} ${type} ${stability} {${list.join(',')}}`
    }),
  )
}

/** Returns the feature gates with their stages and defaults. */
function featureGates(): string[] {
  const rows = read('docs/reference/feature-gates.md').matchAll(
    /^\| `(\w+)` \| (.*?) \| (.*?) \|/gm,
  )
  return unique([...rows].map(([, ...cells]) => cells.join(' ')))
}

/** Returns the keys that every line of a JSON log has. */
function logLineKeys(): string[] {
  const lines: string[] = []
  const sink = new LogSink({
    format: 'json',
    verbosity: new Verbosity(0),
    clock: systemClock,
    write: (line) => void lines.push(line),
    hasColours: false,
  })
  sink.log('info', 'a message')
  return Object.keys(JSON.parse(lines.join('')))
}

/**
 * Returns the public interface of the package: its programs and the modules that users can import.
 */
function packageNames(): string[] {
  const { name, bin, exports }: { name: string; bin: object; exports: object } = JSON.parse(
    read('package.json'),
  )
  return [...Object.keys(bin), ...Object.keys(exports).map((path) => path.replace(/^\./, name))]
}

/** Returns the paths of the files in the data folder of a server, relative to this folder. */
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
