import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  pod,
} from '../../test/support/harness/admission.ts'
import { type Fields, fieldsOf, type Json, textOf } from '../api/object.ts'
import { noNodeSelectors } from '../config/files/pod-node-selector.ts'
import { createPodNodeSelector } from './pod-node-selector.ts'

/** Creates a pod and returns its node selector, or the error. */
async function selected(
  annotation: string | undefined,
  nodeSelector: Fields,
  { configuration = noNodeSelectors, metadata = {}, release = 33 } = {},
): Promise<Json | undefined> {
  const objects = new MemoryObjects()
  const annotations =
    annotation === undefined ? {} : { 'scheduler.alpha.kubernetes.io/node-selector': annotation }
  objects.put('namespaces', '', anObject('Namespace', 'n', { metadata: { annotations } }))
  const object = pod({ nodeSelector }, metadata)
  const given = attributes({ plural: 'pods', object })
  const admitted = await admit(createPodNodeSelector(objects, configuration), {
    ...given,
    resource: { ...given.resource, release },
  })
  return typeof admitted === 'string' ? admitted : fieldsOf(admitted?.['spec'])['nodeSelector']
}

test('the selector of the namespace is added to a pod', async () => {
  assert.deepEqual(await selected('a=b, c=', { x: 'y' }), { a: 'b', c: '', x: 'y' })
  assert.deepEqual(await selected(undefined, { x: 'y' }), { x: 'y' })
})

test('a pod with a conflicting selector is rejected', async () => {
  const why = 'forbidden: pod node label selector conflicts with its namespace node label selector'
  assert.equal(await selected('a=b', { a: 'c' }), `403 pods "p" is ${why}`)
  const metadata = { name: '', generateName: 'p-' }
  assert.equal(await selected('a=b', { a: 'c' }, { metadata }), `403 pods is ${why}`)
})

test('the default labels and the allowed labels of the configuration are applied', async () => {
  const configuration = { clusterDefault: 'a=b', whitelists: new Map([['n', 'a=b,c=d']]) }
  const refused =
    '403 pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist'
  assert.deepEqual(await selected(undefined, { c: 'd' }, { configuration }), { a: 'b', c: 'd' })
  assert.equal(await selected(undefined, { c: 'e' }, { configuration }), refused)
  assert.equal(await selected('e=f', {}, { configuration }), refused)
  assert.deepEqual(await selected('', {}, { configuration }), {})
})

test('since 1.35, the error about a key that is too long counts bytes', async () => {
  const annotation = `${'a'.repeat(64)}=b`
  const found = await Promise.all(
    [34, 35].map((release) => selected(annotation, {}, { release }).then(textOf)),
  )
  assert.deepEqual(
    found.map((text) => text.replace(/.*: /, '')),
    ['name part must be no more than 63 characters', 'name part must be no more than 63 bytes'],
  )
})

test('every pod is rejected if the annotation of the namespace is not a valid list of labels', async () => {
  assert.equal(await selected('a in (b)', {}), '500 invalid selector: [a in (b)]')
  assert.match(
    textOf(await selected('a!=b', {})),
    /^500 <nil>: Invalid value: "a!": name part must/,
  )
  assert.match(
    textOf(await selected('a=b c', {})),
    /^500 \[a\]: Invalid value: "b c": a valid label must/,
  )
})
