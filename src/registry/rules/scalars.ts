/** Rules for single values: names, enumerations, numbers, addresses, paths. */
import { quote } from '../../api/quote.ts'
import { isIP } from 'node:net'
import { forbiddenField, invalidValue, notSupported, tooLong } from '../../api/field-fault.ts'
import { shownItems } from '../../api/go-value.ts'
import { numberOf, textOf } from '../../api/object.ts'
import type { Rule } from './rule.ts'

export const INT32_MAX = 2 ** 31 - 1

/** Returns the rule for a string that a function such as those in api/names.ts validates. */
export function named(checkName: (name: string) => string[]): Rule {
  return (value, path, { faults }) => {
    const name = textOf(value)
    for (const why of checkName(name)) faults.push(invalidValue(path, name, why))
  }
}

/**
 * Returns the rule for an enumeration. An absent value is treated as an empty string, unless the
 * rule is wrapped in `ifPresent` or `unlessEmpty`.
 */
export function oneOf(...supported: readonly string[]): Rule {
  return (value, path, { faults }) => {
    const text = textOf(value)
    if (!supported.includes(text)) faults.push(notSupported(path, text, supported))
  }
}

export function between(min: number, max: number): Rule {
  return (value, path, { faults }) => {
    const number = numberOf(value)
    if (number >= min && number <= max) return
    faults.push(invalidValue(path, number, `must be between ${min} and ${max}, inclusive`))
  }
}

export const nonNegative: Rule = (value, path, { faults }) => {
  const number = numberOf(value)
  if (number < 0) faults.push(invalidValue(path, number, 'must be greater than or equal to 0'))
}

export const positive: Rule = (value, path, { faults }) => {
  const number = numberOf(value)
  if (number <= 0) faults.push(invalidValue(path, number, 'must be greater than zero'))
}

/** Rule for a user ID or group ID. */
export const accountId: Rule = between(0, INT32_MAX)

const FILE_MODE_MAX = 0o777

export const fileMode: Rule = (value, path, { faults }) => {
  const mode = numberOf(value)
  if (mode >= 0 && mode <= FILE_MODE_MAX) return
  faults.push(
    invalidValue(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive'),
  )
}

/**
 * Rule for an IP address in any format that Kubernetes has ever accepted, including IPv4 with
 * leading zeros.
 */
export const ipAddress: Rule = (value, path, { faults }) => {
  const address = textOf(value)
  if (isIpAddress(address)) return
  faults.push(
    invalidValue(path, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'),
  )
}

const isIpAddress = (address: string): boolean =>
  isIP(/^[0-9.]+$/.test(address) ? address.replace(/(^|\.)0+(?=[0-9])/g, '$1') : address) !== 0 &&
  !address.includes('%')

export const absolutePath: Rule = (value, path, { faults }) => {
  const text = textOf(value)
  if (!text.startsWith('/')) faults.push(invalidValue(path, text, 'must be an absolute path'))
}

export const withoutBacksteps: Rule = (value, path, { faults }) => {
  const text = textOf(value)
  if (text.split('/').includes('..')) faults.push(invalidValue(path, text, "must not contain '..'"))
}

/** Rule for a path relative to a directory. It must not leave the directory. */
export const relativePath: Rule = (value, path, check) => {
  const text = textOf(value)
  if (text.startsWith('/')) check.faults.push(invalidValue(path, text, 'must be a relative path'))
  withoutBacksteps(value, path, check)
}

/**
 * Rule for a path in a volume. It must not begin with two dots, because the kubelet uses such names
 * itself.
 */
export const visiblePath: Rule = (value, path, check) => {
  const text = textOf(value)
  relativePath(value, path, check)
  if (text.startsWith('..') && !text.startsWith('../') && text !== '..') {
    check.faults.push(invalidValue(path, text, "must not start with '..'"))
  }
}

export function atMostBytes(bytesMax: number): Rule {
  return (value, path, { faults }) => {
    if (Buffer.byteLength(textOf(value)) > bytesMax) faults.push(tooLong(path, bytesMax))
  }
}

/** Returns the rule for a field that must be absent. */
export function forbidden(detail: string): Rule {
  return (value, path, { faults }) => {
    if (value !== undefined && value !== null) faults.push(forbiddenField(path, detail))
  }
}

/** Formats strings as Go formats a []string with %#v. */
export const goTexts = (texts: readonly string[]): string => `[]string{${shownItems(texts, quote)}}`
