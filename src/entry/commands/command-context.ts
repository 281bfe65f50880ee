/**
 * What every command is given of the process, which only main.ts touches, and the words they share.
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
  /** To a user at a terminal or a log; ends with a newline. */
  readonly report: (line: string) => void
  readonly startProgress: () => ProgressLine
  readonly exit: (code: number) => void
  /** Ends the process, with the reasons told. */
  readonly fail: (code: number, reasons: readonly string[]) => void
  readonly createSink: (format: LogFormat) => LogSink
  /** From now on signals end what is given to it. */
  readonly onSignals: (log: Log) => Stopping
  readonly onHangup: (act: () => void) => void
  /** Where what can be made again is kept; undefined: nowhere. */
  readonly cache: string | undefined
  /** A file of the package, by its path from the folder of the program. */
  readonly fileOf: (path: string) => string
  /** A program and its first arguments: what starts this one again. */
  readonly ownCommand: readonly string[]
  /** The same of what stands in for etcd. */
  readonly standInCommand: readonly string[]
  readonly version: string
  /** The thread of a store of its own, if it runs already. */
  readonly storeThread: Worker | undefined
}

export type Stopping = {
  readonly isStopping: boolean
  /** Aborted by the first signal: what has not started yet is given up. */
  readonly signal: AbortSignal
  stopWith(stop: () => Promise<void>): void
  /** The end of its terminal stops it, too. */
  stopOnHangup(): void
}

export type Command = (args: readonly string[], parts: CommandContext) => Promise<void>

export const asksForHelp = (args: readonly string[]): boolean =>
  args.some((argument) => /^(?:-h|--help(?:=(?:1|t|T|true|True|TRUE))?)$/.test(argument))

/** As with kube-apiserver: `--version` alone, or with any value but false. */
export const asksForVersion = (args: readonly string[]): boolean =>
  args.some((argument) => /^--version(?:=(?!(?:0|f|F|false|False|FALSE)$).*)?$/.test(argument))
