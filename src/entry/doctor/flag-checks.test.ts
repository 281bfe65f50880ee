import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { flags } from '../../config/flags.ts'
import { checkCommand } from './flag-checks.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-flag-checks-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const tokens = join(folder, 'tokens.csv')
writeFileSync(tokens, 'secret,jane,1\n')
chmodSync(tokens, 0o600)
const none = join(folder, 'none')

/**
 * Flags that are part of every command in these tests. Without them, each result would also report
 * that they are missing.
 */
const common = [
  '--etcd-servers=http://127.0.0.1:2379',
  '--storage-media-type=application/vnd.kubernetes.protobuf',
  '--authorization-mode=Node,RBAC',
  '--logging-format=text',
  '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
]

const cases: readonly (readonly [flag: string, level: string, text: RegExp])[] = [
  ['--secure-port=7443', 'ok', /^--secure-port accepted with the same meaning$/],
  ['--apiserver-count=3', 'ok', /^--apiserver-count accepted without effect: API servers are/],
  ['--apiserver-count=x', 'problem', /^--apiserver-count refused: .*ParseInt/],
  ['--feature-gates=WatchList=true', 'ok', /same meaning$/],
  ['--feature-gates=KubeletTracing=true', 'ok', /no effect: KubeletTracing$/],
  ['--feature-gates=UnknownVersionInteroperabilityProxy=true', 'problem', /refused: /],
  ['--enable-logs-handler', 'problem', /^--enable-logs-handler refused: .*not supported/],
  ['--watch-cache', 'ok', /same meaning/],
  ['--cloud-provider=aws', 'problem', /^--cloud-provider refused: unknown flag/],
  ['--secure-prt=1', 'problem', /unknown flag: --secure-prt did you mean --secure-port\?$/],
  ['--endpoint-reconciler-type=master-count', 'warning', /works like lease/],
  [`--token-auth-file=${tokens}`, 'ok', /same meaning/],
  [`--token-auth-file=${none}`, 'problem', /^--token-auth-file \S+none does not exist create/],
  ['--service-cluster-ip-range=x', 'problem', /refused: /],
]
for (const [flag, level, text] of cases)
  test(`the check of ${flag.replace(folder, '')} has the level ${level}`, () => {
    const found = checkCommand({ args: [...common, flag] }).slice(common.length)
    assert.equal(found.length, 1, JSON.stringify(found))
    const [{ name, value, action, level: got } = { name: '', value: '', action: '', level: '' }] =
      found
    assert.equal(got, level, value)
    assert.match([name, value, action].filter((part) => part !== undefined).join(' '), text)
  })

test('flags that are not set are reported if their defaults differ from those of kube-apiserver', () => {
  const found = checkCommand({ args: common.slice(0, 1) })
  assert.deepEqual(
    found.filter(({ level }) => level === 'warning').map(({ name }) => name),
    ['--storage-media-type', '--tls-cipher-suites', '--authorization-mode', '--logging-format'],
  )
})

test('keelson doctor checks the files, the image and the user of a pod', () => {
  const mounts = new Map([['/pki', folder]])
  const checks = (userId: number | undefined, minor: number, path = '/pki/tokens.csv') =>
    checkCommand({
      args: [...common, `--token-auth-file=${path}`],
      pod: { image: `kube-apiserver:v1.${minor}.1`, userId, mounts },
    })
      .slice(common.length)
      .map(({ name, level, value }) => `${name} ${level} ${value}`)
      .join('\n')
  assert.match(checks(0, 33), /^--token-auth-file ok .*\nimage ok .*\nuser ok [^\n]*$/)
  assert.match(checks(0, 32), /^image warning .*serves v1\.33$/m)
  assert.match(
    checks(undefined, 33),
    /^user warning .*user 65532, which cannot read .*tokens.csv$/m,
  )
  assert.match(checks(0, 33, '/etc/tokens.csv'), /^--token-auth-file problem .*no hostPath volume/)
})

test('keelson doctor suggests setting --kubernetes to the release of the pod image if Keelson supports this release', () => {
  const pod = { image: 'kube-apiserver:v1.34.1', userId: 0, mounts: new Map<string, string>() }
  const image = (args: readonly string[], releases?: readonly number[]) =>
    checkCommand({ args: [...common, ...args], pod }, releases).find(({ name }) => name === 'image')
  assert.equal(image([], [33])?.action, 'first change kube-apiserver to v1.33')
  assert.equal(image([])?.action, 'set --kubernetes=1.34')
  assert.equal(image([], [33, 34])?.action, 'set --kubernetes=1.34')
  assert.equal(image(['--kubernetes=1.34'], [33, 34])?.level, 'ok')
})

test('keelson doctor checks flags as the release of the pod image or of --kubernetes has them', () => {
  const gate = '--feature-gates=NodeDeclaredFeatures=true'
  const problems = (image: string | undefined, release?: number) =>
    checkCommand(
      {
        args: [...common, gate],
        ...(image !== undefined && { pod: { image, userId: 0, mounts: new Map() } }),
      },
      [33, 35],
      release,
    )
      .filter(({ level }) => level === 'problem')
      .map(({ value }) => value)
  assert.deepEqual(problems('kube-apiserver:v1.35.1'), [])
  assert.deepEqual(problems(undefined, 35), [])
  const refused = ['refused: unrecognized feature gate: NodeDeclaredFeatures']
  assert.deepEqual(problems('kube-apiserver:v1.33.1'), refused)
  assert.deepEqual(problems(undefined), refused)
})

test('docs/differences.md explains each flag whose effect changes when Keelson replaces kube-apiserver', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/differences.md'), 'utf8')
  for (const [name, { swap }] of Object.entries(flags))
    if (swap !== undefined) assert.ok(page.includes(`\`--${name}`), name)
})
