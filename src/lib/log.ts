/** What a part says to its operator: one line with fields. Secrets and object bodies never go in. */
export type Log = (level: Level, message: string, fields?: Record<string, unknown>) => void

export type Level = 'debug' | 'info' | 'warn' | 'error'

export const silent: Log = () => undefined
