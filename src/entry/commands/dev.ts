import { tmpdir } from 'node:os'
import { releasesFor } from '../../api/releases.ts'
import { messageOf } from '../../lib/errors.ts'
import { UsageError } from '../dev/dev-flags.ts'
import { type DevOutput, plainOutput } from '../dev/dev-output.ts'
import { startDev } from '../dev/dev.ts'
import { REQUESTS } from '../dev/request-lines.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { collectWhenIdle } from '../../lib/process/collect-when-idle.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { defaultKubeconfig, runningIndex } from './own-files.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'
import type { ProgressLine } from './progress-line.ts'
import { DETAILS, Verbosity } from '../../lib/telemetry/verbosity.ts'

export async function dev(args: readonly string[], parts: CommandContext): Promise<void> {
  const verbosity = new Verbosity(0)
  const line = parts.startProgress()
  let sink = parts.createSink({ format: 'auto', verbosity })
  const output = await createOutput(parts, line)
  const log: Log = (level, ...entry) => {
    if (level === 'info' && output.replacesInfo && !verbosity.isOn(DETAILS)) return
    line.end()
    sink.log(level, ...entry)
  }
  const logSignal: Log = (...entry) => {
    output.stopping()
    log(...entry)
  }
  const signals = parts.onSignals(logSignal, () => output.forced())
  signals.stopOnHangup()
  try {
    line.show?.('keelson: starting …')
    const running = await startDev(args, {
      log,
      verbosity,
      configureLog: ({ format, verbosity: level, modules }) => {
        verbosity.level = level
        verbosity.setModules(modules)
        // With `-v`, the log is meant for people, so it is printed as text even if the output is a
        // file.
        const isForPeople = format === 'auto' && level === REQUESTS
        sink = parts.createSink({ format: isForPeople ? 'text' : format, verbosity })
      },
      releases: releasesFor(parts.env),
      path: parts.env['PATH'] ?? '',
      ownEtcd: parts.fileOf('../.cache/tools/etcd'),
      nowMs: systemClock.wallMs(),
      version: parts.version,
      storeThread: parts.storeThread,
      temporary: tmpdir(),
      index: runningIndex(parts),
      defaultKubeconfig: defaultKubeconfig(parts.env),
      output,
      stopping: signals.signal,
    })
    signals.stopWith(async () => {
      await running.stop()
      output.stopped()
    })
    collectWhenIdle()
    const why = await running.failed
    if (signals.isStopping) return
    // A component has failed, so stop the others. Otherwise etcd would continue to run, and the
    // temporary folder and the record of the running server would not be removed.
    await running.stop()
    parts.fail(FAILURE, [why])
  } catch (error) {
    line.end()
    if (error === signals.signal.reason) signals.stopWith(async () => output.stopped())
    else if (error instanceof UsageError) parts.fail(USAGE_FAULT, error.faults)
    else parts.fail(FAILURE, [messageOf(error)])
  }
}

async function createOutput(parts: CommandContext, line: ProgressLine): Promise<DevOutput> {
  const { print, version } = parts
  const terminal = parts.terminal()
  if (terminal === undefined) {
    const report = (text: string): void => {
      line.end()
      parts.report(text)
    }
    return plainOutput({ print, report })
  }
  const { TerminalOutput } = await import('../dev/terminal-output.ts')
  const show = (text: string): void => line.show?.(text)
  return new TerminalOutput({ terminal, version, print, show, clear: line.end })
}
