/**
 * Tests mutating policies on a whole server. They take effect for built-in and custom kinds as soon
 * as their write is acknowledged.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Fields, fieldsOf } from '../../src/api/object.ts'
import { parseText } from '../../src/api/json-value.ts'
import { type Client, clients, startTestServer } from './support.ts'

/** Number of concurrent clients. Each client has its own policy. */
const CLIENTS = 30
const admission = '/apis/admissionregistration.k8s.io/v1alpha1'
const configMaps = '/api/v1/namespaces/default/configmaps'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const parts = new AsyncDisposableStack()
let client: Client

before(async () => {
  const server = await startTestServer([
    '--feature-gates=MutatingAdmissionPolicy=true',
    '--runtime-config=admissionregistration.k8s.io/v1alpha1=true',
  ])
  parts.use(server)
  client = parts.use((clients['HTTP/2'] ?? assert.fail())(server.url))
})

after(() => parts.disposeAsync())

async function send(method: string, path: string, body?: object): Promise<Fields> {
  const headers = { 'content-type': 'application/json' }
  const { status, text } = await client.call({
    method,
    path,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  assert.ok(status < 300, text)
  return fieldsOf(parseText(text))
}

async function install(
  name: string,
  { rule, expression }: { rule: object; expression: string },
): Promise<void> {
  const resourceRules = [{ operations: ['CREATE'], apiVersions: ['v1'], ...rule }]
  await send('POST', `${admission}/mutatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules, objectSelector: { matchLabels: { own: name } } },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      reinvocationPolicy: 'Never',
    },
  })
  await send('POST', `${admission}/mutatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name },
  })
}

const created = async (name: string): Promise<Fields> =>
  fieldsOf(
    (await send('POST', `${configMaps}?dryRun=All`, { metadata: { name, labels: { own: name } } }))[
      'data'
    ],
  )

test('a policy takes effect when its binding is acknowledged, and ends when the deletion of the binding is acknowledged', async () => {
  const rule = { apiGroups: [''], resources: ['configmaps'] }
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, at) => {
      const name = `c${at}`
      await install(name, { rule, expression: `Object{data: {"by": "${name}"}}` })
      assert.deepEqual({ ...(await created(name)) }, { by: name })
      await send('DELETE', `${admission}/mutatingadmissionpolicybindings/${name}`)
      assert.deepEqual({ ...(await created(name)) }, {})
    }),
  )
})

test('a custom kind is mutated as soon as it is served', async () => {
  const spec = {
    type: 'object',
    properties: {
      size: { type: 'integer' },
      host: { type: 'string', default: 'h' },
      at: { type: 'array', items: { type: 'string' } },
    },
  }
  await send('POST', definitions, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  })
  await install('w', {
    rule: { apiGroups: ['example.com'], resources: ['widgets'] },
    expression: 'Object{spec: Object.spec{size: object.spec.size + 1}}',
  })
  const path = '/apis/example.com/v1/namespaces/default/widgets'
  const metadata = { name: 'w', labels: { own: 'w' } }
  const made = await until(() =>
    send('POST', path, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata,
      spec: { size: 1 },
    }),
  )
  assert.deepEqual({ ...fieldsOf(made['spec']) }, { size: 2, host: 'h' })
})

/**
 * Repeats a request until it succeeds, because a resource is served some milliseconds after its
 * definition is stored.
 */
async function until(act: () => Promise<Fields>): Promise<Fields> {
  for (let tries = 0; ; tries++) {
    try {
      return await act()
    } catch (error) {
      if (tries === 600) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
