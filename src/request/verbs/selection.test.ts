import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSelectors, valuesToLookUp } from './selection.ts'

const lookedUp = (labelSelector: string, fieldSelector = ''): unknown =>
  valuesToLookUp(parseSelectors({ labelSelector, fieldSelector }, 33), ['spec.nodeName'])

test('single values of labels and of indexed fields in a selector are looked up in an index', () => {
  assert.deepEqual(
    lookedUp('a=b,c in (d,e),f in (g),h!=i', 'spec.nodeName=n,status.phase=p,spec.nodeName!=m'),
    [
      { field: 'spec.nodeName', isEqual: true, value: 'n' },
      { label: 'a', value: 'b' },
      { label: 'f', value: 'g' },
    ],
  )
})

test('at most eight values of a selector are looked up in an index, and very long values are not looked up', () => {
  const many = Array.from({ length: 1_000 }, (_, at) => `a${at}=b`).join()
  const found = lookedUp(many, `spec.nodeName=${'x'.repeat(1_000)}`)
  assert.deepEqual(
    found,
    Array.from({ length: 8 }, (_, at) => ({ label: `a${at}`, value: 'b' })),
  )
})
