import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admit, anObject, attributes, MemoryObjects } from '../../test/support/harness/admission.ts'
import { type ApiError, forbidden, internalError } from '../api/errors.ts'
import { createNamespaceAutoProvision } from './namespace-auto-provision.ts'
import { createNamespaceExists } from './namespace-exists.ts'

const object = anObject('ConfigMap', 'c')
const write = attributes({ plural: 'configmaps', object })
const ofNamespace = attributes({ plural: 'namespaces', object: anObject('Namespace', 'n') })

test('NamespaceExists requires that the namespace exists for writes and deletes, but not for CONNECT requests', async () => {
  const objects = new MemoryObjects()
  const exists = createNamespaceExists(objects)
  const missing = '404 namespaces "n" not found'
  for (const operation of ['CREATE', 'UPDATE', 'DELETE'] as const) {
    assert.equal(await admit(exists, { ...write, operation }), missing)
  }
  assert.equal(await admit(exists, { ...write, operation: 'CONNECT' }), object)
  assert.equal(typeof (await admit(exists, { ...ofNamespace, namespace: 'n' })), 'object')
  objects.put('namespaces', '', anObject('Namespace', 'n'))
  assert.equal(await admit(exists, write), object)
})

function provisioning(refused?: ApiError) {
  const objects = new MemoryObjects()
  const created: string[] = []
  const plugin = createNamespaceAutoProvision(objects, async (name) => {
    created.push(name)
    objects.put('namespaces', '', anObject('Namespace', name))
    return refused
  })
  return { plugin, created }
}

test('NamespaceAutoProvision creates the namespace once, and only for a create that is not a dry run', async () => {
  const { plugin, created } = provisioning()
  for (const operation of ['UPDATE', 'DELETE', 'CONNECT'] as const)
    await admit(plugin, { ...write, operation })
  await admit(plugin, { ...write, isDryRun: true })
  await admit(plugin, { ...ofNamespace, namespace: 'n' })
  assert.deepEqual(created, [])
  assert.equal(await admit(plugin, write), object)
  assert.equal(await admit(plugin, write), object)
  assert.deepEqual(created, ['n'])
})

test('NamespaceAutoProvision returns a 403 error of the create unchanged, and converts any other error to a 403 error', async () => {
  const refusal = forbidden({ group: '', plural: 'namespaces' }, 'n', 'no')
  assert.equal(
    await admit(provisioning(refusal).plugin, write),
    '403 namespaces "n" is forbidden: no',
  )
  const failed = await admit(provisioning(internalError('oops')).plugin, write)
  assert.equal(failed, '403 configmaps "c" is forbidden: Internal error occurred: oops')
})
