/**
 * Starts and stops the process: the only reader of arguments and environment variables, and the
 * only place that exits.
 */
import { enableCompileCache } from 'node:module'
import { extname } from 'node:path'
import { isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import {
  type Command,
  type CommandContext,
  type LogFormat,
  USAGE_FAULT,
} from './entry/commands/command-context.ts'
import { progressLine } from './entry/commands/progress-line.ts'
import { Signals } from './entry/commands/signals.ts'
import { cacheFolder } from './lib/process/cache-folder.ts'
import { systemClock } from './lib/time/clock.ts'
import { linesTo, LogSink } from './lib/telemetry/log-sink.ts'
import { nodeFault } from './lib/process/node-version.ts'
import { readOwnFile } from './lib/process/own-files.ts'

/**
 * What the entry of the package started before it loaded this program (`packaged-main.ts`). From
 * sources there is no such name.
 */
declare const storeThread: Worker | undefined

/** The exit status on a Node that is not safe. */
const NODE_FAULT = 1

// Later starts load compiled code.
const folder = cacheFolder(process.env)
if (folder !== undefined) enableCompileCache(folder)

const usage = `Usage: keelson <command> [flags]

Commands:
  dev       Start the API server on this machine, with a kubeconfig. keelson dev --help lists its flags.
  status    List what keelson dev runs here.
  stop      End it. keelson stop --help lists its flags.
  serve     Serve the Kubernetes API on etcd, or from a folder. keelson serve --help lists its flags.
  assets    Print a folder for KUBEBUILDER_ASSETS, for tests with envtest. keelson assets --help says more.
  store     Move a cluster between etcd, a data folder and a file. keelson store --help says how.
  auth why  Show why somebody may do something, or not. keelson auth why --help lists its flags.

  --version Show the version.
  --help    Show this text.
`

/** Each loads what it needs when it is called. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./entry/commands/serve.ts')).serve,
  dev: async () => (await import('./entry/commands/dev.ts')).dev,
  status: async () => (await import('./entry/commands/status.ts')).status,
  stop: async () => (await import('./entry/commands/stop.ts')).stop,
  assets: async () => (await import('./entry/commands/assets.ts')).assets,
  'kube-apiserver': async () => (await import('./entry/commands/kube-apiserver.ts')).kubeApiServer,
  auth: async () => (await import('./entry/commands/auth.ts')).auth,
  store: async () => (await import('./entry/commands/store.ts')).store,
}

/**
 * Stands in for etcd, for `keelson assets`: a program of its own, which the single executable has
 * inside (`sea-main.ts`).
 */
const standInName = 'etcd-stand-in'
const standInFile =
  extname(import.meta.filename) === '.ts' ? `entry/envtest/${standInName}.ts` : `${standInName}.cjs`

async function main([name = '--help', ...args]: readonly string[]): Promise<void> {
  const fault = nodeFault()
  // bin/keelson has checked it already, unless this program is started without it.
  if (fault !== undefined) fail(NODE_FAULT, [fault])
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load !== undefined) return (await load())(args, parts)
  if (['--help', '-h', 'help'].includes(name)) parts.print(usage)
  else if (name === '--version') parts.print(`${parts.version}\n`)
  else fail(USAGE_FAULT, [`there is no command ${JSON.stringify(name)}: keelson --help lists them`])
}

const parts: CommandContext = {
  env: process.env,
  print: (text) => void process.stdout.write(text),
  report: (line) => void process.stderr.write(line),
  startProgress: () => progressLine(process.stderr),
  exit,
  fail,
  createSink,
  onSignals: (log) => new Signals({ log, fail, exit }),
  onHangup: (act) => void process.on('SIGHUP', act),
  cache: folder,
  fileOf,
  ownCommand: isSea() ? [process.execPath] : [process.execPath, fileOf('../bin/keelson')],
  standInCommand: isSea()
    ? [process.execPath, standInName]
    : [process.execPath, fileOf(standInFile)],
  version: version(),
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
    hasColours: isTerminal && process.env['NO_COLOR'] === undefined,
  })
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

// It would open Node's debugger, to whoever is on the machine, or end the process where that is
// turned off (bin/keelson).
process.on('SIGUSR1', () => undefined)

// Not awaited here: the package's program is a CommonJS module.
void main(process.argv.slice(2))
