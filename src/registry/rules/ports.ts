/** Rules for port numbers and names. */
import type { Rule } from './rule.ts'
import { between, named, oneOf } from './scalars.ts'

const PORT_MAX = 65_535
const PORT_NAME_CHARACTERS_MAX = 15

export const isPort = (value: number): boolean => value >= 1 && value <= PORT_MAX

export const checkPortNumber = (value: number): string[] =>
  isPort(value) ? [] : [`must be between 1 and ${PORT_MAX}, inclusive`]

/** Validates a service name (RFC 6335, section 5.1). */
export function checkPortName(name: string): string[] {
  const faults: string[] = []
  if (name.length > PORT_NAME_CHARACTERS_MAX)
    faults.push(`must be no more than ${PORT_NAME_CHARACTERS_MAX} characters`)
  if (!/^[-a-z0-9]+$/.test(name))
    faults.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(name)) faults.push('must contain at least one letter (a-z)')
  if (name.includes('--')) faults.push('must not contain consecutive hyphens')
  if (/^-|-$/.test(name)) faults.push('must not begin or end with a hyphen')
  return faults
}

/** Protocols in the order in which messages list them. */
export const protocols = ['SCTP', 'TCP', 'UDP'] as const

export const portNumber: Rule = between(1, PORT_MAX)
export const portName: Rule = named(checkPortName)
export const protocol: Rule = oneOf(...protocols)

/** Rule for a port that is given as a number or as the name of a container port. */
export const portNumberOrName: Rule = (value, path, check) => {
  if (typeof value === 'string') return portName(value, path, check)
  portNumber(value, path, check)
}
