/** Starts and stops the process: the only reader of arguments, and the only place that ends it. */
import { readFileSync } from 'node:fs'
import { checkArgs } from './config/config.ts'
import { helpText } from './config/flags.ts'
import { systemClock } from './lib/clock.ts'
import type { Log } from './lib/log.ts'
import { realSurroundings, startServer } from './server.ts'

const USAGE_FAULT = 2
const FAILURE = 1

const usage = `Usage: keelson <command> [flags]

Commands:
  serve     Serve the Kubernetes API on etcd. keelson serve --help lists its flags.

  --version Show the version.
  --help    Show this text.
`

/** One line of JSON for each event, on standard error. */
const log: Log = (level, message, fields = {}) => {
  if (level === 'debug') return
  const line = { time: new Date(systemClock.wallMs()).toISOString(), level, message, ...fields }
  process.stderr.write(`${JSON.stringify(line)}\n`)
}

async function main(args: readonly string[]): Promise<void> {
  const [command = '--help', ...rest] = args
  switch (command) {
    case 'serve':
      return serve(rest)
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

async function serve(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(helpText())
    return
  }
  const checked = checkArgs(args)
  if (checked.kind === 'faults') return fail(USAGE_FAULT, checked.faults)
  try {
    const server = await startServer(checked.config, realSurroundings(log))
    log('info', 'serving', { url: server.url, version: version() })
    stopOnSignal(() => server.stop())
  } catch (error) {
    fail(FAILURE, [error instanceof Error ? error.message : String(error)])
  }
}

/** The first signal ends the server in order, a second one at once. */
function stopOnSignal(stop: () => Promise<void>): void {
  let isStopping = false
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(FAILURE)
    isStopping = true
    log('info', 'stopping', { signal })
    stop().then(
      () => process.exit(0),
      (error: unknown) => fail(FAILURE, [`the server did not stop in order: ${String(error)}`]),
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

function fail(code: number, reasons: readonly string[]): void {
  for (const reason of reasons) process.stderr.write(`keelson: ${reason}\n`)
  process.exit(code)
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const found = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : ''
  return typeof found === 'string' ? found : ''
}

await main(process.argv.slice(2))
