import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../../../api/object.ts'
import { volumeSecrets } from '../volume-secrets.ts'
import { configMapNames, resourceClaimNames, secretNames, volumeClaimNames } from './references.ts'

const volume = (source: Fields): Fields => ({ volumes: [{ name: 'v', ...source }] })
const secretRef = { secretRef: { name: 's' } }

const withSecret: readonly Fields[] = [
  { imagePullSecrets: [{ name: 's' }] },
  { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: 's' } } }, { value: 'x' }] }] },
  { initContainers: [{ envFrom: [secretRef, { configMapRef: { name: 'm' } }] }] },
  { ephemeralContainers: [{ envFrom: [secretRef] }] },
  volume({ secret: { secretName: 's' } }),
  volume({ azureFile: { secretName: 's' } }),
  volume({ projected: { sources: [{ configMap: { name: 'm' } }, { secret: { name: 's' } }] } }),
  volume({ csi: { nodePublishSecretRef: { name: 's' } } }),
  ...['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].map((kind) =>
    volume({ [kind]: secretRef }),
  ),
]
for (const spec of withSecret) {
  test(`secretNames finds the Secret in ${JSON.stringify(spec)}`, () =>
    assert.deepEqual(secretNames(spec), ['s']))
}

test('configMapNames finds the ConfigMaps that variables and volumes refer to', () => {
  for (const spec of [
    { containers: [{ env: [{ valueFrom: { configMapKeyRef: { name: 'm' } } }] }] },
    { ephemeralContainers: [{ envFrom: [{ configMapRef: { name: 'm' } }] }] },
    volume({ configMap: { name: 'm' } }),
    volume({ projected: { sources: [{ secret: { name: 's' } }, { configMap: { name: 'm' } }] } }),
  ]) {
    assert.deepEqual(configMapNames(spec), ['m'])
  }
})

test('volumeClaimNames derives the claim name of an ephemeral volume from the Pod name', () => {
  const volumes = [
    { name: 'a', persistentVolumeClaim: { claimName: 'c' } },
    { name: 'b', ephemeral: {} },
    { name: 'd' },
  ]
  assert.deepEqual(volumeClaimNames('p', { volumes }), ['c', 'p-b'])
})

test('resourceClaimNames includes a claim that is created from a template as soon as the status contains its name', () => {
  const resourceClaims = [
    { name: 'a', resourceClaimName: 'ca' },
    { name: 'b', resourceClaimTemplateName: 't' },
    { name: 'c', resourceClaimTemplateName: 't' },
    { name: 'd', resourceClaimTemplateName: 't' },
  ]
  const status = {
    resourceClaimStatuses: [
      { name: 'b', resourceClaimName: 'cb' },
      { name: 'c' },
      { name: 'x', resourceClaimName: 'y' },
    ],
  }
  assert.deepEqual(resourceClaimNames({ resourceClaims }, status), ['ca', 'cb'])
  assert.deepEqual(resourceClaimNames({}, status), [])
})

test('volumeSecrets returns the Secrets of a PersistentVolume, except those used only by controllers', () => {
  const claimRef = { namespace: 'a', name: 'c' }
  const named = { name: 's' }
  const placed = { name: 's', namespace: 'b' }
  const inB = [{ namespace: 'b', name: 's' }]
  const inA = [{ namespace: 'a', name: 's' }]
  for (const kind of ['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi']) {
    assert.deepEqual(volumeSecrets({ claimRef, [kind]: { secretRef: placed } }), inB)
    assert.deepEqual(volumeSecrets({ claimRef, [kind]: { secretRef: named } }), inA)
  }
  for (const kind of ['cinder', 'storageos']) {
    assert.deepEqual(volumeSecrets({ claimRef, [kind]: { secretRef: placed } }), inB)
  }
  assert.deepEqual(volumeSecrets({ claimRef, azureFile: { secretName: 's' } }), inA)
  assert.deepEqual(
    volumeSecrets({ claimRef, azureFile: { secretName: 's', secretNamespace: 'b' } }),
    inB,
  )
  for (const field of ['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef']) {
    assert.deepEqual(volumeSecrets({ claimRef, csi: { [field]: placed } }), inB)
  }
  for (const field of ['controllerPublishSecretRef', 'controllerExpandSecretRef']) {
    assert.deepEqual(volumeSecrets({ claimRef, csi: { [field]: placed } }), [])
  }
})
