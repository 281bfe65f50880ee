/**
 * Runs the commands of docs/operate.md that save and restore a snapshot of etcd, on the example of
 * deploy/ha with three members.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { hosts, Installation, READY_MS_MAX } from '../support/harness/installation.ts'
import { bashBlock } from '../support/harness/markdown-commands.ts'
import { findOnPath } from '../support/harness/packed.ts'

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operate.md'), 'utf8')
const configMaps = '/api/v1/namespaces/default/configmaps'
/** The value of --bump-revision in docs/operate.md. */
const BUMP = 1_000_000_000

test('after an etcd snapshot is restored on three members, the old objects exist, and revisions are higher than before', {
  skip: findOnPath('openssl') === undefined && 'install openssl',
  timeout: 4 * READY_MS_MAX,
}, async () => {
  await using installation = new Installation()
  await installation.prepare()
  await startAll(installation)
  assert.equal((await create(installation, 'before')).status, 201)
  installation.shell('a', bashBlock(page, 'snapshot save'))
  const { status, revision } = await create(installation, 'after')
  assert.equal(status, 201)
  await installation.stopAll()

  for (const host of hosts) installation.shell(host, bashBlock(page, 'snapshot restore'))
  await startAll(installation)
  for (const host of hosts) {
    const address = installation.hostAddress(host)
    const get = (path: string) =>
      installation.ask(address, { path, port: installation.port(6_443) })
    assert.equal((await get(`${configMaps}/before`)).status, 200, host)
    assert.equal((await get(`${configMaps}/after`)).status, 404, host)
    const watch = await get(`${configMaps}?watch=true&resourceVersion=${revision}`)
    assert.match(watch.text, /"code":410/, 'a client that knows a lost revision lists again')
  }
  const next = await create(installation, 'after')
  assert.ok(next.revision > revision + BUMP / 2, `${next.revision} after ${revision}`)
})

async function startAll(installation: Installation): Promise<void> {
  for (const host of hosts) installation.startMember(host)
  for (const host of hosts) await installation.memberIsHealthy(host)
  for (const host of hosts) installation.startReplica(host)
  for (const host of hosts) await installation.replicaIsReady(host)
}

/** Creates a ConfigMap on the first host, and returns its revision. */
async function create(
  installation: Installation,
  name: string,
): Promise<{ readonly status: number; readonly revision: number }> {
  const target = { method: 'POST', path: configMaps, port: installation.port(6_443) }
  const body = JSON.stringify({ metadata: { name } })
  const { status, text } = await installation.ask(installation.hostAddress('a'), target, body)
  return { status, revision: Number(JSON.parse(text).metadata?.resourceVersion) }
}
