/** Tables, as `kubectl get` requests them: the columns of a kind and their cells. */
import type { Fields, KubeObject } from './object.ts'

export type Column = {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** OpenAPI format of the values. `name` marks the column that contains the name of the object. */
  readonly format: string
  readonly description: string
  /**
   * Priority of the column. Columns with priority 0 are always shown, and other columns only in
   * wide output.
   */
  readonly priority: number
}

export type Cell = string | number | boolean | null | Age | AgedText

/** A cell that shows an age: the time since `sinceMs`, which is in milliseconds since 1970. */
export type Age = { readonly sinceMs: number }

/** A string that contains ages, such as `3 (5m ago)`. */
export type AgedText = { readonly parts: readonly (string | Age)[] }

export type TableKind = {
  readonly columns: readonly Column[]
  readonly cells: (object: KubeObject) => readonly Cell[]
  /** Returns the conditions of a row, such as `Completed` for a pod that has terminated. */
  readonly conditions?: (object: KubeObject) => readonly Fields[]
  /** Sort order of the rows in a list, if they are not sorted by name. */
  readonly compare?: (one: KubeObject, other: KubeObject) => number
  /**
   * Whether this is the default table of kinds that define no columns. If such a table has no rows,
   * the field `rows` is null instead of an empty list.
   */
  readonly isDefault?: boolean
}

/** Returns the age of an object since one of its timestamps. */
export const ageOf = (timestamp: unknown): Age | '<unknown>' =>
  typeof timestamp === 'string' && timestamp !== ''
    ? { sinceMs: Date.parse(timestamp) }
    : '<unknown>'

const SECOND_MS = 1000
const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/**
 * Formats a duration with at most two units, like HumanDuration in Kubernetes: `95s`, `3m20s`,
 * `26h`, `2y30d`.
 */
export function durationText(ms: number): string {
  const seconds = Math.trunc(ms / SECOND_MS)
  if (seconds < -1) return '<invalid>'
  if (seconds <= 0) return '0s'
  const both = (unit: number, small: number, names: readonly [string, string]): string => {
    const rest = Math.floor((seconds % unit) / small)
    return `${Math.floor(seconds / unit)}${names[0]}${rest === 0 ? '' : `${rest}${names[1]}`}`
  }
  if (seconds < 2 * MINUTE) return `${seconds}s`
  if (seconds < 10 * MINUTE) return both(MINUTE, 1, ['m', 's'])
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`
  if (seconds < 8 * HOUR) return both(HOUR, MINUTE, ['h', 'm'])
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`
  if (seconds < 8 * DAY) return both(DAY, HOUR, ['d', 'h'])
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`
  if (seconds < 8 * YEAR) return both(YEAR, DAY, ['y', 'd'])
  return `${Math.floor(seconds / YEAR)}y`
}
