/** What differs between two structs, for who is told that they may not. */
import { type Fields, type Json } from '../../api/object.ts'
import { isSame } from '../../schema/equal.ts'

/** Lines with the fields that were and those that would be, each as JSON. */
export function changesOf(before: Fields, now: Fields): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted()
  return names
    .filter((name) => !isSame(before[name], now[name]))
    .flatMap((name) => [...line('-', name, before[name]), ...line('+', name, now[name])])
    .join('\n')
}

const line = (sign: string, name: string, value: Json | undefined): string[] =>
  value === undefined ? [] : [`${sign} ${name}: ${JSON.stringify(value, plainNumbers)}`]

const plainNumbers = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}` : value)
