import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMsOf } from '../../../../../test/support/harness/turns.ts'
import { withPullPolicy } from './image.ts'

const policies: readonly (readonly [string, string])[] = [
  ['busybox', 'Always'],
  ['busybox:latest', 'Always'],
  ['busybox:1.36', 'IfNotPresent'],
  ['localhost:5000/a', 'Always'],
  ['localhost:5000/a:v1', 'IfNotPresent'],
  [`a:latest@sha256:${'a'.repeat(64)}`, 'Always'],
  [`a@sha256:${'a'.repeat(64)}`, 'IfNotPresent'],
  ['UPPER//case', 'IfNotPresent'],
  ['a b', 'IfNotPresent'],
  ['', 'IfNotPresent'],
]
for (const [image, imagePullPolicy] of policies) {
  test(`the default pull policy of the image "${image}" is ${imagePullPolicy}`, () => {
    assert.deepEqual(withPullPolicy({ image }), { image, imagePullPolicy })
  })
}

test('a very long image name is parsed quickly', () => {
  const tookMs = cpuMsOf(() => {
    withPullPolicy({ image: `${'a-'.repeat(100_000)}!` })
    withPullPolicy({ image: `${'a.'.repeat(100_000)}@` })
  })
  assert.ok(tookMs < 2_000, `${tookMs} ms`)
})
