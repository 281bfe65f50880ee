/**
 * Tests coordinated leader election: one of the LeaseCandidates gets the Lease, and candidates that
 * are no longer renewed are deleted.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

const group = '/apis/coordination.k8s.io'
const candidates = `${group}/v1beta1/namespaces/default/leasecandidates`
const leases = `${group}/v1/namespaces/default/leases`
const HELD_MS_MAX = 60_000

let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer([
    '--feature-gates=CoordinatedLeaderElection=true',
    '--runtime-config=coordination.k8s.io/v1beta1=true',
  ])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

async function read(path: string) {
  const { status, text } = await client.call({ path })
  return status === 200 ? JSON.parse(text) : undefined
}

async function stand(
  name: string,
  leaseName: string,
  version: string,
  renewedMs = Date.now(),
): Promise<void> {
  const spec = {
    leaseName,
    strategy: 'OldestEmulationVersion',
    binaryVersion: version,
    emulationVersion: version,
  }
  const renewTime = new Date(renewedMs).toISOString().replace('Z', '000Z')
  const body = { metadata: { name }, spec: { ...spec, renewTime } }
  const { status, text } = await client.call({ method: 'POST', path: candidates, body })
  assert.equal(status, 201, text)
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const beganMs = Date.now(); !(await holds()); await sleep(100))
    assert.ok(Date.now() - beganMs < HELD_MS_MAX, `not within a minute: ${what}`)
}

/** Renews those of the named candidates that the server has pinged, as running candidates would. */
async function answerPings(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const spec = (await read(`${candidates}/${name}`))?.spec
    if (spec?.pingTime === undefined || spec.pingTime <= spec.renewTime) continue
    const renewTime = new Date(Math.max(Date.now(), Date.parse(spec.pingTime) + 1))
      .toISOString()
      .replace('Z', '000Z')
    const headers = { 'content-type': 'application/merge-patch+json' }
    await client.call({
      method: 'PATCH',
      path: `${candidates}/${name}`,
      headers,
      body: { spec: { renewTime } },
    })
  }
}

test('the candidate with the oldest version is named in the Lease as preferred while a newer candidate holds the Lease', async () => {
  await stand('newer', 'one', '1.33.0')
  await until('a holder', async () => {
    await answerPings(['newer'])
    return (await read(`${leases}/one`))?.spec.holderIdentity === 'newer'
  })
  // Extend the Lease, so that it does not expire. The server must name the preferred candidate in
  // the Lease, but must not replace the holder.
  const body = { spec: { leaseDurationSeconds: 3600 } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  const { status } = await client.call({ method: 'PATCH', path: `${leases}/one`, headers, body })
  assert.equal(status, 200)
  await stand('older', 'one', '1.32.0')
  await until('the preferred holder is set', async () => {
    await answerPings(['newer', 'older'])
    return (await read(`${leases}/one`))?.spec.preferredHolder === 'older'
  })
  assert.equal((await read(`${leases}/one`)).spec.holderIdentity, 'newer')
})

test('a candidate that was not renewed for half an hour is deleted', async () => {
  await stand('silent', 'two', '1.33.0', Date.now() - 7_200_000)
  await until(
    'the candidate is deleted',
    async () => (await read(`${candidates}/silent`)) === undefined,
  )
  assert.equal(await read(`${leases}/two`), undefined)
})
