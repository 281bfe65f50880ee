/**
 * The parts of the process that commands receive, since only main.ts accesses the process itself,
 * and the exit codes that they share.
 */
import type { Worker } from 'node:worker_threads'
import type { Log } from '../../lib/telemetry/log.ts'
import type { LogSink } from '../../lib/telemetry/log-sink.ts'
import type { Verbosity } from '../../lib/telemetry/verbosity.ts'
import type { ProgressLine } from './progress-line.ts'

export const USAGE_FAULT = 2
export const FAILURE = 1

export type LogFormat = { readonly format: 'text' | 'json' | 'auto'; readonly verbosity: Verbosity }

export type CommandContext = {
  readonly env: NodeJS.ProcessEnv
  readonly print: (text: string) => void
  /** Writes a line, which ends with a newline, to a user at a terminal or to a log. */
  readonly report: (line: string) => void
  readonly startProgress: () => ProgressLine
  readonly exit: (code: number) => void
  /** Reports the reasons and ends the process. */
  readonly fail: (code: number, reasons: readonly string[]) => void
  readonly createSink: (format: LogFormat) => LogSink
  /** Handles signals from now on. A signal stops what is passed to `stopWith` of the result. */
  readonly onSignals: (log: Log) => Stopping
  readonly onHangup: (act: () => void) => void
  /** The folder for files that can be created again; undefined if there is none. */
  readonly cache: string | undefined
  /** Returns a file of the package by its path from the folder of the program. */
  readonly fileOf: (path: string) => string
  /** The command that starts this program again: a program and its first arguments. */
  readonly ownCommand: readonly string[]
  /** The command that starts the stand-in for etcd: a program and its first arguments. */
  readonly standInCommand: readonly string[]
  readonly version: string
  /** The thread of the server's own store, if it already runs. */
  readonly storeThread: Worker | undefined
}

export type Stopping = {
  readonly isStopping: boolean
  /** Aborted by the first signal, so that anything that has not started yet is canceled. */
  readonly signal: AbortSignal
  stopWith(stop: () => Promise<void>): void
  /** Also stops when the terminal is closed. */
  stopOnHangup(): void
}

export type Command = (args: readonly string[], parts: CommandContext) => Promise<void>

export const asksForHelp = (args: readonly string[]): boolean =>
  args.some((argument) => /^(?:-h|--help(?:=(?:1|t|T|true|True|TRUE))?)$/.test(argument))

/**
 * Whether the arguments ask for the version. As with kube-apiserver, `--version` counts alone, or
 * with any value but false.
 */
export const asksForVersion = (args: readonly string[]): boolean =>
  args.some((argument) => /^--version(?:=(?!(?:0|f|F|false|False|FALSE)$).*)?$/.test(argument))
