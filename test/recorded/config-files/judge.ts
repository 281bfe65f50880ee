/**
 * Checks the flags and the file of a test case. Returns whether Keelson accepts them, and the
 * messages.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readAdmissionFiles } from '../../../src/config/admission.ts'
import { parseAdmissionPlugins } from '../../../src/config/admission-plugins.ts'
import { readAudit } from '../../../src/config/audit.ts'
import { readAuthentication } from '../../../src/config/authentication.ts'
import { isOpenByFlags, readAuthorization } from '../../../src/config/authorization.ts'
import { defaultGates, type Gates } from '../../../src/api/gates.ts'
import { aggregate } from '../../../src/api/aggregate.ts'
import { checkArgs } from '../../../src/config/config.ts'
import { readEgress } from '../../../src/config/egress.ts'
import { readEncryption } from '../../../src/config/encryption.ts'
import { flags as allFlags } from '../../../src/config/flags.ts'
import { readTracing } from '../../../src/config/tracing.ts'
import { Values } from '../../../src/config/values.ts'

export type RawFlags = { readonly [flag: string]: string | readonly string[] | null }

export type Verdict = {
  readonly accepted: boolean
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Returns feature gates that can all be set. Whether the server has a feature is not relevant,
 * because the cases only test parsing and validation.
 */
function gatesOf(text: string): Gates {
  const given = new Map(
    text.split(',').map((pair) => [pair.split('=')[0] ?? '', pair.endsWith('=true')] as const),
  )
  return { ...defaultGates, isOn: (name) => given.get(name) ?? defaultGates.isOn(name) }
}

const valuesOf = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value

/** Returns those of the given flags that are in the flag table. */
export function rawOf<Name extends string>(
  flags: RawFlags,
  table: { readonly [name in Name]: unknown },
): Map<Name, readonly string[]> {
  const isOurs = (name: string): name is Name => Object.hasOwn(table, name)
  const raw = new Map<Name, readonly string[]>()
  for (const [name, value] of Object.entries(flags))
    if (isOurs(name) && value !== null) raw.set(name, valuesOf(value))
  return raw
}

/** The table of all flags, in which the authorization mode has kube-apiserver's default. */
export const authorizationTable = { ...allFlags, 'authorization-mode': {} }

/** Flags of every test case, unless the test case sets them itself. */
export const baseFlags: RawFlags = {
  'service-account-issuer': 'https://accounts.example.org',
  'authorization-mode': 'RBAC',
}

export function judge(flags: RawFlags): Verdict {
  const warnings: string[] = []
  const warn = (text: string): void => void warnings.push(text)
  const gates = gatesOf(String(flags['feature-gates'] ?? ''))
  const access = new Values(allFlags, rawOf(flags, allFlags), [])
  const authorizing = new Values(authorizationTable, rawOf(flags, authorizationTable), [])
  const audit = new Values(allFlags, rawOf(flags, allFlags), [])
  const authorization = readAuthorization(authorizing, { gates, warn })
  readAuthentication(access, { gates, warn, isOpen: isOpenByFlags(authorization) })
  readAudit(audit, warn)
  const tracing = new Values(allFlags, rawOf(flags, allFlags), [])
  readTracing(tracing, gates)
  const egress = new Values(allFlags, rawOf(flags, allFlags), [])
  readEgress(egress)
  const encryption = new Values(allFlags, rawOf(flags, allFlags), [])
  readEncryption(encryption, gates)
  const admission = new Values(allFlags, rawOf(flags, allFlags), [])
  const enabled = admission.slice('enable-admission-plugins')
  const disabled = admission.slice('disable-admission-plugins')
  readAdmissionFiles(
    admission,
    parseAdmissionPlugins({ enabled, disabled, exactly: undefined }).plugins,
    () => undefined,
  )
  const readers = [authorizing, access, audit, egress, tracing, admission, encryption]
  const faults = readers.flatMap((one) => one.faults)
  return {
    accepted: faults.length === 0,
    errors: faults.length === 0 ? [] : [aggregate(faults)],
    warnings,
  }
}

/**
 * Checks all flags of the server together. If one of them is not supported, checks only the flags
 * that concern configuration files.
 */
export function judgeServer(
  flags: RawFlags,
  keys: { readonly public: string; readonly private: string },
): Verdict {
  const all: RawFlags = {
    'etcd-servers': 'http://127.0.0.1:2379',
    'service-account-key-file': keys.public,
    'service-account-signing-key-file': keys.private,
    ...flags,
  }
  const args = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : valuesOf(value).map((text) => `--${name}=${text}`),
  )
  const checked = checkArgs(args)
  if (checked.kind === 'config') return { accepted: true, errors: [], warnings: checked.warnings }
  if (checked.faults.some((fault) => /is not supported(?: yet|, since)/.test(fault)))
    return judge(flags)
  return { accepted: false, errors: [aggregate(checked.faults)], warnings: [] }
}

/** Writes the file of a case, unless it has none, and returns its path. */
export function writeCase(folder: string, name: string, text: string | null): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name.replaceAll('/', '-')}.yaml`)
  if (text !== null) writeFileSync(path, text)
  return path
}
