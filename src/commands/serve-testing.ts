/**
 * `keelson serve --testing`: a cluster in memory for tests in other languages (docs/testing.md). Prints where it is, and ends with its parent, which holds the other
 * end of its standard input.
 */
import { fstatSync } from 'node:fs'
import { messageOf } from '../lib/message-of.ts'
import { startCluster } from '../testing/index.ts'
import { type CommandParts, FAILURE } from './parts.ts'
import { Verbosity } from '../lib/verbosity.ts'

/** Any time: nothing happens then. */
const KEPT_ALIVE_MS = 3_600_000

export async function serveTesting(flags: readonly string[], parts: CommandParts): Promise<void> {
  const { log } = parts.createSink({ format: 'auto', verbosity: new Verbosity(0) })
  const signals = parts.onSignals(log)
  try {
    const cluster = await startCluster({ flags, log, servesControl: true })
    parts.print(`${JSON.stringify({ url: cluster.url, kubeconfig: cluster.kubeconfigFile() })}\n`)
    signals.stopWith(() => cluster.stop())
    cluster.onStopped(() => parts.exit(0))
    if (fstatSync(process.stdin.fd).isFIFO()) process.stdin.on('end', () => void cluster.stop()).resume()
    // A cluster alone does not keep a process alive.
    else setInterval(() => undefined, KEPT_ALIVE_MS)
  } catch (error) {
    parts.fail(FAILURE, [messageOf(error)])
  }
}
