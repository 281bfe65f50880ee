/** What a part says to its operator: one line with fields. Secrets and object bodies never go in. */
export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Record<string, unknown>,
) => void

export const silent: Log = () => undefined
