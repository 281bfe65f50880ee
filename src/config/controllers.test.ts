import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseControllers } from './controllers.ts'

const aggregation = 'clusterrole-aggregation-controller'

test('--controllers: * selects all controllers, a name selects one, -name excludes one, and former names are accepted', () => {
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

test('--controllers refuses an unknown name with a suggestion, and the name of a controller that Keelson lacks with advice', () => {
  assert.deepEqual(parseControllers(['-nope', 'nope']).faults, [
    '"nope" is not in the list of known controllers',
    '"nope" is not in the list of known controllers',
  ])
  for (const [given, meant] of [
    ['gc', 'garbage-collector-controller'],
    ['garbage', 'garbage-collector-controller'],
    ['namespaces', 'namespace-controller'],
    ['quota-controller', 'resourcequota-controller'],
  ] as const) {
    const [hint, list = ''] = parseControllers([given]).hints
    assert.equal(hint, `--controllers: ${given}: did you mean ${meant}?`)
    assert.match(
      list,
      /^--controllers accepts bootstrap-signer-controller, .*-NAME to exclude one$/,
    )
  }
  const [fault = ''] = parseControllers(['deployment-controller']).faults
  assert.match(fault, /deployment-controller does not run in Keelson: run kube-controller-manager/)
  assert.deepEqual(parseControllers(['*', '-deployment-controller', '-podgc']).faults, [])
})
