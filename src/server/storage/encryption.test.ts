import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGatesOf } from '../../api/gates.ts'
import { readEncryptionConfiguration } from '../../config/files/encryption.ts'
import { silent } from '../../lib/telemetry/log.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { resourcesOf } from '../../registry/read-resources.ts'
import { resourcePrefix } from '../../storage/keys.ts'
import { createEncryption } from './encryption.ts'

const root = '/registry/'
const configuration = JSON.stringify({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [
    {
      resources: ['*.*'],
      providers: [
        { aesgcm: { keys: [{ name: 'one', secret: Buffer.alloc(32).toString('base64') }] } },
      ],
    },
  ],
})

/** Creates the encryption of a server of a release, and encrypts an object of each resource. */
async function plainFolders(release: number): Promise<readonly string[]> {
  const featureGates = defaultGatesOf(release)
  const options = { path: 'file', gates: featureGates, isReloaded: false }
  const read = readEncryptionConfiguration(Buffer.from(configuration), options)
  assert.ok('value' in read)
  await using encryption = await createEncryption(
    { encryption: { rules: read.value, path: 'file', reloaded: null }, featureGates },
    { root, time: systemTime, log: silent, metrics: new Metrics(), serverId: 'test' },
  )
  const plain: string[] = []
  for (const { group, plural, verbs } of resourcesOf(37)) {
    if (!verbs.includes('update')) continue
    const folder = resourcePrefix({ group, plural, isCustom: false })
    const stored = await encryption.transformer.toStorage(
      `${root}${folder}/name`,
      Buffer.from('text'),
    )
    if (!stored.toString('latin1').startsWith('k8s:enc:aesgcm:')) plain.push(folder)
  }
  return plain
}

test('a server of a later release encrypts all resources of its release if the configuration selects *.*', async () => {
  assert.deepEqual(await plainFolders(37), [])
})

test('a server of the default release also encrypts the resources that only a later release has', async () => {
  assert.deepEqual(await plainFolders(33), [])
})
