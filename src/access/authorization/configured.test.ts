import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGates } from '../../api/gates.ts'
import type { WebhookConfig } from '../../config/authorization.ts'
import { Metrics } from '../../lib/telemetry/metrics.ts'
import { Verbosity } from '../../lib/telemetry/verbosity.ts'
import { RoleIndex } from '../rbac/role-index.ts'
import { KubeconfigClient } from '../../net/outbound/kubeconfig-client.ts'
import { ConfiguredAuthorizers } from './configured.ts'
import { AuthorizationMetrics } from './metrics.ts'
import { NodeGraph } from './node/graph.ts'

const webhookAt = (name: string, server: string): WebhookConfig => ({
  type: 'Webhook',
  name,
  webhook: {
    authorizedMs: 0,
    unauthorizedMs: 0,
    timeoutMs: 3_000,
    reviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connection: { type: 'KubeConfigFile', path: '' },
    conditions: [],
  },
  kubeconfig: {
    server,
    tlsServerName: '',
    isInsecure: false,
    certificateAuthority: '',
    proxyUrl: '',
    credentials: { kind: 'none' },
    clientCertificate: null,
    impersonate: null,
  },
})

test('if a new authorizer chain cannot be built, the old chain and its webhook clients stay in use', (t) => {
  const configured = new ConfiguredAuthorizers([webhookAt('old', 'https://old.example')], {
    roles: new RoleIndex(),
    nodes: { graph: new NodeGraph(), rules: () => [], gates: defaultGates },
    metrics: new AuthorizationMetrics(new Metrics()),
    gates: defaultGates,
    log: () => undefined,
    verbosity: new Verbosity(0),
    random: () => 0,
    answerPattern: () => assert.fail('no pattern is matched'),
  })
  const { links } = configured.chain
  const { mock } = t.mock.method(KubeconfigClient.prototype, Symbol.dispose)
  const disposed = (): number => new Set(mock.calls.map((call) => call.this)).size
  assert.throws(
    () =>
      configured.replace([webhookAt('new', 'https://new.example'), webhookAt('faulty', 'no URL')]),
    TypeError,
  )
  assert.equal(configured.chain.links, links)
  assert.equal(disposed(), 1, 'only the client of the new webhook is closed')
  configured[Symbol.dispose]()
  assert.equal(disposed(), 2, 'the client of the old webhook is closed when the server stops')
})
