/**
 * The log for operators. Each entry is one line, and contains neither secrets nor the bodies of
 * objects.
 */
/**
 * Logs an entry. `module` names the part of the program that logs the entry. It is matched against
 * the patterns of --vmodule.
 */
export type Log = (
  level: Level,
  message: string,
  fields?: Record<string, unknown>,
  module?: string,
) => void

export type Level = 'debug' | 'info' | 'warn' | 'error'

export const silent: Log = () => undefined

/** Returns a log that passes the name of a module with each entry. */
export const named =
  (log: Log, module: string): Log =>
  (level, message, fields) =>
    log(level, message, fields, module)
