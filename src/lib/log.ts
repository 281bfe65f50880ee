/** A log entry for the operator: one line with fields. Secrets and object bodies are never logged. */
export type Log = (level: Level, message: string, fields?: Record<string, unknown>) => void

export type Level = 'debug' | 'info' | 'warn' | 'error'

export const silent: Log = () => undefined
