import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../api/object.ts'
import { checkContainerResourceName, resourceRequirements } from './resources.ts'
import { faultsOf } from './rule.ts'

test('a container can request some native resources and any extended resource', () => {
  const names = [
    'cpu',
    'hugepages-2Mi',
    'example.com/gpu',
    'kubernetes.io/thing',
    'pods',
    'gpu',
    'requests.a.b/c',
  ]
  assert.deepEqual(
    names.map((name) => checkContainerResourceName(name).length),
    [0, 0, 0, 0, 1, 2, 1],
  )
})

const requirements: readonly (readonly [Fields, readonly string[]])[] = [
  [{ requests: { cpu: '500m' }, limits: { cpu: '0.5' } }, []],
  [{ requests: { cpu: '501m' }, limits: { cpu: '0.5' } }, ['r.requests']],
  [{ requests: { cpu: '-1' } }, ['r.requests[cpu]']],
  [{ requests: { 'example.com/gpu': '1' } }, ['r.limits']],
  [{ requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '2' } }, ['r.requests']],
  [{ limits: { 'example.com/gpu': '1500m' } }, ['r.limits[example.com/gpu]']],
  [{ limits: { 'hugepages-2Mi': '4Mi' } }, ['r']],
  [{ limits: { cpu: '1', 'hugepages-2Mi': '3Mi' } }, ['r.limits[hugepages-2Mi]']],
]
for (const [given, paths] of requirements) {
  test(`validation of the requirements ${JSON.stringify(given)} finds ${paths.length} errors`, () => {
    assert.deepEqual(
      faultsOf(resourceRequirements, given, 'r').map(({ path }) => path),
      paths,
    )
  })
}
