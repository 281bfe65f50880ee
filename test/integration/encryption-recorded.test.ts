/**
 * Compares Keelson's response to each step of the sequences in test/integration/encryption with the
 * recorded response of kube-apiserver.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { EtcdClient } from '../../src/storage/etcd/client.ts'
import { systemClock } from '../../src/lib/time/clock.ts'
import { silent } from '../../src/lib/telemetry/log.ts'
import { EtcdEngine } from '../../src/storage/etcd-engine.ts'
import {
  type Ask,
  configOf,
  namespace,
  phases,
  play,
  type StepResult,
} from './encryption/sequences.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { clients, startOn } from './support.ts'

const recordedPath = join(import.meta.dirname, './encryption/recorded.json')
const recorded: { readonly [phase: string]: readonly StepResult[] } = JSON.parse(
  readFileSync(recordedPath, 'utf8'),
)

/**
 * Whether the response was recorded while kube-apiserver rebuilt its cache, which it does after
 * each value that it cannot read. Such a response is not compared.
 */
const isOfMoment = ({ step, status, message }: StepResult): boolean =>
  String(message).startsWith('storage is (re)initializing') ||
  (step.startsWith('get resourceVersion=0') && status === 500)

test('responses during key rotation and for unreadable values equal those of kube-apiserver', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-sequences-'))
  await using etcd = await startEtcd()
  await using engine = new EtcdEngine(
    new EtcdClient({ endpoints: [etcd.clientUrl], clock: systemClock, log: silent }),
  )
  for (const phase of phases) {
    const config = configOf(phase)
    const path = join(folder, 'config.json')
    if (config !== undefined) writeFileSync(path, config)
    await using server = await startOn(
      etcd,
      config === undefined ? [] : [`--encryption-provider-config=${path}`],
    )
    await using client = clients['HTTP/2']?.(server.url)
    assert.ok(client !== undefined)
    const ask: Ask = ({ type, ...call }) =>
      client.call({ ...call, ...(type !== undefined && { headers: { 'content-type': type } }) })
    const body = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: namespace } }
    await ask({ method: 'POST', path: '/api/v1/namespaces', body })
    assert.equal((await ask({ method: 'GET', path: '/api/v1/secrets' })).status, 200)
    const shown = await play(phase, ask, engine)
    const expected = recorded[phase.name] ?? []
    assert.deepEqual(
      shown.map(({ step }) => step),
      expected.map(({ step }) => step),
      'record the sequences again: node test/integration/encryption/record.ts --reference',
    )
    for (const [at, one] of expected.entries())
      if (!isOfMoment(one)) assert.deepEqual(shown[at], one, phase.name)
  }
  rmSync(folder, { recursive: true })
})
