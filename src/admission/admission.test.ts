import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributes, pod } from '../../test/support/harness/admission.ts'
import { Admission, type Plugin } from './admission.ts'
import { deleteOptions, writeOptions } from './operation-options.ts'

test('all mutating plugins run again after one of them changed the object', async () => {
  const seen: string[] = []
  const plugin = (name: string, changes: boolean): Plugin => ({
    name,
    mutate: ({ object }, rounds) => {
      seen.push(`${name} ${rounds.isSecond ? 2 : 1}`)
      rounds.needsSecond ||= changes
      return object
    },
  })
  const write = attributes({ plural: 'pods', object: pod() })
  await new Admission([plugin('a', false), plugin('b', false)]).mutate(write)
  assert.deepEqual(seen.splice(0), ['a 1', 'b 1'])
  await new Admission([plugin('a', false), plugin('b', true)]).mutate(write)
  assert.deepEqual(seen, ['a 1', 'b 1', 'a 2', 'b 2'])
})

test('the options in an admission request contain only fields that the client set', () => {
  const meta = { apiVersion: 'meta.k8s.io/v1' }
  assert.deepEqual(writeOptions('CreateOptions', new URLSearchParams()), {
    kind: 'CreateOptions',
    ...meta,
  })
  const query = new URLSearchParams({
    dryRun: 'All',
    fieldManager: 'm',
    fieldValidation: 'Strict',
    force: 'true',
  })
  assert.deepEqual(writeOptions('UpdateOptions', query), {
    kind: 'UpdateOptions',
    ...meta,
    dryRun: ['All'],
    fieldManager: 'm',
    fieldValidation: 'Strict',
  })
  assert.deepEqual(
    deleteOptions({ isDryRun: true, uid: 'u', gracePeriodSeconds: 0, propagation: 'Orphan' }),
    {
      kind: 'DeleteOptions',
      ...meta,
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
      propagationPolicy: 'Orphan',
      dryRun: ['All'],
    },
  )
})
