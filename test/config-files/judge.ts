/** What Keelson makes of the flags and files of a case: the verdict, and all that it says. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessFlags, type AccessFlagName } from '../../src/config/access-flags.ts'
import { readAudit } from '../../src/config/audit.ts'
import { auditFlags, type AuditFlagName } from '../../src/config/audit-flags.ts'
import { readAuthentication } from '../../src/config/authentication.ts'
import { readAuthorization } from '../../src/config/authorization.ts'
import { defaultGates, type Gates } from '../../src/api/gates.ts'
import { aggregate } from '../../src/config/files/faults.ts'
import { Values } from '../../src/config/values.ts'

export type RawFlags = { readonly [flag: string]: string | readonly string[] | null }

export type Verdict = {
  readonly accepted: boolean
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

/** Gates that Keelson does not act on yet are taken at their word: this judges what reads files, not what the server can do. */
function gatesOf(text: string): Gates {
  const given = new Map(text.split(',').map((pair) => [pair.split('=')[0] ?? '', pair.endsWith('=true')] as const))
  return { isOn: (name) => given.get(name) ?? defaultGates.isOn(name) }
}

const valuesOf = (value: string | readonly string[]): readonly string[] => (typeof value === 'string' ? [value] : value)

/** Those flags that stand in the table. */
export function rawOf<Name extends string>(
  flags: RawFlags,
  table: { readonly [name in Name]: unknown },
): Map<Name, readonly string[]> {
  const isOurs = (name: string): name is Name => Object.hasOwn(table, name)
  const raw = new Map<Name, readonly string[]>()
  for (const [name, value] of Object.entries(flags)) if (isOurs(name) && value !== null) raw.set(name, valuesOf(value))
  return raw
}

/** What is given where a case says nothing else of it. */
export const baseFlags: RawFlags = {
  'service-account-issuer': 'https://accounts.example.org',
  'authorization-mode': 'RBAC',
}

export function judge(flags: RawFlags): Verdict {
  const warnings: string[] = []
  const warn = (text: string): void => void warnings.push(text)
  const gates = gatesOf(String(flags['feature-gates'] ?? ''))
  const access = new Values<AccessFlagName>(accessFlags, rawOf(flags, accessFlags), [])
  const audit = new Values<AuditFlagName>(auditFlags, rawOf(flags, auditFlags), [])
  const { authorizers } = readAuthorization(access, { gates, warn })
  const isFromFlags = access.string('authorization-config') === ''
  const isOpen = isFromFlags && authorizers.some(({ type }) => type === 'AlwaysAllow')
  readAuthentication(access, { gates, warn, isOpen })
  readAudit(audit, warn)
  const faults = [...access.faults, ...audit.faults]
  return { accepted: faults.length === 0, errors: faults.length === 0 ? [] : [aggregate(faults)], warnings }
}

/** Writes the file of a case; undefined: it has none. */
export function writeCase(folder: string, name: string, text: string | null): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name.replaceAll('/', '-')}.yaml`)
  if (text !== null) writeFileSync(path, text)
  return path
}
