import { deepEqual, equal, ok } from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { EtcdProcess, freePorts } from '../../support/harness/etcd.ts'
import { makeAuthority } from './certificates.ts'
import { failure } from './wait.ts'

const key = Buffer.from('key')
const value = Buffer.from('value')
const dir = mkdtempSync(join(tmpdir(), 'keelson-tls-'))
after(() => rmSync(dir, { recursive: true, force: true }))

const trusted = makeAuthority(join(dir, 'trusted'))
const foreign = makeAuthority(join(dir, 'foreign'))
const server = trusted.issue('server', 'etcd.example')

async function startSecureEtcd(): Promise<EtcdProcess> {
  const [client = 0, peer = 0] = await freePorts(2)
  const url = `https://localhost:${client}`
  const data = mkdtempSync(join(tmpdir(), 'keelson-etcd-'))
  const peerUrl = `http://127.0.0.1:${peer}`
  const etcd = new EtcdProcess(data, url, [
    ...['--data-dir', join(data, 'data'), '--listen-client-urls', `https://127.0.0.1:${client}`],
    ...[
      '--advertise-client-urls',
      url,
      '--listen-peer-urls',
      peerUrl,
      '--initial-advertise-peer-urls',
      peerUrl,
    ],
    ...['--initial-cluster', `default=${peerUrl}`, '--unsafe-no-fsync', '--log-level', 'error'],
    ...['--cert-file', server.cert, '--key-file', server.key],
    ...['--trusted-ca-file', trusted.ca, '--client-cert-auth'],
  ])
  await etcd.start({ wait: false })
  return etcd
}

test('the client authenticates with TLS certificates, and reloads them while it runs', async () => {
  await using etcd = await startSecureEtcd()
  const endpoints = [etcd.clientUrl.replace('localhost', '127.0.0.1')]
  const serverName = 'etcd.example'
  const files = { ca: trusted.ca, cert: join(dir, 'client.crt'), key: join(dir, 'client.key') }
  const install = (issued: { readonly cert: string; readonly key: string }): void => {
    copyFileSync(issued.cert, files.cert)
    copyFileSync(issued.key, files.key)
  }
  install(trusted.issue('client'))
  await using client = new EtcdClient({ endpoints, tls: { ...files, serverName } })
  await ready(client)
  await client.kv.put({ key, value })

  await using buffers = new EtcdClient({
    endpoints,
    tls: {
      ca: readFileSync(files.ca),
      cert: readFileSync(files.cert),
      key: readFileSync(files.key),
      serverName,
    },
  })
  equal((await buffers.kv.range({ key })).count, 1)

  // A connection fails if the certificate of the server does not contain the expected name.
  await using misnamed = new EtcdClient({
    endpoints,
    tls: { ...files, serverName: 'other.example' },
  })
  const wrongName = await failure(misnamed.kv.put({ key, value }))
  deepEqual([wrongName.code, wrongName.ambiguous], ['Unavailable', false])
  ok(wrongName.message.includes('other.example'), wrongName.message)

  // etcd rejects client certificates of another authority. The client does not notice this
  // immediately: it uses a new certificate only for its next connection.
  install(foreign.issue('client'))
  equal((await client.kv.range({ key })).count, 1)
  client.reload()
  equal((await failure(client.kv.range({ key }))).code, 'Unavailable')
  install(trusted.issue('client'))
  equal((await client.kv.range({ key })).count, 1)

  // The client rejects a server whose certificate it cannot verify.
  await using distrusting = new EtcdClient({
    endpoints,
    tls: { ...files, ca: foreign.ca, serverName },
  })
  const distrust = await failure(distrusting.kv.put({ key, value }))
  deepEqual([distrust.code, distrust.ambiguous], ['Unavailable', false])

  await using nowhere = new EtcdClient({
    endpoints,
    tls: { ...files, ca: join(dir, 'missing.crt'), serverName },
  })
  const missing = await failure(nowhere.kv.put({ key, value }))
  ok(missing.message.includes('missing.crt'), missing.message)
})

async function ready(client: EtcdClient): Promise<void> {
  const endMs = performance.now() + 60_000
  for (;;) {
    try {
      await client.kv.range({ key }, { timeoutMs: 2000 })
      return
    } catch (error) {
      if (performance.now() > endMs) throw error
      await sleep(50)
    }
  }
}

test('plain HTTP to a TLS endpoint fails before the deadline, and the error says that nothing was written', async () => {
  await using etcd = await startSecureEtcd()
  await using client = new EtcdClient({
    endpoints: [etcd.clientUrl.replace('https', 'http')],
    timeoutMs: 8000,
  })
  const error = await failure(client.kv.put({ key, value }))
  equal(error.ambiguous, false)
})
