/**
 * Records kube-apiserver's responses to the requests in sequences.ts: `node
 * test/integration/encryption/record.ts --reference`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { systemClock } from '../../../src/lib/time/clock.ts'
import { silent } from '../../../src/lib/telemetry/log.ts'
import { EtcdEngine } from '../../../src/storage/etcd-engine.ts'
import { startEtcd } from '../../support/harness/etcd.ts'
import { startReference } from '../../support/harness/reference.ts'
import { clients } from '../support.ts'
import { type Ask, configOf, namespace, phases, play, type StepResult } from './sequences.ts'

if (!process.argv.includes('--reference')) {
  console.error('add --reference to confirm: this starts kube-apiserver once for each phase')
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'keelson-record-encryption-'))
await using etcd = await startEtcd()
await using engine = new EtcdEngine(
  new EtcdClient({ endpoints: [etcd.clientUrl], clock: systemClock, log: silent }),
)
const recorded: { [phase: string]: StepResult[] } = {}
for (const phase of phases) {
  const config = configOf(phase)
  const path = join(folder, 'config.json')
  if (config !== undefined) writeFileSync(path, config)
  const args = config === undefined ? [] : [`--encryption-provider-config=${path}`]
  await using server = await startReference({ etcdUrl: etcd.clientUrl, args })
  await using client = clients['HTTP/1.1']?.(server.url)
  if (client === undefined) throw new Error('there is a client for HTTP/1.1')
  const ask: Ask = ({ type, ...call }) =>
    client.call({ ...call, ...(type !== undefined && { headers: { 'content-type': type } }) })
  await ask({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: namespace } },
  })
  recorded[phase.name] = await play(phase, ask, engine)
  console.log(`${phase.name}: ${recorded[phase.name]?.length} steps`)
}
const lines = Object.entries(recorded).map(
  ([name, steps]) =>
    ` ${JSON.stringify(name)}: [\n${steps.map((step) => `  ${JSON.stringify(step)}`).join(',\n')}\n ]`,
)
writeFileSync(join(import.meta.dirname, 'recorded.json'), `{\n${lines.join(',\n')}\n}\n`)
rmSync(folder, { recursive: true })
