/**
 * Checks for every kind that the number of reported errors is limited if all items of a list are
 * invalid.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemOf, objectText } from '../../test/chaos/hostile/sweep/bodies.ts'
import { fieldsOf, loadTargets, type SweptField } from '../../test/chaos/hostile/sweep/fields.ts'
import { builtIns } from '../../test/support/harness/memory-control-plane.ts'
import { FAULTS_MAX } from '../api/field-fault.ts'
import type { KubeObject } from '../api/object.ts'
import { decodeBody } from '../objects/codec/decode-body.ts'
import { apiVersionOf, type Resource } from './resource.ts'
import { validateCreate } from './validate.ts'

/**
 * Length of the tested lists in bytes. A list of this length has room for more than 30,000 empty
 * items.
 */
const BYTES = 110_000
/**
 * Maximum number of rules that validate the same list. Each rule can report up to FAULTS_MAX
 * errors.
 */
const RULES = 3

function decoded(field: SweptField, resource: Resource): KubeObject | undefined {
  const text = objectText(
    { field, shape: 'empty', bytesMax: BYTES, item: itemOf(field) },
    { name: 'x' },
  )
  try {
    return decodeBody({ bytes: Buffer.from(text) }, resource, 'Ignore').object
  } catch {
    return undefined
  }
}

test('the number of reported errors is limited for a long list in any field of any kind', async () => {
  const targets = await loadTargets()
  const fields = fieldsOf(targets).filter(
    ({ isShared, target }) => !isShared && target.part === undefined,
  )
  let count = 0
  for (const field of fields) {
    const { apiVersion, kind } = field.target
    const resource = builtIns.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind)
    const object = resource && decoded(field, resource)
    if (resource === undefined || object === undefined) continue
    count++
    const { length } = validateCreate(object, resource)
    assert.ok(length <= RULES * FAULTS_MAX, `${kind} ${field.path.join('.')} has ${length} faults`)
  }
  assert.ok(count > 300, `${count} fields`)
})
