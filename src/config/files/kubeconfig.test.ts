import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createAuthority } from '../../lib/x509/certificates.ts'
import type { FileFault } from './decode-file.ts'
import type { ClientConfig } from '../../net/outbound/kubeconfig.ts'
import { readKubeconfig } from './kubeconfig.ts'

const dir = mkdtempSync(join(tmpdir(), 'keelson-kubeconfig-'))
after(() => rmSync(dir, { recursive: true }))

const path = join(dir, 'kubeconfig')

function read(cluster: object, user: object): ClientConfig | FileFault {
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(path, JSON.stringify(config))
  return readKubeconfig(path)
}

function accept(cluster: object, user: object): ClientConfig {
  const kubeconfig = read(cluster, user)
  assert.ok(!('fault' in kubeconfig), 'fault' in kubeconfig ? kubeconfig.fault : '')
  return kubeconfig
}

test('the scheme of a URL in a kubeconfig is case-insensitive', () => {
  const { certificatePem } = createAuthority('ca', Date.now())
  const cluster = { 'certificate-authority-data': Buffer.from(certificatePem).toString('base64') }
  for (const server of [
    'https://127.0.0.1:9/a',
    'HTTPS://127.0.0.1:9/a',
    'Https://127.0.0.1:9/a',
  ]) {
    const { credentials, certificateAuthority } = accept(
      { ...cluster, server },
      { token: 'secret' },
    )
    assert.deepEqual(credentials, { kind: 'token', token: 'secret', path: null }, server)
    assert.equal(certificateAuthority, certificatePem)
  }
  const plain = accept({ ...cluster, server: 'HTTP://127.0.0.1:9/a' }, { token: 'secret' })
  assert.deepEqual(plain.credentials, { kind: 'none' })
  for (const [given, expected] of [
    ['HTTP://u:P@h:1', 'http://u:P@h:1'],
    ['httpS://h', 'https://h'],
  ]) {
    const { proxyUrl } = accept({ server: 'https://127.0.0.1:9', 'proxy-url': given }, {})
    assert.equal(proxyUrl, expected)
  }
})

test("the query and the fragment of a server's URL are dropped", () => {
  for (const [given, expected] of [
    ['https://127.0.0.1:9/a?b=c#d', 'https://127.0.0.1:9/a'],
    ['https://127.0.0.1:9#d', 'https://127.0.0.1:9'],
    ['h?x=/y', 'http://h'],
  ]) {
    assert.equal(accept({ server: given }, {}).server, expected)
  }
})

test('a password in a kubeconfig is not sent if there is no user name', () => {
  const server = 'https://127.0.0.1:9'
  assert.deepEqual(accept({ server }, { password: 'secret' }).credentials, { kind: 'none' })
  const basic = { kind: 'basic', username: 'me', password: '' }
  assert.deepEqual(accept({ server }, { username: 'me' }).credentials, basic)
})

test('the error message for an invalid URL in a kubeconfig does not reveal its password', () => {
  for (const cluster of [
    { server: 'https://someone:secret@127.0.0.1:99999' },
    { server: 'https://someone:secret@[::1' },
    { server: 'someone:secret@h/path' },
    { server: 'ftp://someone:secret@h' },
    { server: 'https://h', 'proxy-url': 'http://someone:secret@h:99999' },
    { server: 'https://h', 'proxy-url': 'http://someone:secret%zz@h' },
    { server: 'https://h', 'proxy-url': 'ftp://someone:secret@h' },
    { server: 'https://h', 'proxy-url': 'someone:secret@h' },
    { server: 'https://h', 'proxy-url': 'http://someone:with@secret@h h' },
  ]) {
    const kubeconfig = read(cluster, {})
    assert.ok('fault' in kubeconfig, JSON.stringify(cluster))
    assert.ok(!kubeconfig.fault.includes('secret'), kubeconfig.fault)
  }
})

test('the error message for a kubeconfig of another version does not reveal its contents', () => {
  writeFileSync(path, 'apiVersion: v1/\nkind: Config\nusers: [{name: u, user: {token: secret}}]\n')
  assert.deepEqual(readKubeconfig(path), {
    fault: `error loading config file "${path}": Object 'apiVersion' is missing`,
  })
})

test('a kubeconfig that exceeds the maximum size of a ConfigMap is refused', () => {
  writeFileSync(path, '#'.repeat((1 << 20) + 1))
  assert.deepEqual(readKubeconfig(path), {
    fault: `error loading config file "${path}": the file has 1048577 bytes; at most 1048576 are allowed`,
  })
})
