/**
 * Tests webhooks that change writes. The tests are Kubernetes' e2e tests ([sig-api-machinery]
 * AdmissionWebhook … [Conformance], webhook.go of v1.33.4). There, the webhook is a Pod; here, it
 * is a server on this machine. These are the original tests and their counterparts:
 *
 * - "should mutate configmap": the second webhook receives the changes of the first.
 * - "should mutate pod and apply defaults after mutation": a container that a webhook adds to a pod
 *   gets defaults.
 * - "should mutate custom resource": webhooks change a custom object.
 * - "should mutate custom resource with pruning": fields that webhooks add but the schema
 *   does not contain are pruned.
 * - "should mutate custom resource with different stored version": webhooks change an object that
 *   is stored in another version.
 * - "should mutate everything except 'skip-me' configmaps": a match condition exempts an object
 *   from a webhook.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Fields, fieldsOf, itemsOf } from '../../../src/api/object.ts'
import { dataOf, fixtureOfFile, mutating } from './fixture.ts'
import { type Custom, onConfigMaps, open, rule, Scope } from './scope.ts'

const fixture = fixtureOfFile()
const path = '/adds-stages'
const start = { start: 'yes' } as const
const first = { ...start, 'stage-1': 'yes' } as const
const second = { ...first, 'stage-2': 'yes' } as const

/**
 * Registers two webhooks that change widgets. As in the original test, only the first webhook is
 * also called for updates.
 */
async function mutateWidgets(scope: Scope, { group }: Custom): Promise<void> {
  const rules = (...operations: string[]): Fields[] => [rule(operations, group, ['widgets'])]
  await scope.register(mutating, [
    scope.webhook('stage-1', { path, rules: rules('CREATE', 'UPDATE') }),
    scope.webhook('stage-2', { path, rules: rules('CREATE') }),
  ])
}

suite('webhooks can change writes', { concurrency: true, timeout: 300_000 }, () => {
  test('the second webhook receives the changes of the first', async () => {
    await using scope = await Scope.begin(fixture())
    await scope.register(mutating, [
      scope.webhook('stage-1', { path, rules: onConfigMaps }),
      scope.webhook('stage-2', { path, rules: onConfigMaps }),
    ])
    assert.deepEqual(dataOf((await scope.createConfigMap('a', start)).body), second)
  })

  test('a container that a webhook adds to a pod gets defaults', async () => {
    await using scope = await Scope.begin(fixture())
    const rules = [rule(['CREATE'], '', ['pods'])]
    await scope.register(mutating, [
      scope.webhook('pods', { path: '/adds-init-containers', rules }),
    ])
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const pods = `/api/v1/namespaces/${scope.name}/pods`
    const made = await fixture().write({
      method: 'POST',
      path: pods,
      body: { metadata: { name: 'to-be-mutated' }, spec },
    })
    const [added, ...others] = itemsOf(fieldsOf(made['spec'])['initContainers'])
    assert.equal(others.length, 0)
    assert.equal(added?.['name'], 'added')
    assert.equal(added['terminationMessagePolicy'], 'File')
  })

  test('webhooks change a custom object', async () => {
    await using scope = await Scope.begin(fixture())
    const custom = await scope.define([open('v1', true)])
    await mutateWidgets(scope, custom)
    const { status, body } = await custom.create('v1', 'a', { data: start })
    assert.equal(status, 201)
    assert.deepEqual(dataOf(body), second)
  })

  test('fields that webhooks add but the schema does not contain are pruned', async () => {
    await using scope = await Scope.begin(fixture())
    const text = { type: 'string' }
    const data = { type: 'object', properties: { start: text, 'stage-1': text } }
    const schema = { openAPIV3Schema: { type: 'object', properties: { data } } }
    const custom = await scope.define([
      { ...open('v1', true), schema },
      { ...open('v2', false), schema },
    ])
    await mutateWidgets(scope, custom)
    const { status, body } = await custom.create('v1', 'a', { data: start })
    assert.equal(status, 201)
    assert.deepEqual(dataOf(body), first)
  })

  test('webhooks change an object that is stored in another version', async () => {
    await using scope = await Scope.begin(fixture())
    const custom = await scope.define([open('v1', true), open('v2', false)])
    await mutateWidgets(scope, custom)
    assert.equal((await custom.create('v1', 'a', { data: start })).status, 201)
    await fixture().write({
      method: 'PATCH',
      path: custom.definition,
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: { spec: { versions: [open('v1', false), open('v2', true)] } },
    })
    await custom.served('v2')
    const changed = await fixture().write({
      method: 'PATCH',
      path: custom.path('v2', 'a'),
      headers: { 'content-type': 'application/json-patch+json' },
      body: [{ op: 'add', path: '/dummy', value: 'test' }],
    })
    assert.deepEqual(dataOf(changed), second)
    assert.equal(changed['dummy'], 'test')
  })

  test('a match condition exempts an object from a webhook', async () => {
    await using scope = await Scope.begin(fixture())
    const matchConditions = [{ name: 'skip-me', expression: "object.metadata.name != 'skip-me'" }]
    const more = { matchConditions }
    await scope.register(mutating, [scope.webhook('stage-1', { path, rules: onConfigMaps, more })])
    assert.deepEqual(dataOf((await scope.createConfigMap('a', start)).body), first)
    assert.deepEqual(dataOf((await scope.createConfigMap('skip-me', start)).body), start)
  })
})
