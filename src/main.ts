/** Starts and stops the process: the only reader of arguments and environment variables, and the only place that exits. */
import { fstatSync, mkdtempSync, readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { delimiter, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { cacheFolder } from './lib/cache-folder.ts'
import { systemClock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import { LogSink } from './lib/log-sink.ts'

// Later starts load compiled code.
const folder = cacheFolder(process.env)
if (folder !== undefined) enableCompileCache(folder)

const USAGE_FAULT = 2
const FAILURE = 1
/** Beside this file: a source, or built. */
const standInFile = extname(import.meta.filename) === '.ts' ? 'assets/etcd-stand-in.ts' : 'etcd-stand-in.cjs'
/** By then a client that waited for the start has been served. */
const PINO_AFTER_MS = 2_000
/** Any time: nothing happens then. */
const KEPT_ALIVE_MS = 3_600_000

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

async function main(args: readonly string[]): Promise<void> {
  const [command = '--help', ...rest] = args
  switch (command) {
    case 'serve':
      return serve(rest)
    case 'dev':
      return dev(rest)
    case 'assets':
      return assets(rest)
    // What the kube-apiserver of `keelson assets` runs.
    case 'kube-apiserver':
      return kubeApiServer(rest)
    case 'status':
      return status(rest)
    case 'stop':
      return stop(rest)
    case 'auth':
      return auth(rest)
    case 'store':
      return store(rest)
    case '--help':
    case '-h':
    case 'help':
      process.stdout.write(usage)
      return
    case '--version':
      process.stdout.write(`${version()}\n`)
      return
    default:
      fail(USAGE_FAULT, [`there is no command ${JSON.stringify(command)}: keelson --help lists them`])
  }
}

const asksForHelp = (args: readonly string[]): boolean => args.includes('--help') || args.includes('-h')

async function serve(args: readonly string[]): Promise<void> {
  const { checkArgs } = await import('./config/config.ts')
  if (asksForHelp(args)) return showServeHelp()
  if (args.includes(testingFlag)) return serveTesting(args.filter((argument) => argument !== testingFlag))
  const checked = checkArgs(args)
  if (checked.kind === 'faults') return fail(USAGE_FAULT, checked.faults)
  const { config, warnings } = checked
  const sink = createSink(config.logging)
  const signals = new Signals(sink.log)
  for (const warning of warnings) sink.log('warn', warning)
  try {
    const { realSurroundings, startServer } = await import('./server.ts')
    const server = await startServer(config, realSurroundings(sink.log))
    sink.log('info', 'serving', { url: server.url, version: version() })
    process.on('SIGHUP', () => void server.reloadCertificate())
    signals.stopWith(() => server.stop())
    // Not at once: loading pino would delay the first requests.
    setTimeout(() => void sink.usePino(process.stderr.fd), PINO_AFTER_MS).unref()
  } catch (error) {
    fail(FAILURE, [messageOf(error)])
  }
}

const testingFlag = '--testing'

/**
 * A cluster in memory for tests in other languages (docs/testing.md): prints where it is, and ends with its parent, which holds the other
 * end of its standard input.
 */
async function serveTesting(flags: readonly string[]): Promise<void> {
  const { log } = createSink({ format: 'auto', isVerbose: false })
  const signals = new Signals(log)
  try {
    const { startCluster } = await import('./testing/index.ts')
    const cluster = await startCluster({ flags, log, servesControl: true })
    process.stdout.write(`${JSON.stringify({ url: cluster.url, kubeconfig: cluster.kubeconfigFile() })}\n`)
    signals.stopWith(() => cluster.stop())
    cluster.onStopped(() => process.exit(0))
    if (fstatSync(process.stdin.fd).isFIFO()) process.stdin.on('end', () => void cluster.stop()).resume()
    // A cluster alone does not keep a process alive.
    else setInterval(() => undefined, KEPT_ALIVE_MS)
  } catch (error) {
    fail(FAILURE, [messageOf(error)])
  }
}

async function showServeHelp(): Promise<void> {
  process.stdout.write(await serveHelp())
}

async function serveHelp(): Promise<string> {
  const { helpText } = await import('./config/flags.ts')
  const { gatesActedOn } = await import('./config/feature-gates.ts')
  return helpText(gatesActedOn)
}

async function kubeApiServer(args: readonly string[]): Promise<void> {
  const { replaceStandIn } = await import('./assets/stand-in.ts')
  const { exitWithParent } = await import('./assets/parent.ts')
  // As a signal would.
  exitWithParent(() => process.kill(process.pid, 'SIGTERM'))
  return serve(await replaceStandIn(args))
}

async function assets(args: readonly string[]): Promise<void> {
  const { assetsHelp, writeAssets } = await import('./assets/assets.ts')
  if (asksForHelp(args)) {
    process.stdout.write(assetsHelp)
    return
  }
  const [, given] = /^--dir=(.+)$/.exec(args[0] ?? '') ?? (args[0] === '--dir' ? [undefined, args[1]] : [])
  if (args.length > 0 && given === undefined) {
    return fail(USAGE_FAULT, [`keelson assets takes --dir=FOLDER and nothing else, not ${args.join(' ')}`])
  }
  const program = fileURLToPath(new URL('../bin/keelson', import.meta.url))
  const name = `assets-${version()}-${crc32(`${process.execPath} ${program}`).toString(16)}`
  const own = (): string => (folder === undefined ? mkdtempSync(join(tmpdir(), 'keelson-assets-')) : join(folder, name))
  const target = given === undefined ? own() : resolve(given)
  try {
    writeAssets({
      folder: target,
      node: process.execPath,
      program,
      standIn: fileURLToPath(new URL(`./${standInFile}`, import.meta.url)),
      version: version(),
      serveHelp: await serveHelp(),
      path: process.env['PATH'] ?? '',
    })
    process.stdout.write(`${target}\n`)
  } catch (error) {
    fail(FAILURE, [messageOf(error)])
  }
}

async function dev(args: readonly string[]): Promise<void> {
  const { devHelp, UsageError } = await import('./dev/dev-flags.ts')
  const { startDev } = await import('./dev/dev.ts')
  if (asksForHelp(args)) {
    process.stdout.write(devHelp)
    return
  }
  const { log } = createSink({ format: 'auto', isVerbose: false })
  const signals = new Signals(log)
  const line = new ProgressLine()
  try {
    line.show('starting …')
    const running = await startDev(args, {
      log,
      path: process.env['PATH'] ?? '',
      ownEtcd: fileURLToPath(new URL('../.cache/tools/etcd', import.meta.url)),
      nowMs: systemClock.wallMs(),
      temporary: tmpdir(),
      index: runningIndex(),
      defaultKubeconfig: defaultKubeconfig(),
      print: (text) => process.stdout.write(`${text}\n`),
      progress: (text) => line.tell(`${text} after ${Math.round(performance.now())} ms`),
    })
    signals.stopWith(running.stop)
    await running.failed
    if (!signals.isStopping) fail(FAILURE, ['etcd has ended by itself; etcd.log in the data folder may say why'])
  } catch (error) {
    line.clear()
    if (error instanceof UsageError) fail(USAGE_FAULT, error.faults)
    else fail(FAILURE, [messageOf(error)])
  }
}

/** What is going on, on a terminal: one line that is written over. */
class ProgressLine {
  readonly #isTerminal = process.stderr.isTTY
  #isShown = false

  show(text: string): void {
    if (!this.#isTerminal) return
    this.#isShown = true
    process.stderr.write(`keelson: ${text}`)
  }

  clear(): void {
    // To the beginning of the line, and nothing behind it.
    if (this.#isShown) process.stderr.write('\r\u001b[K')
    this.#isShown = false
  }

  /** A line that stays. */
  tell(text: string): void {
    this.clear()
    process.stderr.write(`keelson: ${text}\n`)
  }
}

async function status(args: readonly string[]): Promise<void> {
  const { statusHelp, describeRunning } = await import('./dev/status.ts')
  const { listRunning } = await import('./dev/running.ts')
  if (asksForHelp(args)) {
    process.stdout.write(statusHelp)
    return
  }
  const [output, ...more] = args
  const isJson = output === '--output=json' || output === '-ojson'
  if (more.length > 0 || (output !== undefined && !isJson)) {
    return fail(USAGE_FAULT, [`keelson status takes --output=json and nothing else, not ${args.join(' ')}`])
  }
  const running = listRunning(runningIndex())
  process.stdout.write(isJson ? `${JSON.stringify(running)}\n` : describeRunning(running, systemClock.wallMs()))
}

async function stop(args: readonly string[]): Promise<void> {
  const { stopHelp, stopRunning } = await import('./dev/stop.ts')
  const { UsageError } = await import('./dev/dev-flags.ts')
  if (asksForHelp(args)) {
    process.stdout.write(stopHelp)
    return
  }
  try {
    for (const line of await stopRunning(args, runningIndex())) process.stdout.write(`${line}\n`)
  } catch (error) {
    if (error instanceof UsageError) fail(USAGE_FAULT, error.faults)
    else fail(FAILURE, [messageOf(error)])
  }
}

/** Where each `keelson dev` of this user notes that it runs. */
const runningIndex = (): string | undefined => (folder === undefined ? undefined : join(folder, 'running'))

function defaultKubeconfig(): string {
  const [named = ''] = (process.env['KUBECONFIG'] ?? '').split(delimiter)
  return named || join(homedir(), '.kube', 'config')
}

async function auth(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args
  if (command !== 'why') return fail(USAGE_FAULT, ['there is one command: keelson auth why --help says what it does'])
  const { authWhy, whyHelp, WhyUsageError } = await import('./cli/auth-why.ts')
  if (asksForHelp(rest)) {
    process.stdout.write(whyHelp)
    return
  }
  try {
    process.stdout.write(await authWhy(rest, { defaultKubeconfig: defaultKubeconfig() }))
  } catch (error) {
    fail(error instanceof WhyUsageError ? USAGE_FAULT : FAILURE, [messageOf(error)])
  }
}

async function store(args: readonly string[]): Promise<void> {
  const { moveStore, storeHelp, StoreUsageError } = await import('./cli/store.ts')
  if (asksForHelp(args)) {
    process.stdout.write(storeHelp)
    return
  }
  const { progressLine } = await import('./cli/progress-line.ts')
  const progress = progressLine(process.stderr)
  try {
    const text = await moveStore(args, { nowMs: systemClock.wallMs(), showProgress: progress.show })
    progress.end()
    process.stdout.write(text)
  } catch (error) {
    progress.end()
    fail(error instanceof StoreUsageError ? USAGE_FAULT : FAILURE, [messageOf(error)])
  }
}

function createSink({ format, isVerbose }: { format: 'text' | 'json' | 'auto'; isVerbose: boolean }): LogSink {
  const isTerminal = process.stderr.isTTY
  return new LogSink({
    format: format === 'auto' ? (isTerminal ? 'text' : 'json') : format,
    isVerbose,
    clock: systemClock,
    write: (line) => process.stderr.write(line),
    hasColours: isTerminal && process.env['NO_COLOR'] === undefined,
  })
}

/** The first signal stops the server gracefully, a second one exits at once. A signal during the start is not lost. */
class Signals {
  isStopping = false
  readonly #log: Log
  #stop: (() => Promise<void>) | undefined

  constructor(log: Log) {
    this.#log = log
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.#on(signal))
  }

  stopWith(stop: () => Promise<void>): void {
    this.#stop = stop
    if (this.isStopping) this.#run(stop)
  }

  #on(signal: NodeJS.Signals): void {
    if (this.isStopping) process.exit(FAILURE)
    this.isStopping = true
    this.#log('info', 'stopping', { signal })
    if (this.#stop !== undefined) this.#run(this.#stop)
  }

  #run(stop: () => Promise<void>): void {
    stop().then(
      () => process.exit(0),
      (error: unknown) => fail(FAILURE, [`not everything stopped in order: ${messageOf(error)}`]),
    )
  }
}

function fail(code: number, reasons: readonly string[]): void {
  for (const reason of reasons) process.stderr.write(`keelson: ${reason}\n`)
  process.exit(code)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const found = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : ''
  return typeof found === 'string' ? found : ''
}

// Not awaited here: the package's program is a CommonJS module.
void main(process.argv.slice(2))
