import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestTurnMs, turnsDuring } from '../../../../test/support/harness/turns.ts'
import type { KubeObject } from '../../../api/object.ts'
import { controllerRevisionRules } from './controller-revision.ts'

const revisionOf = (data: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ControllerRevision',
  metadata: { name: 'x', namespace: 'n' },
  revision: 1,
  data,
})

async function faultsOfData(data: string, before?: string): Promise<string[]> {
  const current = before === undefined ? undefined : revisionOf(before)
  const faults = (await controllerRevisionRules.validateInSlices?.(revisionOf(data), current)) ?? []
  return faults.map(({ path, message }) => `${path}: ${message}`)
}

const hugeNumber = (number: string): string[] => [
  `data: Invalid value: "<value omitted>": error parsing data: json: cannot unmarshal number ${number} into Go value of type float64`,
]

test('the data of a ControllerRevision must be an object, and its numbers must fit into 64 bits', async () => {
  assert.deepEqual(await faultsOfData('{"a":1e999}'), hugeNumber('1e999'))
  assert.deepEqual(await faultsOfData('{"a":[{"b":-1E+400}],"c":2e999}'), hugeNumber('-1E+400'))
  assert.deepEqual(
    await faultsOfData(`{"a":1${'0'.repeat(400)}}`),
    hugeNumber(`1${'0'.repeat(400)}`),
  )
  assert.deepEqual(await faultsOfData('1e999'), hugeNumber('1e999'))
  assert.deepEqual(await faultsOfData('{"a":[true, 2e308 ,false]}'), hugeNumber('2e308'))
  assert.deepEqual(
    await faultsOfData('{"a":"1e999","b\\"1e999":1e-999,"c":1e308,"d":"\\\\","e":true}'),
    [],
  )
  assert.deepEqual(await faultsOfData('{"a":"\\\\","b":1e999}'), hugeNumber('1e999'))
  assert.deepEqual(await faultsOfData(`{"a":${'['.repeat(9000)}${']'.repeat(9000)}}`), [])
  assert.deepEqual(await faultsOfData('[1]'), [
    'data: Required value: data must be a valid JSON object',
  ])
})

test('the stored data of a ControllerRevision is immutable, and is not validated again', async () => {
  assert.deepEqual(await faultsOfData('{"a":1e999}', '{"a":1e999}'), [])
  assert.deepEqual(await faultsOfData('{}', '{"a":1}'), [
    'data: Invalid value: runtime.RawExtension{Raw:[]uint8{0x7b, 0x7d}, Object:runtime.Object(nil)}: field is immutable',
  ])
})

test('validating large data does not block the event loop', async () => {
  const large = {
    'a text': `{"a":"${'x'.repeat(2_900_000)}","b":1e100}`,
    escapes: `{"a":"${'\\"'.repeat(1_450_000)}","b":1e100}`,
    'short numbers': `{"a":[${'1,'.repeat(1_450_000)}1e100]}`,
    'long numbers': `{"a":[${`${'1'.repeat(308)},`.repeat(9_300)}1e100]}`,
    'empty texts': `{"a":[${'"",'.repeat(950_000)}1e100]}`,
  }
  for (const [what, data] of Object.entries(large)) {
    const check = async (): Promise<void> => assert.deepEqual(await faultsOfData(data), [])
    const ms = Math.min(
      await longestTurnMs(check),
      await longestTurnMs(check),
      await longestTurnMs(check),
    )
    assert.ok(ms < 80, `${what}: ${ms} ms`)
  }
})

test('reporting that large data has changed does not block the event loop', async () => {
  const turns = await turnsDuring(async () => {
    assert.equal((await faultsOfData(`{"a":"${'x'.repeat(1_000_000)}"}`, '{}')).length, 1)
  })
  assert.ok(turns > 10, `${turns} turns`)
})
