import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  specOf,
} from '../../../test/support/harness/admission.ts'
import type { Fields } from '../../api/object.ts'
import { createServiceAccount } from './plugin.ts'

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

async function create(account: Fields, spec: Fields, metadata: Fields = {}): Promise<unknown> {
  const objects = new MemoryObjects()
  objects.put('serviceaccounts', 'n', anObject('ServiceAccount', 'default', account))
  const suffixes = ['taken', 'abcde']
  const plugin = createServiceAccount({ objects, nameSuffix: () => suffixes.shift() ?? '' })
  const object = anObject('Pod', 'p', { metadata, spec })
  return specOf(await admit(plugin, attributes({ plural: 'pods', object })))
}

const named = { serviceAccountName: 'default', serviceAccount: 'default' }
const quiet = { automountServiceAccountToken: false }
const refused = (why: string) => `403 pods "p" is forbidden: ${why}`

test('a pod without a service account gets the default service account and its token', async () => {
  const mount = { name: 'kube-api-access-taken', readOnly: true, mountPath }
  assert.deepEqual(await create({}, { containers: [{ name: 'c' }] }), {
    ...named,
    containers: [{ name: 'c', volumeMounts: [mount] }],
    volumes: [
      {
        name: 'kube-api-access-taken',
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            {
              downwardAPI: {
                items: [
                  {
                    path: 'namespace',
                    fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
                  },
                ],
              },
            },
          ],
          defaultMode: 420,
        },
      },
    ],
  })
})

test('an existing volume mount at the path of the token and an existing token volume are kept', async () => {
  const own = { containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath }] }] }
  assert.deepEqual(await create({}, own), { ...own, ...named })
  const brought = { containers: [{ name: 'c' }], volumes: [{ name: 'kube-api-access-mine' }] }
  assert.deepEqual(await create({}, brought), {
    ...named,
    ...brought,
    containers: [
      { name: 'c', volumeMounts: [{ name: 'kube-api-access-mine', readOnly: true, mountPath }] },
    ],
  })
})

test('a service account or a pod can opt out of the token, and the setting of the pod takes precedence', async () => {
  const spec = { containers: [{ name: 'c' }] }
  assert.deepEqual(await create(quiet, spec), { ...spec, ...named })
  assert.deepEqual(await create({}, { ...spec, ...quiet }), { ...spec, ...quiet, ...named })
  const wanted: unknown = await create(quiet, { ...spec, automountServiceAccountToken: true })
  assert.ok(Object(wanted).volumes)
})

test('a pod that names a missing service account is rejected', async () => {
  const why = 'error looking up service account n/nope: serviceaccount "nope" not found'
  assert.equal(await create({}, { serviceAccountName: 'nope' }), refused(why))
})

test('a pod waits for a while for a missing default service account, but not for any other missing service account', async () => {
  const objects = new MemoryObjects()
  let waits = 0
  const wait = async () => {
    waits++
    if (waits < 9) return
    for (const name of ['default', 'other'])
      objects.put('serviceaccounts', 'n', anObject('ServiceAccount', name, quiet))
  }
  const plugin = createServiceAccount({ objects, nameSuffix: () => 'a', wait })
  const pod = (spec: Fields) =>
    admit(plugin, attributes({ plural: 'pods', object: anObject('Pod', 'p', { spec }) }))
  const missing = 'error looking up service account n/other: serviceaccount "other" not found'
  assert.equal(await pod({ serviceAccountName: 'other' }), refused(missing))
  assert.equal(waits, 0)
  assert.deepEqual(specOf(await pod({})), named)
  assert.equal(waits, 9)
})

test('an ephemeral container cannot be added to a pod without a service account', async () => {
  const plugin = createServiceAccount({ objects: new MemoryObjects(), nameSuffix: () => 'a' })
  const later = { plural: 'pods', subresource: 'ephemeralcontainers', operation: 'UPDATE' } as const
  const answer = await admit(
    plugin,
    attributes({ ...later, object: anObject('Pod', 'p', { spec: {} }) }),
  )
  assert.equal(answer, refused('no service account specified for pod n/p'))
})

test('imagePullSecrets are copied from the service account unless the pod specifies its own', async () => {
  const account = { ...quiet, imagePullSecrets: [{ name: 's' }] }
  assert.deepEqual(await create(account, {}), { ...named, imagePullSecrets: [{ name: 's' }] })
  const own = { imagePullSecrets: [{ name: 't' }] }
  assert.deepEqual(await create(account, own), { ...named, ...own })
})

const volumes = (secretName: string) => ({ volumes: [{ name: 'v', secret: { secretName } }] })

test('an annotation whose value Go parses as true restricts pods to the secrets of the service account', async () => {
  for (const value of ['1', 't', 'T', 'True', 'TRUE', 'yes', 'tRUE', '']) {
    const limits = { annotations: { 'kubernetes.io/enforce-mountable-secrets': value } }
    const isRefused =
      typeof (await create({ ...quiet, metadata: limits }, volumes('x'))) === 'string'
    assert.equal(isRefused, !['yes', 'tRUE', ''].includes(value), value)
  }
  const metadata = { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } }
  const account = { ...quiet, metadata, secrets: [{ name: 'mine' }] }
  assert.deepEqual(await create(account, volumes('mine')), { ...named, ...volumes('mine') })
  const not = 'is not allowed because service account default does not reference that secret'
  assert.equal(
    await create(account, volumes('x')),
    refused(`volume with secret.secretName="x" ${not}`),
  )
  const env = [{ name: 'E', valueFrom: { secretKeyRef: { name: 'x', key: 'k' } } }]
  assert.equal(
    await create(account, { containers: [{ name: 'c', env }] }),
    refused(`container c with envVar E referencing secret.secretName="x" ${not}`),
  )
})

/** This test covers CVE-2024-3177 (envFrom) and CVE-2023-2728 (containers that are added later). */
test('kubernetes.io/enforce-mountable-secrets applies to all lists of containers and all kinds of references to a secret', async () => {
  const metadata = { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } }
  const account = { ...quiet, metadata, secrets: [{ name: 'mine' }] }
  const ways = [
    { env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'x', key: 'k' } } }] },
    { envFrom: [{ secretRef: { name: 'mine' } }, { secretRef: { name: 'x' } }] },
  ]
  for (const way of ways) {
    for (const list of ['containers', 'initContainers']) {
      assert.match(
        String(await create(account, { [list]: [{ name: 'c', ...way }] })),
        /does not reference that secret/,
      )
    }
    const objects = new MemoryObjects()
    objects.put('serviceaccounts', 'n', anObject('ServiceAccount', 'default', account))
    const plugin = createServiceAccount({ objects, nameSuffix: () => 'a' })
    const spec = { serviceAccountName: 'default', ephemeralContainers: [{ name: 'e', ...way }] }
    const later = {
      plural: 'pods',
      subresource: 'ephemeralcontainers',
      operation: 'UPDATE',
    } as const
    const answer = await admit(
      plugin,
      attributes({ ...later, object: anObject('Pod', 'p', { spec }) }),
    )
    assert.match(String(specOf(answer)), /does not reference that secret/)
  }
})

test('a mirror pod is not changed, and must not refer to service accounts or secrets', async () => {
  const metadata = { annotations: { 'kubernetes.io/config.mirror': 'x' } }
  const spec = { containers: [{ name: 'c' }], nodeSelector: { secret: 'x' }, imagePullSecrets: [] }
  assert.deepEqual(await create({}, spec, metadata), spec)
  assert.equal(
    await create({}, named, metadata),
    refused('a mirror pod may not reference service accounts'),
  )
  const secret = { volumes: [{ name: 'v', secret: { secretName: 's' } }] }
  assert.equal(
    await create({}, secret, metadata),
    refused('a mirror pod may not reference secrets'),
  )
  const token = { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: {} }] } }] }
  assert.equal(
    await create({}, token, metadata),
    refused('a mirror pod may not use ServiceAccountToken volume projections'),
  )
})
