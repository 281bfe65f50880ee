/**
 * Runs `keelson doctor` on the manifests that kubeadm writes (test/recorded/kubeadm), with files
 * like those that kubeadm creates.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Check } from '../../src/entry/doctor/check.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { Authority } from '../support/harness/issued-certificate.ts'
import { writeKubeadmFiles } from '../support/harness/kubeadm-files.ts'

const recorded = join(import.meta.dirname, '../recorded/kubeadm')
const folder = mkdtempSync(join(tmpdir(), 'keelson-doctor-manifest-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const etc = join(folder, 'etc-kubernetes')
writeKubeadmFiles(join(etc, 'pki'), {
  authority: new Authority('kubernetes'),
  frontProxyAuthority: new Authority('front-proxy-ca'),
  etcdAuthority: new Authority('etcd-ca'),
})
// Create the files that the extra arguments of the manifest name. kubeadm does not create them.
mkdirSync(join(etc, 'extra'))
const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }
writeFileSync(join(etc, 'extra', 'audit.yaml'), JSON.stringify(policy))

/** Writes a recorded manifest with the paths of this test, and returns its path. */
function place(name: string): string {
  const text = readFileSync(join(recorded, name), 'utf8').replaceAll('/etc/kubernetes', etc)
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function doctor(...args: readonly string[]): Promise<{ code: number | string; output: string }> {
  return new Promise((resolve) => {
    execFile(keelsonProgram, ['doctor', ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? ''), output: `${stdout}${stderr}` }),
    )
  })
}

async function checksOf(path: string): Promise<readonly Check[]> {
  const { output } = await doctor(`--manifest=${path}`, '--output=json')
  const { checks }: { readonly checks: readonly Check[] } = JSON.parse(output)
  return checks
}

/** The flags of a manifest, in order and without repetitions. */
const flagsOf = (path: string): readonly string[] => [
  ...new Set(
    [...readFileSync(path, 'utf8').matchAll(/^ +- (--[^=\s]+)/gm)].map(([, flag = '']) => flag),
  ),
]

const byName = (checks: readonly Check[]): ReadonlyMap<string, Check> =>
  new Map(checks.map((check) => [check.name, check]))

for (const name of readdirSync(recorded).filter((file) => file.startsWith('manifest')))
  test(`keelson doctor prints a line for each flag that kubeadm writes: ${name}`, async () => {
    const path = place(name)
    const checks = byName(await checksOf(path))
    for (const flag of flagsOf(path)) assert.ok(checks.has(flag), flag)
  })

test('the flags that kubeadm writes by default have the same meaning in Keelson', async () => {
  const path = place('manifest-default.yaml')
  const { code, output } = await doctor(path)
  assert.equal(code, 0, output)
  const checks = byName(await checksOf(path))
  for (const flag of flagsOf(path)) {
    const { level, value } = checks.get(flag) ?? {}
    assert.deepEqual([level, value], ['ok', 'accepted with the same meaning'], flag)
  }
  assert.match(checks.get('image')?.value ?? '', /kube-apiserver:v1\.33\.\d+$/)
  assert.match(checks.get('--storage-media-type')?.value ?? '', /^not set: .* JSON/)
  // The files of the private keys can be read only by root. The image runs as another user, so the
  // check must report them.
  assert.match(checks.get('user')?.value ?? '', /65532.*\.key$/)
})

test('the output of keelson doctor states which extra arguments are refused, work differently or have no effect', async () => {
  const checks = byName(await checksOf(place('manifest-extra.yaml')))
  const levels: readonly (readonly [flag: string, level: Check['level'], value: RegExp])[] = [
    ['--audit-policy-file', 'ok', /same meaning/],
    ['--apiserver-count', 'ok', /without effect/],
    ['--etcd-healthcheck-timeout', 'ok', /without effect/],
    ['--enable-logs-handler', 'problem', /refused: /],
    ['--endpoint-reconciler-type', 'warning', /like lease/],
    ['--encryption-provider-config', 'problem', /encryption\.yaml does not exist/],
    ['--oidc-ca-file', 'problem', /in no hostPath volume/],
  ]
  for (const [flag, level, value] of levels) {
    assert.equal(checks.get(flag)?.level, level, flag)
    assert.match(checks.get(flag)?.value ?? '', value)
  }
})

test('keelson doctor reports a missing file as a problem, with its name', async () => {
  const path = place('manifest-default.yaml')
  rmSync(join(etc, 'pki', 'sa.pub'))
  const { code, output } = await doctor(path)
  assert.equal(code, 1)
  assert.match(output, /^problem +--service-account-key-file +\S+\/pki\/sa\.pub does not exist: /m)
})

test('the error of keelson doctor names a manifest that cannot be read or parsed', async () => {
  const missing = await doctor(join(folder, 'none.yaml'))
  assert.match(missing.output, /none\.yaml: no such file/)
  assert.equal(missing.code, 1)
  const other = join(folder, 'other.yaml')
  writeFileSync(other, 'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n')
  assert.match((await doctor(other)).output, /neither a unit file nor a Pod/)
})
