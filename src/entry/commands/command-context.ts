/**
 * The interface between the commands and the process. Commands do not use the process directly;
 * only main.ts does. This file also defines the exit codes that several commands use.
 */
import type { Worker } from 'node:worker_threads'
import type { CommandHelp } from '../../lib/process/command-help.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { LogSink } from '../../lib/telemetry/log-sink.ts'
import type { Verbosity } from '../../lib/telemetry/verbosity.ts'
import type { Terminal } from '../dev/terminal-output.ts'
import type { ProgressLine } from './progress-line.ts'

export const USAGE_FAULT = 2
export const FAILURE = 1

export type LogFormat = { readonly format: 'text' | 'json' | 'auto'; readonly verbosity: Verbosity }

export type CommandContext = {
  readonly env: NodeJS.ProcessEnv
  readonly print: (text: string) => void
  /** Writes a line, which must end with a newline, to the user's terminal or to a log. */
  readonly report: (line: string) => void
  readonly startProgress: () => ProgressLine
  /**
   * Returns the user's terminal, or undefined if standard output or standard error is not a
   * terminal.
   */
  readonly terminal: () => Terminal | undefined
  readonly exit: (code: number) => void
  /** Reports the reasons for a failure, and ends the process with the exit code. */
  readonly fail: (code: number, reasons: readonly string[]) => void
  readonly createSink: (format: LogFormat) => LogSink
  /**
   * Handles signals from now on. The first signal calls the function that was passed to `stopWith`.
   * A second signal ends the process, after a call of `onForced`.
   */
  readonly onSignals: (log: Log, onForced?: () => void) => Stopping
  readonly onHangup: (act: () => void) => void
  /** The folder for files that can be recreated, or undefined if there is none. */
  readonly cache: string | undefined
  /**
   * Returns the absolute path of a file in the package. `path` is relative to the folder of the
   * program.
   */
  readonly fileOf: (path: string) => string
  /** The command line that starts this program again: a program and its first arguments. */
  readonly ownCommand: readonly string[]
  /** The command line that starts the substitute for etcd: a program and its first arguments. */
  readonly standInCommand: readonly string[]
  readonly version: string
  /** All commands, for the commands that print or describe them. */
  readonly commands: readonly CommandEntry[]
  /** The thread of the embedded store, if main.ts has already started it. */
  readonly storeThread: Worker | undefined
}

export type Stopping = {
  readonly isStopping: boolean
  /** Aborted by the first signal, so that the command skips the steps that have not started yet. */
  readonly signal: AbortSignal
  stopWith(stop: () => Promise<void>): void
  /** Makes the command also stop on SIGHUP, for example when the terminal is closed. */
  stopOnHangup(): void
}

/** A command, as described in the table in command-table.ts. */
export type CommandEntry = {
  /** The name of the command without `keelson`, such as `store export`. */
  readonly name: string
  /** One sentence about the command, for the list of commands. */
  readonly summary: string
  /** Whether the list of commands omits this command, because users do not run it themselves. */
  readonly isHidden?: boolean
  /** The name of another command whose flags this command also accepts. */
  readonly alsoTakesFlagsOf?: string
  readonly help: () => Promise<CommandHelp>
  readonly load: () => Promise<Command>
}

export type Command = (args: readonly string[], parts: CommandContext) => Promise<void>

/** Whether the arguments request the help text. `--` ends the flags of Keelson. */
export const asksForHelp = (args: readonly string[]): boolean =>
  flagsIn(args).some((argument) => /^(?:-h|--help(?:=(?:1|t|T|true|True|TRUE))?)$/.test(argument))

const flagsIn = (args: readonly string[]): readonly string[] =>
  args.includes('--') ? args.slice(0, args.indexOf('--')) : args

/**
 * Whether the arguments request the version. As in kube-apiserver, `--version` counts without a
 * value or with any value except false.
 */
export const asksForVersion = (args: readonly string[]): boolean =>
  args.some((argument) => /^--version(?:=(?!(?:0|f|F|false|False|FALSE)$).*)?$/.test(argument))
