/**
 * Tests webhooks that deny writes. The tests are Kubernetes' e2e tests ([sig-api-machinery]
 * AdmissionWebhook … [Conformance], webhook.go of v1.33.4). There, the webhook is a Pod; here, it
 * is a server on this machine. These are the original tests and their counterparts:
 *
 * - "should be able to deny pod and configmap creation": a webhook that is configured by URL or
 *   Service denies pods and config maps.
 * - "should be able to deny custom resource creation, update and deletion": a webhook denies
 *   creating, updating and deleting a custom object.
 * - "should unconditionally reject operations on fail closed webhook": with failurePolicy Fail, a
 *   webhook that cannot be called causes all requests to be rejected.
 * - "should deny crd creation": a webhook denies a CustomResourceDefinition.
 * - "should honor timeout": a webhook can take as long as its timeout.
 * - "should not be able to mutate or prevent deletion of webhook configuration objects": a webhook
 *   is not called for webhook configurations.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type Fields, fieldsOf } from '../../../src/api/object.ts'
import {
  dataOf,
  definitions,
  fixtureOfFile,
  messageOf,
  mutating,
  type Reach,
  validating,
} from './fixture.ts'
import { forbiddenData, onConfigMaps, open, rule, Scope } from './scope.ts'

const fixture = fixtureOfFile()
const onData = [rule(['CREATE', 'UPDATE', 'DELETE'], '', ['configmaps'])]
const pods = [rule(['CREATE'], '', ['pods'])]

const withMark =
  (mark: string) =>
  (object: Fields): Fields => ({ ...object, data: { ...dataOf(object), 'webhook-test': mark } })

suite('webhooks can deny writes', { concurrency: true, timeout: 300_000 }, () => {
  for (const reach of ['url', 'service'] as const) {
    test(`a webhook that is configured by ${reach} denies pods and config maps`, () =>
      refusesPodsAndConfigMaps(reach))
  }

  test('a webhook denies creating, updating and deleting a custom object', async () => {
    await using scope = await Scope.begin(fixture())
    const custom = await scope.define([open('v1', true)])
    const rules = [rule(['CREATE', 'UPDATE', 'DELETE'], custom.group, ['widgets'])]
    await scope.register(validating, [scope.webhook('data', { path: '/checks-data', rules })])
    const refused = await custom.create('v1', 'a', { data: forbiddenData })
    assert.match(messageOf(refused), /it has forbidden data/)

    const path = custom.path('v1', 'b')
    assert.equal(
      (await custom.create('v1', 'b', { data: { 'webhook-test': 'permanent' } })).status,
      201,
    )
    assert.match(
      messageOf(await scope.update(path, withMark('forbidden'))),
      /it has forbidden data/,
    )
    assert.match(
      messageOf(await fixture().call({ method: 'DELETE', path })),
      /it may not be deleted/,
    )
    assert.equal((await scope.update(path, withMark('fine'))).status, 200)
    assert.equal((await fixture().call({ method: 'DELETE', path })).status, 200)
  })

  test('with failurePolicy Fail, a webhook that cannot be called causes all requests to be rejected', async () => {
    await using scope = await Scope.begin(fixture())
    const { caBundle: _, ...clientConfig } = fixture().clientConfig('/checks-data')
    const more = { clientConfig, failurePolicy: 'Fail' }
    await scope.register(validating, [
      scope.webhook('closed', { path: '', rules: onConfigMaps, more }),
    ])
    const { status, body } = await scope.createConfigMap('a')
    assert.equal(status, 500)
    assert.equal(body['reason'], 'InternalError')
  })

  test('a webhook denies a CustomResourceDefinition', async () => {
    await using scope = await Scope.begin(fixture())
    const rules = [rule(['CREATE'], 'apiextensions.k8s.io', ['customresourcedefinitions'])]
    const objectSelector = { matchLabels: { [scope.name]: 'true' } }
    const more = { objectSelector, namespaceSelector: {} }
    await scope.register(validating, [
      scope.webhook('crds', { path: '/checks-definitions', rules, more }),
    ])
    const group = `${scope.name}.example.com`
    const labels = { [scope.name]: 'true', 'webhook-test': 'forbidden' }
    const names = { plural: 'widgets', kind: 'Widget' }
    const body = {
      metadata: { name: `widgets.${group}`, labels },
      spec: { group, scope: 'Namespaced', names, versions: [open('v1', true)] },
    }
    const refused = await fixture().call({ method: 'POST', path: definitions, body })
    assert.match(messageOf(refused), /it has a forbidden label/)
    assert.equal((await fixture().call({ path: `${definitions}/widgets.${group}` })).status, 404)
  })

  const late = '/allows-late'
  const timeouts: readonly (readonly [string, Fields, boolean])[] = [
    ['a second is too short under Fail', { timeoutSeconds: 1, failurePolicy: 'Fail' }, false],
    [
      'a second is too short, and ignored under Ignore',
      { timeoutSeconds: 1, failurePolicy: 'Ignore' },
      true,
    ],
    ['ten seconds suffice', { timeoutSeconds: 10, failurePolicy: 'Fail' }, true],
    ['the default suffices', { failurePolicy: 'Fail' }, true],
  ]
  for (const [what, more, isAllowed] of timeouts) {
    test(`a webhook can take as long as its timeout: ${what}`, async () => {
      await using scope = await Scope.begin(fixture())
      await scope.register(validating, [
        scope.webhook('late', { path: late, rules: onConfigMaps, more }),
      ])
      const answer = await scope.createConfigMap('a')
      if (isAllowed) assert.equal(answer.status, 201)
      else assert.match(messageOf(answer), /\/allows-late\?timeout=1s": context deadline exceeded/)
    })
  }

  test('a webhook is not called for webhook configurations', async () => {
    await using scope = await Scope.begin(fixture())
    const plurals = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']
    const group = 'admissionregistration.k8s.io'
    // Select the webhooks' objects by a label. The original webhooks also select namespaces, but
    // this has no effect on cluster-scoped objects.
    const more = {
      failurePolicy: 'Fail',
      objectSelector: { matchLabels: { [scope.name]: 'true' } },
    }
    const deletions = [rule(['DELETE'], group, plurals)]
    const creations = [rule(['CREATE'], group, plurals)]
    await scope.register(validating, [
      scope.webhook('deny', { path: '/denies', rules: deletions, more }),
    ])
    await scope.register(mutating, [
      scope.webhook('label', { path: '/adds-labels', rules: creations, more }),
    ])
    const never = [rule(['CREATE'], '', ['invalid'])]
    const dummy = scope.webhook('dummy', {
      path: '',
      rules: never,
      more: { failurePolicy: 'Ignore' },
    })
    for (const path of [validating, mutating]) {
      const name = `${scope.name}-dummy`
      const metadata = { name, labels: { [scope.name]: 'true' } }
      const made = await scope.register(path, [dummy], metadata)
      assert.equal(fieldsOf(fieldsOf(made['metadata'])['labels'])['added'], undefined)
      assert.equal(
        (await fixture().call({ method: 'DELETE', path: `${path}/${name}` })).status,
        200,
      )
    }
  })
})

async function refusesPodsAndConfigMaps(reach: Reach): Promise<void> {
  await using scope = await Scope.begin(fixture())
  const { call } = bound(scope)
  const isSkipped = { key: 'skip-webhooks', operator: 'NotIn', values: ['yes'] }
  const namespaceSelector = { matchLabels: { [scope.name]: 'true' }, matchExpressions: [isSkipped] }
  const { caBundle: _, ...untrusted } = fixture().clientConfig('/checks-data', reach)
  const failing = { clientConfig: untrusted, failurePolicy: 'Ignore' }
  await scope.register(validating, [
    scope.webhook('pods', {
      path: '/checks-pods',
      rules: pods,
      reach,
      more: { timeoutSeconds: 5 },
    }),
    scope.webhook('data', {
      path: '/checks-data',
      rules: onData,
      reach,
      more: { namespaceSelector },
    }),
    scope.webhook('open', { path: '', rules: onConfigMaps, more: failing }),
  ])
  const podPath = `/api/v1/namespaces/${scope.name}/pods`
  const pod = (
    name: string,
    mark: string,
  ): Promise<{ readonly status: number; readonly body: Fields }> => {
    const metadata = { name, labels: { 'webhook-test': mark } }
    return call({
      method: 'POST',
      path: podPath,
      body: { metadata, spec: { containers: [{ name: mark, image: 'i' }] } },
    })
  }
  const refused = messageOf(await pod('a', 'forbidden'))
  assert.match(refused, /it has a forbidden container/)
  assert.match(refused, /it has a forbidden label/)
  const hung = messageOf(await pod('b', 'hang'))
  assert.match(hung, /webhook/)
  assert.match(hung, /deadline/)
  assert.equal((await call({ path: `${podPath}/b` })).status, 404)

  assert.match(messageOf(await scope.createConfigMap('a', forbiddenData)), /it has forbidden data/)
  assert.equal((await scope.createConfigMap('b', { a: 'b' })).status, 201)
  const path = `${scope.configMaps}/b`
  assert.match(messageOf(await scope.update(path, withMark('forbidden'))), /it has forbidden data/)
  const headers = { 'content-type': 'application/strategic-merge-patch+json' }
  assert.match(
    messageOf(await call({ method: 'PATCH', path, headers, body: { data: forbiddenData } })),
    /it has forbidden data/,
  )
  const skipped = await fixture().newNamespace(`${scope.name}-skipped`, {
    [scope.name]: 'true',
    'skip-webhooks': 'yes',
  })
  const made = await call({
    method: 'POST',
    path: `/api/v1/namespaces/${skipped}/configmaps`,
    body: { metadata: { name: 'a' }, data: forbiddenData },
  })
  assert.equal(made.status, 201)
}

const bound = ({ fixture: of }: Scope) => ({ call: of.call.bind(of) })
