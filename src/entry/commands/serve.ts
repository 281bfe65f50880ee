import { releasesFor } from '../../api/releases.ts'
import { checkArgs } from '../../config/config.ts'
import { messageOf } from '../../lib/errors.ts'
import { Verbosity } from '../../lib/telemetry/verbosity.ts'
import { realEnvironment } from '../../server/environment.ts'
import { startServer } from '../../server/server.ts'
import { asksForVersion, type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'
import { ServiceManager } from './service-manager.ts'
import { versionLine } from './version.ts'

const testingFlag = /^--testing(?:=true)?$/

export async function serve(args: readonly string[], parts: CommandContext): Promise<void> {
  if (asksForVersion(args)) return parts.print(versionLine(parts.version))
  if (args.some((argument) => testingFlag.test(argument))) {
    const { serveTesting } = await import('./serve-testing.ts')
    return serveTesting(
      args.filter((argument) => !testingFlag.test(argument)),
      parts,
    )
  }
  const checked = checkArgs(args, { releases: releasesFor(parts.env) })
  if (checked.kind === 'faults')
    return parts.fail(USAGE_FAULT, [...checked.faults, ...checked.hints])
  const { config, warnings } = checked
  const { format, verbosity: level, modules } = config.telemetry.logging
  const verbosity = new Verbosity(level, modules)
  const sink = parts.createSink({ format, verbosity })
  const signals = parts.onSignals(sink.log)
  for (const warning of warnings) sink.log('warn', warning)
  try {
    const hangup = { reload: (): void => undefined }
    // Register the handler of SIGHUP before the server exists. Without a handler, SIGHUP would
    // terminate the process.
    parts.onHangup(() => hangup.reload())
    const given = { signal: signals.signal }
    const server = await startServer(config, { ...realEnvironment(sink.log), verbosity }, given)
    sink.log('info', 'serving', { url: server.url, version: parts.version })
    const manager = new ServiceManager(parts.env, sink.log)
    void server.bootstrapped.then(() => manager.ready())
    hangup.reload = () =>
      void manager.reloading(async () => {
        await server.reloadCertificate()
        sink.log('info', 'checked all files again', { signal: 'SIGHUP' })
      })
    signals.stopWith(() => {
      manager.stopping()
      return server.stop()
    })
    void server.failed.then((error) => {
      if (!signals.isStopping) parts.fail(FAILURE, [messageOf(error)])
    })
  } catch (error) {
    if (signals.isStopping && error === signals.signal.reason) parts.exit(0)
    else parts.fail(FAILURE, [messageOf(error)])
  }
}
