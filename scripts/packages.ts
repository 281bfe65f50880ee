/**
 * Checks the npm dependencies. Each must have an accepted license, and none may have a known
 * vulnerability (`npm audit`). If the registry does not respond, the second check is skipped with a
 * message.
 *
 *   node scripts/packages.ts
 */
import { spawnSync } from 'node:child_process'
import { readPackages } from './packages/lockfile.ts'

/** Licenses that permit using, modifying and distributing the program under its own license. */
const permissive = new Set(
  ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'].concat(
    'PSF-2.0',
  ),
)
/** Licenses that are also accepted for tools that are not part of the program. */
const forTools = new Set([...permissive, 'CC0-1.0', 'Unlicense'])
const AUDIT_MS_MAX = 60_000

const faults = [...licenceFaults(), ...auditFaults()]
for (const fault of faults) console.error(`FAULT ${fault}`)
if (faults.length > 0) process.exitCode = 1

function licenceFaults(): string[] {
  const packages = readPackages()
  const bundled = packages.filter(({ isBundled }) => isBundled)
  console.log(
    `licenses: ${packages.length} packages, ${bundled.length} of them part of the program`,
  )
  if (bundled.length === 0)
    return ['no package was found to be part of the program: check how imports in src/ are found']
  return packages
    .filter(({ license, isBundled }) => !isTaken(license, isBundled ? permissive : forTools))
    .map(
      ({ name, version, license }) =>
        `${name} ${version} has the license ${JSON.stringify(license)}, which is not accepted`,
    )
}

/**
 * Whether an SPDX license expression is accepted. At least one operand of OR must be accepted, and
 * all operands of AND. Does not support the operator WITH.
 */
function isTaken(license: string, taken: ReadonlySet<string>): boolean {
  const plain = license.replaceAll(/[()]/g, '')
  return plain
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((one) => taken.has(one.trim())))
}

type Audit = {
  readonly error?: { readonly code?: string; readonly summary?: string }
  readonly message?: string
  readonly vulnerabilities?: {
    readonly [name: string]: { readonly severity: string; readonly range: string }
  }
}

function auditFaults(): string[] {
  const { stdout, error } = spawnSync('npm', ['audit', '--json'], {
    encoding: 'utf8',
    timeout: AUDIT_MS_MAX,
  })
  const audit = parse(stdout)
  if (audit?.vulnerabilities === undefined) {
    const why =
      audit?.message || audit?.error?.summary || audit?.error?.code || error?.message || 'no report'
    console.log(`npm audit: skipped, because the registry does not respond (${why.split('\n')[0]})`)
    return []
  }
  const found = Object.entries(audit.vulnerabilities)
  console.log(`npm audit: ${found.length} vulnerable packages`)
  return found.map(([name, { severity, range }]) => `${name} ${range}: ${severity}, see npm audit`)
}

function parse(text: string | null): Audit | undefined {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
