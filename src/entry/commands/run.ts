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
  if (process.platform === 'win32') return endOf(spawnAtOnce(program, args, env), signals)
  const fault = startFault(program, parts.env['PATH'])
  if (fault !== undefined) return fault
  const guard = startGuard(dirname(kubeconfig))
  const child = isPassedOn(env) ? spawnWaiting(program, args, env) : spawnAtOnce(program, args, env)
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

const spawnAtOnce = (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcess => spawn(program, args, { stdio: 'inherit', env })

/**
 * Starts a shell that waits for a line on file descriptor 3, and then becomes the command. This
 * process can be killed at any time, so the command must not run before the guard knows its process
 * ID.
 */
function spawnWaiting(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcess {
  const waiting = ['-c', 'read -r _ <&3 && exec "$@" 3<&-', 'sh', program, ...args]
  return spawn(SHELL, waiting, { stdio: ['inherit', 'inherit', 'inherit', 'pipe'], env })
}

const SHELL = '/bin/sh'

/**
 * Whether a shell can pass the environment on. Some shells drop variables whose names are not valid
 * in a shell, such as `INPUT_MY-NAME`. The program `env` could set them, but all users can read its
 * arguments. Minimal container images have no shell.
 */
const isPassedOn = (env: NodeJS.ProcessEnv): boolean =>
  isExecutable(SHELL) && Object.keys(env).every((name) => /^[A-Za-z_]\w*$/.test(name))

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
 * guard then ends the command and removes the folder. If the command did not wait for the guard,
 * its process ID can be missing. On Linux, the guard then finds it by the folder in KUBECONFIG.
 */
function startGuard(folder: string): ChildProcessByStdio<Writable, null, null> {
  const script = [
    'read -r pid; cat >/dev/null',
    'started() { grep -lsF "$1" /proc/[0-9]*/environ | tr -cd "0-9\\n"; }',
    'kill -TERM ${pid:-$(started "$1")} 2>/dev/null; rm -rf "$1"',
  ].join('; ')
  const guard = spawn(SHELL, ['-c', script, 'keelson-run-guard', folder], {
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
