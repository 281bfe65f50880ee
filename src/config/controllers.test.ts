import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseControllers } from './controllers.ts'

const aggregation = 'clusterrole-aggregation-controller'

test('a star is all, a name one, a minus all but one; older names are taken', () => {
  const all = parseControllers(['*'])
  assert.deepEqual(all.faults, [])
  assert.ok(
    all.controllers.includes(aggregation) && !all.controllers.includes('token-cleaner-controller'),
  )
  assert.ok(
    parseControllers(['*', 'tokencleaner']).controllers.includes('token-cleaner-controller'),
  )
  assert.deepEqual(parseControllers([]).controllers, [])
  assert.deepEqual(parseControllers([aggregation]).controllers, [aggregation])
  assert.deepEqual(parseControllers(['clusterrole-aggregation']).controllers, [aggregation])
  const others = all.controllers.filter((name) => name !== aggregation)
  assert.deepEqual(parseControllers(['*', `-${aggregation}`]).controllers, others)
  assert.deepEqual(parseControllers([`-${aggregation}`, aggregation]).controllers, [])
  assert.deepEqual(parseControllers([aggregation, `-${aggregation}`]).controllers, [aggregation])
})

test('an unknown name is refused as upstream does, one that only kube-controller-manager has by what to do', () => {
  assert.deepEqual(parseControllers(['-nope', 'nope']).faults, [
    '"nope" is not in the list of known controllers',
    '"nope" is not in the list of known controllers',
  ])
  const [fault = ''] = parseControllers(['deployment-controller']).faults
  assert.match(fault, /deployment-controller does not run here: run kube-controller-manager/)
  assert.deepEqual(parseControllers(['*', '-deployment-controller', '-podgc']).faults, [])
})
