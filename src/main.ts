/**
 * Starts and stops the process. This is the only file that reads arguments and environment
 * variables, and the only one that calls exit.
 */
import { enableCompileCache } from 'node:module'
import { extname } from 'node:path'
import { isSea } from 'node:sea'
import type { WriteStream } from 'node:tty'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import {
  asksForHelp,
  type CommandContext,
  type CommandEntry,
  type LogFormat,
  USAGE_FAULT,
} from './entry/commands/command-context.ts'
import { commandTable } from './entry/commands/command-table.ts'
import { findCommand, printCommands, unknownCommand } from './entry/commands/find-command.ts'
import { progressLine } from './entry/commands/progress-line.ts'
import { Signals } from './entry/commands/signals.ts'
import type { Terminal } from './entry/dev/terminal-output.ts'
import { cacheFolder } from './lib/process/cache-folder.ts'
import { systemClock } from './lib/time/clock.ts'
import { linesTo, LogSink } from './lib/telemetry/log-sink.ts'
import { printHelp } from './lib/process/command-help.ts'
import { nodeFault } from './lib/process/node-version.ts'
import { readOwnFile } from './lib/process/own-files.ts'

/**
 * The thread that the entry point of the package (`packaged-main.ts`) started before it loaded this
 * program. Not defined if the program runs from its sources.
 */
declare const storeThread: Worker | undefined

/** The exit status if the version of Node is not safe. */
const NODE_FAULT = 1

// Node stores compiled code in this folder and loads it at later starts.
const folder = cacheFolder(process.env)
if (folder !== undefined) enableCompileCache(folder)

/**
 * The program that replaces etcd for `keelson assets`. It has its own file. In the single
 * executable, the file is an asset (`sea-main.ts`).
 */
const standInName = 'etcd-stand-in'
const standInFile =
  extname(import.meta.filename) === '.ts' ? `entry/envtest/${standInName}.ts` : `${standInName}.cjs`

async function main([name = '--help', ...args]: readonly string[]): Promise<void> {
  const fault = nodeFault()
  // bin/keelson has the same check, but this program can also be started without bin/keelson.
  if (fault !== undefined) fail(NODE_FAULT, [fault])
  const found = findCommand(commandTable, [name, ...args])
  if (found !== undefined) await run(found.command, found.args)
  else if (['--help', '-h'].includes(name)) parts.print(printCommands(commandTable))
  else if (['--version', '-v', '-V'].includes(name)) {
    const { versionLine } = await import('./entry/commands/version.ts')
    parts.print(versionLine(parts.version))
  } else fail(USAGE_FAULT, unknownCommand(commandTable, [name, ...args]))
}

async function run(command: CommandEntry, args: readonly string[]): Promise<void> {
  if (asksForHelp(args)) parts.print(printHelp(await command.help()))
  else await (await command.load())(args, parts)
}

const parts: CommandContext = {
  env: process.env,
  print: (text) => void process.stdout.write(text),
  report: (line) => void process.stderr.write(line),
  startProgress: () => progressLine(process.stderr, process.env['TERM']),
  terminal,
  exit,
  fail,
  createSink,
  onSignals: (log, onForced) => new Signals({ log, fail, exit, onForced }),
  onHangup: (act) => void process.on('SIGHUP', act),
  cache: folder,
  fileOf,
  ownCommand: isSea() ? [process.execPath] : [process.execPath, fileOf('../bin/keelson')],
  standInCommand: isSea()
    ? [process.execPath, standInName]
    : [process.execPath, fileOf(standInFile)],
  version: version(),
  commands: commandTable,
  storeThread: typeof storeThread === 'undefined' ? undefined : storeThread,
}

function fileOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

function createSink({ format, verbosity }: LogFormat): LogSink {
  const isTerminal = process.stderr.isTTY
  return new LogSink({
    format: format === 'auto' ? (isTerminal ? 'text' : 'json') : format,
    verbosity,
    clock: systemClock,
    write: linesTo(process.stderr),
    hasColours: hasColors(process.stderr),
  })
}

/** The number of columns that is assumed if a terminal does not report it. */
const TERMINAL_COLUMNS = 80

function terminal(): Terminal | undefined {
  const { stdout, stderr } = process
  if (!stdout.isTTY || !stderr.isTTY) return undefined
  return { columns: stdout.columns || TERMINAL_COLUMNS, hasColors: hasColors(stdout) }
}

function hasColors(stream: WriteStream): boolean {
  return stream.isTTY && process.env['NO_COLOR'] === undefined && stream.hasColors()
}

function exit(code: number): void {
  process.exit(code)
}

function fail(code: number, reasons: readonly string[]): void {
  for (const reason of reasons) process.stderr.write(`keelson: ${reason}\n`)
  process.exit(code)
}

function version(): string {
  const manifest: unknown = JSON.parse(readOwnFile('../package.json', import.meta.url))
  const found =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest
      ? manifest.version
      : ''
  return typeof found === 'string' ? found : ''
}

// Ignore SIGUSR1. By default, this signal opens Node's debugger to every user on the machine, or
// ends the process if the debugger is disabled (bin/keelson).
process.on('SIGUSR1', () => undefined)

// The result of `main` is not awaited, because the packaged program is a CommonJS module, which
// does not support `await` at the top level.
void main(process.argv.slice(2))
