/**
 * Tests that admission configuration is in effect as soon as its write is acknowledged, and no
 * longer in effect once its deletion is acknowledged.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { after, before, test } from 'node:test'
import { json } from 'node:stream/consumers'
import { fieldsOf } from '../../src/api/object.ts'
import { parseText } from '../../src/api/json-value.ts'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import { type Client, clients, startTestServer } from './support.ts'

/** Number of concurrent clients. Each client has its own configuration. */
const CLIENTS = 30
const admission = '/apis/admissionregistration.k8s.io/v1'
const configMaps = '/api/v1/namespaces/default/configmaps'
const { certificatePem: cert, keyPem: key } = createSelfSigned('hook', ['127.0.0.1'], Date.now())

const parts = new AsyncDisposableStack()
let client: Client
let url = ''

/** A webhook server that denies all requests. */
const hook = createServer({ cert, key }, (request, response) => {
  void json(request).then((review) => {
    const { uid } = fieldsOf(fieldsOf(parseText(JSON.stringify(review)))['request'])
    const answer = { uid, allowed: false, status: { code: 403, message: 'no' } }
    response.end(
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: answer,
      }),
    )
  })
})

before(async () => {
  hook.listen(0, '127.0.0.1')
  await once(hook, 'listening')
  const address = hook.address()
  assert.ok(typeof address === 'object' && address !== null)
  url = `https://127.0.0.1:${address.port}/`
  const server = parts.use(await startTestServer([]))
  client = parts.use((clients['HTTP/2'] ?? assert.fail())(server.url))
})

after(async () => {
  await parts.disposeAsync()
  hook.closeAllConnections()
  hook.close()
})

async function send(method: string, path: string, body?: object): Promise<number> {
  const headers = {
    'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
  }
  const { status, text } = await client.call({
    method,
    path,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  assert.ok(status < 400 || text.includes('no'), text)
  return status
}

/** Sends a dry-run create. The status is 201 if no webhook or policy denies the create. */
const create = (name: string): Promise<number> =>
  send('POST', `${configMaps}?dryRun=All`, { metadata: { name, labels: { own: name } } })

const atOnce = async (act: (name: string) => Promise<void>): Promise<void> => {
  await Promise.all(Array.from({ length: CLIENTS }, (_, at) => act(`c${at}`)))
}

const objectSelectorOf = (name: string): object => ({ matchLabels: { own: name } })

const rules = [
  { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
]

const hooks = (name: string, caBundle: string): object => ({
  metadata: { name },
  webhooks: [
    {
      name: 'hook.example.com',
      clientConfig: { url, caBundle },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      failurePolicy: 'Ignore',
      objectSelector: objectSelectorOf(name),
      timeoutSeconds: 30,
      rules,
    },
  ],
})

for (const plural of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']) {
  test(`a change of ${plural} takes effect as soon as it is acknowledged`, () => {
    const trusted = Buffer.from(cert).toString('base64')
    const other = Buffer.from(
      createSelfSigned('other', ['127.0.0.1'], Date.now()).certificatePem,
    ).toString('base64')
    return atOnce(async (name) => {
      const path = `${admission}/${plural}/${name}`
      assert.equal(await send('POST', `${admission}/${plural}`, hooks(name, trusted)), 201)
      assert.equal(await create(name), 403, 'the webhook is called immediately')
      await send('PATCH', path, hooks(name, other))
      assert.equal(await create(name), 201, 'the webhook is no longer trusted')
      await send('PATCH', path, hooks(name, trusted))
      assert.equal(await create(name), 403, 'the webhook is trusted again')
      await send('DELETE', path)
      assert.equal(await create(name), 201, 'the webhook is gone')
    })
  })
}

const policy = (name: string, expression: string): object => ({
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: rules, objectSelector: objectSelectorOf(name) },
    validations: [{ expression, message: 'no' }],
  },
})

test('a change of a validating admission policy or its binding takes effect as soon as it is acknowledged', () => {
  const [policies, bindings] = [
    `${admission}/validatingadmissionpolicies`,
    `${admission}/validatingadmissionpolicybindings`,
  ]
  return atOnce(async (name) => {
    await send('POST', policies, policy(name, 'false'))
    assert.equal(await create(name), 201, 'a policy alone does nothing')
    await send('POST', bindings, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    })
    assert.equal(await create(name), 422, 'the binding applies immediately')
    await send('PATCH', `${policies}/${name}`, policy(name, 'true'))
    assert.equal(await create(name), 201, 'the policy allows everything')
    await send('PATCH', `${policies}/${name}`, policy(name, 'false'))
    assert.equal(await create(name), 422, 'the policy refuses everything')
    await send('DELETE', `${name.endsWith('1') ? policies : bindings}/${name}`)
    assert.equal(await create(name), 201, 'the policy or its binding is gone')
  })
})
