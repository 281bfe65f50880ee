/** Tests that malicious patches are either rejected or applied within a limited time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { builtInResources } from '../../registry/built-in.ts'
import { allSteps } from '../../../test/support/harness/turns.ts'
import { applyPatch, type Patch, type Patched } from './patches.ts'

/**
 * Maximum duration of a test. It is generous, so that tests pass on slow machines. Unlimited work
 * would take minutes.
 */
const MS_MAX = 10_000
/** Maximum duration of a step. On an idle machine, a step takes a fifth of this. */
const STEP_MS_MAX = 300

const configMaps = builtInResources().find(({ plural }) => plural === 'configmaps')
const deployments = builtInResources().find(({ plural }) => plural === 'deployments')
assert(configMaps !== undefined && deployments !== undefined)

const configMap: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n', uid: 'u', resourceVersion: '1', finalizers: ['a.io/a'] },
  data: { a: '1', big: 'x'.repeat(10_000) },
}

const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', namespace: 'n' },
  spec: { template: { spec: { containers: [{ name: 'a', image: 'i' }] } } },
}

function apply(form: Patch['form'], body: unknown, object = configMap): Patched {
  const expected = object === configMap ? configMaps : deployments
  assert(expected !== undefined)
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  // Measures the CPU time of this thread, because other tests can run at the same time.
  const start = process.threadCpuUsage()
  try {
    return allSteps(applyPatch(object, { form, text, isChecked: true }, expected))
  } finally {
    assert(process.threadCpuUsage(start).user < MS_MAX * 1000, 'it takes too long')
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && error.code >= 400 && error.code < 500

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

test('deeply nested patches are applied or rejected with a client error', () => {
  for (const form of ['json', 'merge', 'strategic'] as const) {
    for (const depth of [999, 1001, 9999, 10_001, 200_000]) {
      const body =
        form === 'json' ? `[{"op":"add","path":"/x","value":${nested(depth)}}]` : nested(depth)
      try {
        apply(form, body)
      } catch (error) {
        assert(isRefused(error), `${form} ${depth}: ${String(error)}`)
      }
    }
  }
})

test('a patch that nests the document more deeply with each move is rejected', () => {
  const deep = '/a'.repeat(900)
  const operations = [
    { op: 'add', path: '/a', value: JSON.parse(nested(950)) as unknown },
    ...Array.from({ length: 500 }, (_, at) => [
      { op: 'add', path: `/b${at}`, value: JSON.parse(nested(950)) as unknown },
      { op: 'move', from: '/a', path: `/b${at}${deep}` },
      { op: 'move', from: `/b${at}`, path: '/a' },
    ]).flat(),
  ]
  assert.throws(() => apply('json', operations), isRefused)
})

test('a JSON patch path of 500,000 segments is rejected', () => {
  assert.throws(
    () => apply('json', [{ op: 'add', path: '/data'.repeat(500_000), value: '1' }]),
    isRefused,
  )
})

test('a JSON patch is rejected if a deeply nested value has to be parsed again at each level', () => {
  const padded = `${'{"a":'.repeat(900)}"${'x'.repeat(1_000_000)}"${'}'.repeat(900)}`
  const body = `[{"op":"add","path":"/x","value":${padded}},{"op":"remove","path":"/x${'/a'.repeat(900)}"}]`
  assert.throws(() => apply('json', body), isRefused)
})

test('a JSON patch is rejected if each of its copies doubles the document', () => {
  const operations = Array.from({ length: 200 }, () => ({
    op: 'copy',
    from: '/data',
    path: '/data/more',
  }))
  assert.throws(() => apply('json', operations), isRefused)
})

test('a patch with many operations that shift a long list is rejected', () => {
  const operations = [
    { op: 'add', path: '/x', value: Array.from({ length: 500_000 }, () => 1) },
    ...Array.from({ length: 9000 }, () => ({ op: 'add', path: '/x/0', value: 1 })),
  ]
  assert.throws(() => apply('json', operations), isRefused)
})

test('huge list indexes in a JSON patch are rejected', () => {
  for (const index of [
    '4294967296',
    '9007199254740993',
    '-9007199254740993',
    '9'.repeat(1_000_000),
  ]) {
    const path = `/metadata/finalizers/${index}`
    assert.throws(() => apply('json', [{ op: 'add', path, value: 'b.io/b' }]), isRefused)
  }
})

test('names of inherited JavaScript properties are handled like other keys in a patch', () => {
  const keys = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString']
  const data = `{${keys.map((key) => `"${key}":"x"`).join()}}`
  const operations = keys.map((key) => ({ op: 'add', path: `/data/${key}`, value: 'x' }))
  const bodies = {
    json: JSON.stringify(operations),
    merge: `{"data":${data}}`,
    strategic: `{"data":${data}}`,
  }
  for (const form of ['json', 'merge', 'strategic'] as const) {
    const patched = apply(form, bodies[form])
    assert('object' in patched)
    const { data: stored } = patched.object
    assert(typeof stored === 'object' && stored !== null)
    assert.deepEqual(
      Object.keys(stored).toSorted(),
      [...Object.keys(configMap['data'] ?? {}), ...keys].toSorted(),
    )
    assert.equal(Object.getPrototypeOf({}), Object.prototype)
  }
})

test('inherited JavaScript properties do not count as existing members', () => {
  assert.throws(() => apply('json', [{ op: 'remove', path: '/data/constructor' }]), isRefused)
  assert.throws(
    () => apply('json', [{ op: 'add', path: '/__proto__/polluted', value: 'x' }]),
    isRefused,
  )
  for (const form of ['merge', 'strategic'] as const) {
    const patched = apply(
      form,
      '{"__proto__":{"polluted":"x"},"constructor":{"prototype":{"polluted":"x"}}}',
    )
    assert('object' in patched && !('polluted' in patched.object))
    assert(!('polluted' in {}))
  }
})

test('long lists are merged by key within the time limit', () => {
  const containers = Array.from({ length: 30_000 }, (_, at) => ({ name: `c${at}`, image: 'i' }))
  const order = containers.toReversed().map(({ name }) => ({ name }))
  const spec = { containers: containers.toReversed(), '$setElementOrder/containers': order }
  const patched = apply('strategic', { spec: { template: { spec } } }, deployment)
  assert('object' in patched)
})

test('long lists of scalars are merged, and items are deleted from them, within the time limit', () => {
  const many = Array.from({ length: 100_000 }, (_, at) => `x.io/${at}`)
  const patched = apply('strategic', {
    metadata: { finalizers: many, '$deleteFromPrimitiveList/finalizers': many },
  })
  assert('object' in patched)
})

test('a JSON patch of several megabytes is parsed and applied in many steps', () => {
  assert(configMaps !== undefined)
  const numbers = Array.from({ length: 100_000 }, (_, at) => at % 10)
  const patches: readonly (readonly [string, string])[] = [
    [
      'operations',
      JSON.stringify(
        Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/data/x', value: '' })),
      ),
    ],
    ['a value', JSON.stringify([{ op: 'test', path: '/data/a', value: numbers }])],
    [
      'a comparison',
      JSON.stringify([
        { op: 'add', path: '/x', value: numbers },
        { op: 'test', path: '/x', value: numbers.with(numbers.length - 1, 10) },
      ]),
    ],
    ['too many operations', `[${'{},'.repeat(100_000)}{}]`],
    ['no operations', `[${'1,'.repeat(100_000)}1]`],
  ]
  for (const [what, text] of patches) {
    let steps = 0
    try {
      for (const _ of applyPatch(configMap, { form: 'json', text, isChecked: true }, configMaps))
        steps++
    } catch (error) {
      assert(isRefused(error), String(error))
    }
    assert(steps >= 20, `${what}: ${steps} steps`)
  }
})

test('each step of applying a patch of several megabytes is short', () => {
  assert(configMaps !== undefined)
  const numbers = `[${'1,'.repeat(1_500_000)}1]`
  const texts = `[${'"a/b",'.repeat(500_000)}"a/c"]`
  const patches: readonly (readonly [Patch['form'], string])[] = [
    ['merge', `{"metadata":{"unknown":${numbers}}}`],
    ['merge', `{"metadata":{"finalizers":${texts}}}`],
    ['strategic', `{"metadata":{"unknown":${numbers}}}`],
    ['json', `[{"op":"add","path":"/data/a","value":"","unknown":${numbers}}]`],
    ['json', `[{"op":"add","path":"/unknown","value":${numbers}}]`],
  ]
  for (const [form, text] of patches) {
    let best = Infinity
    // Uses the fastest of several runs, because garbage collection can slow down a run.
    for (let tries = 0; tries < 3 && best > STEP_MS_MAX; tries++)
      best = Math.min(best, longestStepMs(form, text, configMaps))
    assert(best < STEP_MS_MAX, `${form} ${text.slice(0, 40)}: ${best} ms`)
  }
})

/** Returns the duration of the longest step, in CPU time of this thread. */
function longestStepMs(
  form: Patch['form'],
  text: string,
  expected: NonNullable<typeof configMaps>,
): number {
  const steps = applyPatch(configMap, { form, text, isChecked: true }, expected)
  for (let longestMs = 0; ; ) {
    const before = process.threadCpuUsage()
    const { done } = steps.next()
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1000)
    if (done === true) return longestMs
  }
}

const add = (path: string) => (): unknown => apply('json', [{ op: 'add', path, value: '' }])

test('a JSON patch path that is too long or has too many keys is rejected', () => {
  assert.throws(add('/a'.repeat(1_500_000)), isRefused)
  assert.throws(add(`/data/a${'~0'.repeat(1_000_000)}`), isRefused)
  assert.throws(add(`/data${'/a'.repeat(999)}`), isRefused)
  assert.doesNotThrow(add(`/data/a${'~0~1~01'.repeat(30_000)}`))
})
