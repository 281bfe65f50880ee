/**
 * A log entry for the operator: one line with fields. Secrets and object bodies are never logged.
 */
/** `module`: which part of the server says it, for --vmodule. */
export type Log = (
  level: Level,
  message: string,
  fields?: Record<string, unknown>,
  module?: string,
) => void

export type Level = 'debug' | 'info' | 'warn' | 'error'

export const silent: Log = () => undefined

/** The log of a part of the server. */
export const named =
  (log: Log, module: string): Log =>
  (level, message, fields) =>
    log(level, message, fields, module)
