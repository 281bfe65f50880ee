/** The log for the operator. An entry is one line, without secrets and object bodies. */
/** Logs an entry. `module` is the part of the server that logs it, for --vmodule. */
export type Log = (
  level: Level,
  message: string,
  fields?: Record<string, unknown>,
  module?: string,
) => void

export type Level = 'debug' | 'info' | 'warn' | 'error'

export const silent: Log = () => undefined

/** Returns the log of a part of the server. */
export const named =
  (log: Log, module: string): Log =>
  (level, message, fields) =>
    log(level, message, fields, module)
