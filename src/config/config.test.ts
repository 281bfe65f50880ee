import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkArgs } from './config.ts'
import { flags, helpText } from './flags.ts'
import { parseTokenFile } from './token-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'keelson-config-'))
after(() => rmSync(dir, { recursive: true }))

const etcd = '--etcd-servers=http://127.0.0.1:2379'

function faultsOf(...args: readonly string[]): readonly string[] {
  const checked = checkArgs(args)
  return checked.kind === 'faults' ? checked.faults : []
}

test('flags become one frozen configuration', () => {
  const path = join(dir, 'tokens.csv')
  writeFileSync(path, 'secret,admin,1,"system:masters"\n')
  const checked = checkArgs([
    etcd,
    '--secure-port',
    '1234',
    '--bind-address=127.0.0.1',
    '--cert-dir=/c',
    `--token-auth-file=${path}`,
    '--allow-privileged',
    '--authorization-mode=Node,RBAC',
    '--controllers=-*',
  ])
  assert.deepEqual(checked, {
    kind: 'config',
    config: {
      etcd: { servers: ['http://127.0.0.1:2379'], prefix: '/registry' },
      bindAddress: '127.0.0.1',
      port: 1234,
      advertiseAddress: '127.0.0.1',
      tls: { kind: 'folder', path: '/c' },
      tokens: [{ token: 'secret', user: { name: 'admin', uid: '1', groups: ['system:masters'] } }],
    },
  })
  assert.ok(checked.kind === 'config' && Object.isFrozen(checked.config.tokens[0]?.user.groups))
})

test('all faults are told together', () => {
  const faults = faultsOf('--nope=1', '--secure-port=0', 'word', '--bind-address=here', '--token-auth-file=/none')
  assert.equal(faults.length, 6)
  const all = faults.join('\n')
  for (const part of [
    '--nope is not a flag',
    '"word" is not a flag',
    '--etcd-servers must',
    '--secure-port 0',
    '"here"',
    '/none',
  ]) {
    assert.ok(all.includes(part), part)
  }
})

const refusals: readonly [string, RegExp][] = [
  ['--etcd-servers=127.0.0.1:2379', /is not a URL such as/],
  ['--secure-port=x', /must be between 1 and 65535/],
  ['--secure-port=65536', /must be between 1 and 65535/],
  ['--tls-cert-file=/none', /--tls-private-key-file is missing/],
  ['--authorization-mode=RBAC,RBAC', /more than once/],
  ['--authorization-mode=Nope', /is not supported: use Node,RBAC/],
  ['--endpoint-reconciler-type=nope', /use lease or none/],
  ['--allow-privileged=perhaps', /must be true or false/],
  ['--service-cluster-ip-range=10.0.0.0', /is not a range such as/],
  ['--service-account-key-file=/none', /cannot be read/],
  ['--disable-admission-plugins=Nope', /there is no plugin "Nope"/],
  ['--controllers=nope', /there is no controller "nope"/],
  ['--etcd-prefix', /--etcd-prefix needs a value/],
]
for (const [flag, message] of refusals) {
  test(`${flag} is refused`, () => {
    const faults = flag.startsWith('--etcd-servers') ? faultsOf(flag) : faultsOf(etcd, flag)
    assert.ok(
      faults.some((fault) => message.test(fault)),
      faults.join('\n'),
    )
  })
}

test('the help text has every flag', () => {
  for (const name of Object.keys(flags)) assert.ok(helpText().includes(`--${name}`), name)
})

test('token files', () => {
  const { tokens, faults } = parseTokenFile('f', 't1,u1,1\r\n\n"t""2",u2,2,"a, b"\nt3,u3,3,g\nshort,line\n,u,1')
  assert.deepEqual(
    tokens.map(({ token, user }) => `${token} ${user.name} ${user.groups.join('+')}`),
    ['t1 u1 ', 't"2 u2 a+b', 't3 u3 g'],
  )
  assert.equal(faults.length, 2)
  assert.match(faults[0] ?? '', /token file 'f' must have at least 3 columns \(token, user name, user uid\), found 2/)
  assert.deepEqual(parseTokenFile('f', ''), { tokens: [], faults: [] })
})
