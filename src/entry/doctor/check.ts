/** The result of a check of `keelson doctor`, and its output. */

export type Level = 'ok' | 'warning' | 'problem'

export type Check = {
  readonly name: string
  readonly level: Level
  /** The value that the check measured. */
  readonly value: string
  /** Advice for the user. Undefined only if the level is ok. */
  readonly action?: string
}

export const ok = (name: string, value: string): Check => ({ name, level: 'ok', value })

/** Prints one line for each check, with aligned columns, and a summary. */
export function printChecks(checks: readonly Check[]): string {
  const width = Math.max(0, ...checks.map(({ name }) => name.length))
  const lines = checks.map(({ name, level, value, action }) => {
    const advice = action === undefined ? '' : `: ${action}`
    return `${level.padEnd('problem'.length)}  ${name.padEnd(width)}  ${value}${advice}\n`
  })
  return `${lines.join('')}${summarize(checks)}\n`
}

export const countOf = (checks: readonly Check[], level: Level): number =>
  checks.filter((check) => check.level === level).length

function summarize(checks: readonly Check[]): string {
  const count = (level: 'problem' | 'warning'): string => {
    const number = countOf(checks, level)
    return `${number === 0 ? 'no' : number} ${level}${number === 1 ? '' : 's'}`
  }
  return `${count('problem')}, ${count('warning')}`
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function printBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** power
  return `${amount >= 10 || power === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`
}
