/**
 * Tests webhook configurations as objects, and when they take effect. The tests are Kubernetes' e2e
 * tests ([sig-api-machinery] AdmissionWebhook … [Conformance], webhook.go of v1.33.4). There, the
 * webhook is a Pod; here, it is a server on this machine. All tests except the first run for both
 * types of webhooks. These are the original tests and their counterparts:
 *
 * - "should include webhook resources in discovery documents": discovery
 *   contains both types of webhook configurations.
 * - "patching/updating a validating (mutating) webhook should work": an update and a patch of a
 *   configuration take effect.
 * - "listing validating (mutating) webhooks should work": ten configurations are listed and deleted
 *   by a label.
 * - "should be able to create and update validating (mutating) … with match conditions": match
 *   conditions are stored and replaced.
 * - "should reject validating (mutating) webhook configurations with invalid match conditions": an
 *   invalid match condition is rejected.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Fields, fieldsOf, itemsOf } from '../../../src/api/object.ts'
import { type Answer, fixtureOfFile, messageOf, mutating, validating } from './fixture.ts'
import { forbiddenData, isCreated, isDenied, isMutated, onConfigMaps, Scope } from './scope.ts'

const fixture = fixtureOfFile()

type Type = {
  readonly collection: string
  /** Path of the webhook. */
  readonly path: string
  /** Data that makes the webhook deny or change an object. */
  readonly data: Fields
  /** Whether the response shows that the webhook was called. */
  readonly isInForce: (answer: Answer) => boolean
  readonly isNot: (answer: Answer) => boolean
}

const types: Readonly<Record<string, Type>> = {
  validating: {
    collection: validating,
    path: '/checks-data',
    data: forbiddenData,
    isInForce: isDenied,
    isNot: isCreated,
  },
  mutating: {
    collection: mutating,
    path: '/adds-stages',
    data: { start: 'yes' },
    isInForce: isMutated,
    isNot: (answer) => isCreated(answer) && !isMutated(answer),
  },
}

const hasFirst = ({ versions }: Fields): boolean =>
  itemsOf(versions).some(({ version }) => version === 'v1')

suite('webhook configurations can be written and take effect', {
  concurrency: true,
  timeout: 300_000,
}, () => {
  test('discovery contains both types of webhook configurations', async () => {
    const group = 'admissionregistration.k8s.io'
    const { body: all } = await fixture().call({ path: '/apis' })
    const listed = itemsOf(all['groups']).find(({ name }) => name === group)
    assert.ok(listed !== undefined && hasFirst(listed))
    const { body: one } = await fixture().call({ path: `/apis/${group}` })
    assert.equal(one['name'], group)
    assert.ok(hasFirst(one))
    const { body: version } = await fixture().call({ path: `/apis/${group}/v1` })
    assert.equal(version['groupVersion'], `${group}/v1`)
    const names = new Set(itemsOf(version['resources']).map(({ name }) => name))
    assert.ok(
      names.has('mutatingwebhookconfigurations') && names.has('validatingwebhookconfigurations'),
    )
  })

  for (const [name, { collection, path, data, isInForce, isNot }] of Object.entries(types)) {
    test(`${name}: an update and a patch of a configuration take effect`, async () => {
      await using scope = await Scope.begin(fixture())
      await scope.register(collection, [scope.webhook('own', { path, rules: onConfigMaps })])
      await scope.untilConfigMap(data, 'the webhook sees creates', isInForce)
      const updated = await scope.update(`${collection}/${scope.name}`, (object) => {
        const [own, ...others] = itemsOf(object['webhooks'])
        const rules = onConfigMaps.map((one) => ({ ...one, operations: ['UPDATE'] }))
        return { ...object, webhooks: [{ ...own, rules }, ...others] }
      })
      assert.equal(updated.status, 200)
      await scope.untilConfigMap(data, 'the webhook sees no creates', isNot)
      await fixture().write({
        method: 'PATCH',
        path: `${collection}/${scope.name}`,
        headers: { 'content-type': 'application/json-patch+json' },
        body: [{ op: 'replace', path: '/webhooks/0/rules/0/operations', value: ['CREATE'] }],
      })
      await scope.untilConfigMap(data, 'the webhook sees creates again', isInForce)
    })

    test(`${name}: ten configurations are listed and deleted by a label`, async () => {
      await using scope = await Scope.begin(fixture())
      for (let at = 0; at < 10; at++) {
        const metadata = { name: `${scope.name}-${at}`, labels: { list: scope.name } }
        await scope.register(
          collection,
          [scope.webhook('own', { path, rules: onConfigMaps })],
          metadata,
        )
      }
      const selected = `${collection}?labelSelector=list=${scope.name}`
      assert.equal(itemsOf((await fixture().call({ path: selected })).body['items']).length, 10)
      await scope.untilConfigMap(data, 'the webhooks are called', isInForce)
      await fixture().write({ method: 'DELETE', path: selected })
      await scope.untilConfigMap(data, 'no webhook is called', isNot)
    })

    test(`${name}: match conditions are stored and replaced`, async () => {
      await using scope = await Scope.begin(fixture())
      const one = { name: 'expression-1', expression: "object.metadata.namespace == 'production'" }
      const other = { name: 'expression-2', expression: "object.metadata.namespace == 'staging'" }
      const own = `${collection}/${scope.name}`
      const more = { matchConditions: [one] }
      await scope.register(collection, [scope.webhook('own', { path, rules: onConfigMaps, more })])
      assert.deepEqual(await conditionsOf(own), [one])
      const updated = await scope.update(own, (object) => {
        const [first, ...others] = itemsOf(object['webhooks'])
        return { ...object, webhooks: [{ ...first, matchConditions: [one, other] }, ...others] }
      })
      assert.equal(updated.status, 200)
      assert.deepEqual(await conditionsOf(own), [one, other])
    })

    test(`${name}: an invalid match condition is rejected`, async () => {
      await using scope = await Scope.begin(fixture())
      const matchConditions = [
        { name: 'invalid-expression-1', expression: '... [] bad expression' },
      ]
      const webhook = scope.webhook('own', { path, rules: onConfigMaps, more: { matchConditions } })
      const body = { metadata: { name: scope.name }, webhooks: [webhook] }
      const refused = await fixture().call({ method: 'POST', path: collection, body })
      assert.equal(refused.status, 422)
      assert.match(messageOf(refused), /compilation failed/)
    })
  }
})

async function conditionsOf(path: string): Promise<readonly Fields[]> {
  const { body } = await fixture().call({ path })
  return itemsOf(fieldsOf(itemsOf(body['webhooks'])[0])['matchConditions'])
}
