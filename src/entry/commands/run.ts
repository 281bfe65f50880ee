/** `keelson run`: runs a command with a server of its own. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { constants as systemConstants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { Verbosity } from '../../lib/telemetry/verbosity.ts'
import { type Cluster, startCluster } from '../testing/index.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'
import { readRunFlags, type RunFlags } from './run-flags.ts'

/** Exit codes of shells for a command that does not exist, and for one that cannot be started. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126
/**
 * If a command was ended by a signal, a shell exits with this number plus the number of the signal.
 */
const SIGNAL_BASE = 128

const passedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function run(args: readonly string[], parts: CommandContext): Promise<void> {
  const flags = readRunFlags(args)
  if ('faults' in flags) return parts.fail(USAGE_FAULT, flags.faults)
  const signals = new PassedSignals()
  try {
    await using cluster = await startServer(flags, parts)
    if (flags.apply !== undefined)
      await Promise.race([cluster.apply(flags.apply), signals.beforeCommand])
    const result = signals.received ?? (await runCommand(flags, { cluster, signals, parts }))
    await cluster.stop()
    if (typeof result === 'object') parts.fail(result.code, [result.reason])
    else
      parts.exit(
        typeof result === 'number' ? result : SIGNAL_BASE + systemConstants.signals[result],
      )
  } catch (error) {
    parts.fail(FAILURE, [messageOf(error)])
  }
}

function startServer({ controllers }: RunFlags, parts: CommandContext): Promise<Cluster> {
  const sink = parts.createSink({ format: 'auto', verbosity: new Verbosity(0) })
  // Log only warnings and errors. Other log entries would be mixed with the output of the command.
  const log: Log = (level, ...entry) => {
    if (level === 'warn' || level === 'error') sink.log(level, ...entry)
  }
  return startCluster({ log, ...(controllers !== undefined && { controllers }) })
}

type RunContext = {
  readonly cluster: Cluster
  readonly signals: PassedSignals
  readonly parts: CommandContext
}

type StartFault = { readonly code: number; readonly reason: string }

/** Returns the exit code of the command, the signal that ended it, or why it did not start. */
async function runCommand(
  { program, args }: RunFlags,
  { cluster, signals, parts }: RunContext,
): Promise<number | NodeJS.Signals | StartFault> {
  const kubeconfig = cluster.kubeconfigFile()
  const env = { ...parts.env, KUBECONFIG: kubeconfig, USE_EXISTING_CLUSTER: 'true' }
  if (process.platform === 'win32')
    return endOf(spawn(program, args, { stdio: 'inherit', env }), signals)
  const fault = startFault(program, parts.env['PATH'])
  if (fault !== undefined) return fault
  const guard = startGuard(dirname(kubeconfig))
  // This process can be killed at any time, so the command must not run before the guard knows its
  // process ID. A shell that becomes the command waits for a line first.
  const command = [...withOtherNames(env), program, ...args]
  const waiting = ['-c', 'read -r _ <&3 && exec "$@" 3<&-', 'sh', ...command]
  const child = spawn('/bin/sh', waiting, { stdio: ['inherit', 'inherit', 'inherit', 'pipe'], env })
  try {
    guard.stdin.write(`${child.pid ?? ''}\n`)
    const start = child.stdio[3]
    if (start instanceof Writable) {
      // The command can end before it reads the line.
      start.on('error', () => undefined)
      start.end('\n')
    }
    return await endOf(child, signals)
  } finally {
    guard.kill('SIGKILL')
  }
}

/** Returns the exit code of the command, or the signal that ended it. */
async function endOf(
  child: ChildProcess,
  signals: PassedSignals,
): Promise<number | NodeJS.Signals> {
  signals.passTo(child)
  // The event has two values: the exit code and the signal. One of them is null.
  const [code, signal]: readonly unknown[] = await once(child, 'exit')
  return typeof code === 'number' ? code : signalOf(signal)
}

const signalOf = (name: unknown): NodeJS.Signals => (isSignal(name) ? name : 'SIGKILL')

const isSignal = (name: unknown): name is NodeJS.Signals =>
  typeof name === 'string' && Object.hasOwn(systemConstants.signals, name)

/**
 * Returns a prefix of a command that sets the variables which a shell does not pass on, such as
 * `INPUT_MY-NAME`. Names that are not valid in a shell are lost in some shells.
 */
function withOtherNames(env: NodeJS.ProcessEnv): readonly string[] {
  const others = Object.entries(env).filter(([name]) => !/^[A-Za-z_]\w*$/.test(name))
  return others.length === 0
    ? []
    : ['env', '--', ...others.map(([name, value = '']) => `${name}=${value}`)]
}

/** Returns why the program cannot be started. */
function startFault(program: string, path: string | undefined): StartFault | undefined {
  const files = program.includes('/')
    ? [program]
    : (path ?? '').split(delimiter).map((folder) => join(folder, program))
  if (files.some(isExecutable)) return undefined
  return files.some((file) => existsSync(file))
    ? { code: NOT_EXECUTABLE, reason: `${program} is not an executable file: run chmod +x` }
    : { code: NOT_FOUND, reason: `command not found: ${program}` }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/**
 * Starts a guard: another process that cleans up if this process is killed. The guard reads the
 * process ID of the command from its standard input. This input ends when this process ends. The
 * guard then ends the command and removes the folder.
 */
function startGuard(folder: string): ChildProcessByStdio<Writable, null, null> {
  const script =
    'read -r pid; cat >/dev/null; [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null; rm -rf "$1"'
  const guard = spawn('/bin/sh', ['-c', script, 'keelson-run-guard', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl-C at a terminal must not end the guard.
    detached: true,
  })
  // Ignore errors of the guard. Without it, only the cleanup after SIGKILL is missing.
  guard.on('error', () => undefined)
  guard.stdin.on('error', () => undefined)
  return guard
}

/**
 * Passes signals of this process on to the command. A signal that arrives before the command has
 * started is stored in `received`.
 */
class PassedSignals {
  received: NodeJS.Signals | undefined
  #child: ChildProcess | undefined
  readonly #early = Promise.withResolvers<void>()

  constructor() {
    for (const signal of passedSignals) process.on(signal, () => this.#on(signal))
  }

  /** Resolves when a signal arrives before the command starts. */
  get beforeCommand(): Promise<void> {
    return this.#early.promise
  }

  passTo(child: ChildProcess): void {
    this.#child = child
  }

  #on(signal: NodeJS.Signals): void {
    this.received ??= signal
    if (this.#child === undefined) return this.#early.resolve()
    // When a user presses Ctrl-C, the terminal also sends the signal to the command. The command
    // must not get it twice.
    if (signal === 'SIGINT' && process.stdin.isTTY) return
    this.#child.kill(signal)
  }
}
