/**
 * Tests the claims of SECURITY.md about section 1.2 of the CIS Kubernetes Benchmark: which
 * recommendations hold by default, and which require flags.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkArgs, type Config } from './config.ts'

function configOf(...args: readonly string[]): Config {
  const checked = checkArgs(['--etcd-servers=http://127.0.0.1:1', ...args])
  if (checked.kind === 'faults') throw new Error(checked.faults.join('\n'))
  return checked.config
}

const modes = ({ authorization }: Config): readonly string[] =>
  authorization.authorizers.map(({ type }) => type)
const hasPlugin =
  (name: string) =>
  ({ admission }: Config): boolean =>
    admission.isOn(name)

/**
 * Recommendations that a test can check in the configuration. For a recommendation that is not met
 * by default, `flags` has the flags that SECURITY.md requires.
 */
const rows: {
  readonly [row: string]: { readonly holds: (config: Config) => boolean; readonly flags?: string[] }
} = {
  '1.2.1': {
    holds: ({ authentication }) => !authentication.anonymous.isEnabled,
    flags: ['--anonymous-auth=false'],
  },
  '1.2.2': { holds: ({ authentication }) => authentication.tokens.length === 0 },
  '1.2.3': {
    holds: hasPlugin('DenyServiceExternalIPs'),
    flags: ['--enable-admission-plugins=DenyServiceExternalIPs'],
  },
  '1.2.6': { holds: (config) => !modes(config).includes('AlwaysAllow') },
  '1.2.7': { holds: (config) => modes(config).includes('Node') },
  '1.2.8': { holds: (config) => modes(config).includes('RBAC') },
  '1.2.10': { holds: (config) => !hasPlugin('AlwaysAdmit')(config) },
  '1.2.11': {
    holds: hasPlugin('AlwaysPullImages'),
    flags: ['--enable-admission-plugins=AlwaysPullImages'],
  },
  '1.2.12': { holds: hasPlugin('ServiceAccount') },
  '1.2.13': { holds: hasPlugin('NamespaceLifecycle') },
  '1.2.14': {
    holds: hasPlugin('NodeRestriction'),
    flags: ['--enable-admission-plugins=NodeRestriction'],
  },
  '1.2.16': {
    holds: ({ telemetry }) => telemetry.audit.log !== null,
    flags: ['--audit-log-path=-'],
  },
  '1.2.20': {
    holds: ({ requests }) => requests.timeoutMs > 0 && requests.timeoutMs <= 300_000,
  },
  '1.2.21': { holds: ({ authentication }) => authentication.looksUpServiceAccounts },
  '1.2.29': {
    holds: ({ tls }) => tls.minVersion >= 'TLSv1.2' && tls.ciphers === null,
  },
}

for (const [row, { holds, flags }] of Object.entries(rows)) {
  test(`CIS recommendation ${row} ${flags === undefined ? 'holds by default' : `holds with ${flags.join(' ')}`}`, () => {
    assert.equal(holds(configOf()), flags === undefined)
    assert.ok(holds(configOf(...(flags ?? []))))
  })
}

test('the table in SECURITY.md lists every recommendation and agrees with the defaults', () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'SECURITY.md'), 'utf8')
  const cells = new Map(
    text
      .split('\n')
      .filter((line) => line.startsWith('| 1.2.'))
      .flatMap((line) => {
        const [, title = '', byDefault = ''] = line.split('|')
        return (title.match(/1\.2\.\d+/g) ?? []).map((row) => [row, byDefault.trim()] as const)
      }),
  )
  const all = Array.from({ length: 30 }, (_, at) => `1.2.${at + 1}`)
  assert.deepEqual([...cells.keys()], all)
  for (const [row, { flags }] of Object.entries(rows)) {
    assert.match(cells.get(row) ?? '', flags === undefined ? /^yes/ : /^no/, row)
  }
})
