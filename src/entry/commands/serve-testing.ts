/**
 * `keelson serve --testing`: runs an in-memory cluster for tests in other languages
 * (docs/testing.md). Prints the address of the cluster, and stops when the parent process ends,
 * which closes the pipe of the standard input.
 */
import { fstatSync } from 'node:fs'
import { messageOf } from '../../lib/errors.ts'
import { startCluster } from '../testing/index.ts'
import { type CommandContext, FAILURE } from './command-context.ts'
import { Verbosity } from '../../lib/telemetry/verbosity.ts'

/**
 * Interval of the timer that keeps the process alive. The timer does nothing, so any interval is
 * suitable.
 */
const KEPT_ALIVE_MS = 3_600_000

export async function serveTesting(flags: readonly string[], parts: CommandContext): Promise<void> {
  const { log } = parts.createSink({ format: 'auto', verbosity: new Verbosity(0) })
  const signals = parts.onSignals(log)
  signals.stopOnHangup()
  try {
    const cluster = await startCluster({ flags, log, servesControl: true })
    parts.print(`${JSON.stringify({ url: cluster.url, kubeconfig: cluster.kubeconfigFile() })}\n`)
    signals.stopWith(() => cluster.stop())
    cluster.onStopped(() => parts.exit(0))
    const stop = (): void => void cluster.stop()
    if (isPipe(process.stdin.fd)) process.stdin.on('end', stop).on('error', stop).resume()
    // Without a pipe, a timer keeps the process alive, because the cluster does not.
    else setInterval(() => undefined, KEPT_ALIVE_MS)
  } catch (error) {
    parts.fail(FAILURE, [messageOf(error)])
  }
}

/**
 * Whether a file descriptor is a pipe. Node starts child processes with sockets where other
 * programs use pipes.
 */
function isPipe(descriptor: number): boolean {
  const found = fstatSync(descriptor)
  return found.isFIFO() || found.isSocket()
}
