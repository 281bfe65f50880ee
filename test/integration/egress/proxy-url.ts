/**
 * Prints the requests that two proxies get when both are configured: an egress proxy for the
 * server, and a `proxy-url` in the kubeconfig of the audit webhook. The egress proxy must get a
 * request for the address of the inner proxy (`proxy-url`). The inner proxy must get a request for
 * the webhook.
 *
 *   node test/integration/egress/proxy-url.ts [--reference]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Socket } from 'node:net'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startConnectProxy } from '../../support/harness/egress-proxies.ts'
import { portOf } from '../../support/harness/port-of.ts'
import { startReference } from '../../support/harness/reference.ts'
import { until } from '../../support/harness/until.ts'
import { startOn } from '../support.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-proxy-url-'))
const write = (name: string, value: unknown): string => {
  writeFileSync(join(folder, name), JSON.stringify(value))
  return join(folder, name)
}

/** Requests to the proxy of the kubeconfig. The proxy rejects all of them. */
const asked: string[] = []
const sockets = new Set<Socket>()
const inner = createServer((socket) => {
  sockets.add(socket)
  socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  socket.once('data', (data) => {
    asked.push(data.toString('latin1').split('\r\n')[0] ?? '')
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
}).listen(0, '127.0.0.1')
await new Promise((resolve) => inner.once('listening', resolve))
await using outer = await startConnectProxy({ path: join(folder, 'egress.sock') })
const proxyUrl = `http://127.0.0.1:${portOf(inner)}`
const connection = {
  proxyProtocol: 'HTTPConnect',
  transport: { uds: { udsName: join(folder, 'egress.sock') } },
}
const args = [
  `--egress-selector-config-file=${write('egress.json', {
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'controlplane', connection }],
  })}`,
  `--audit-policy-file=${write('policy.json', { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] })}`,
  `--audit-webhook-config-file=${write('webhook.json', {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: 'https://hook.example/audit', 'proxy-url': proxyUrl } },
    ],
    contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
    'current-context': 'x',
  })}`,
  '--audit-webhook-batch-max-wait=1s',
]
await using etcd = await startEtcd()
await using server = process.argv.includes('--reference')
  ? await startReference({ etcdUrl: etcd.clientUrl, args })
  : await startOn(etcd, args)
console.log(`asked: ${server.url}`)
await until(() => asked.length > 0, 'the proxy of the kubeconfig gets a request')
const shown = (text: string): string => text.replaceAll(String(portOf(inner)), 'PORT')
console.log(`egress: ${[...new Set(outer.dialed.map(shown))].join(', ')}`)
console.log(`proxy-url: ${[...new Set(asked.map(shown))].join(', ')}`)
inner.close()
for (const socket of sockets) socket.destroy()
rmSync(folder, { recursive: true, force: true })
