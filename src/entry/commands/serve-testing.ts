/**
 * `keelson serve --testing`: runs an in-memory cluster for tests in other languages
 * (docs/testing.md). Prints the address of the cluster, and stops when the parent process ends,
 * which closes the pipe of the standard input.
 */
import { fstatSync } from 'node:fs'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { type ClusterOptions, startCluster } from '../testing/index.ts'
import { type CommandContext, FAILURE } from './command-context.ts'
import { Verbosity } from '../../lib/telemetry/verbosity.ts'

/**
 * Interval of a timer that only keeps the process alive. Its function does nothing, so any interval
 * is suitable.
 */
const KEPT_ALIVE_MS = 3_600_000

export async function serveTesting(flags: readonly string[], parts: CommandContext): Promise<void> {
  const sink = parts.createSink({ format: 'auto', verbosity: new Verbosity(0) })
  // Log only warnings and errors. Otherwise the steps of the shutdown would be printed in each
  // test.
  const log: Log = (level, ...entry) => {
    if (level === 'warn' || level === 'error') sink.log(level, ...entry)
  }
  const signals = parts.onSignals(log)
  signals.stopOnHangup()
  try {
    const cluster = await startCluster({ ...optionsOf(flags), log, servesControl: true })
    const { url } = cluster
    const kubeconfig = cluster.kubeconfigFile()
    parts.print(`${JSON.stringify({ url, kubeconfig, version: parts.version })}\n`)
    signals.stopWith(() => cluster.stop())
    cluster.onStopped(() => parts.exit(0))
    const stop = (): void => void cluster.stop()
    if (isPipe(process.stdin.fd)) process.stdin.on('end', stop).on('error', stop).resume()
    // The cluster does not keep the process alive. Without a pipe as its standard input, a timer
    // keeps it alive.
    else setInterval(() => undefined, KEPT_ALIVE_MS)
  } catch (error) {
    parts.fail(FAILURE, [messageOf(error)])
  }
}

/** Returns the options of `startCluster` that the flags set. */
function optionsOf(args: readonly string[]): ClusterOptions {
  const [now, others] = takeFlag(args, 'testing-now')
  const [controllers, flags] = takeFlag(others, 'controllers')
  return {
    flags,
    ...(now === undefined ? {} : { now }),
    ...(controllers === undefined ? {} : { controllers: controllers.split(',').filter(Boolean) }),
  }
}

/**
 * Returns the value of a flag, or undefined if it is not set, and all other arguments. If the flag
 * is repeated, the last value is used.
 */
function takeFlag(args: readonly string[], name: string): [string | undefined, string[]] {
  const others: string[] = []
  let value: string | undefined
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] ?? ''
    if (argument === `--${name}`) value = args[++i] ?? ''
    else if (argument.startsWith(`--${name}=`)) value = argument.slice(name.length + '--='.length)
    else others.push(argument)
  }
  return [value, others]
}

/**
 * Whether a file descriptor is a pipe or a socket. Node starts child processes with sockets where
 * other programs use pipes.
 */
function isPipe(descriptor: number): boolean {
  const found = fstatSync(descriptor)
  return found.isFIFO() || found.isSocket()
}
