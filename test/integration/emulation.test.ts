/**
 * Tests the API that is served with an older `--emulated-version`. The expected results were
 * recorded from kube-apiserver (test/recorded/emulation).
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { checkArgs } from '../../src/config/config.ts'
import { silent } from '../../src/lib/telemetry/log.ts'
import { realEnvironment } from '../../src/server/environment.ts'
import { startServer } from '../../src/server/server.ts'
import { runs } from '../recorded/emulation/runs.ts'
import { type ServedApi, servedOf } from '../recorded/emulation/served.ts'
import { adminToken, type Client, clients } from './support.ts'

const recording = join(import.meta.dirname, '../recorded/emulation/recorded.json')
const recorded: { readonly [run: string]: ServedApi } = JSON.parse(
  await readFile(recording, 'utf8'),
)

/**
 * Whether a line describes an API version that Keelson does not have, because Kubernetes removed it
 * before 1.33.
 */
const isGone = (line: string): boolean =>
  /^(?:flowcontrol.apiserver.k8s.io\/v1beta3|authentication.k8s.io\/v1beta1) /.test(line)
/**
 * Matches feature gates whose features Keelson does not have. Keelson reports these gates as off.
 */
const absent = /name="(?:ContextualLogging|PortForwardWebsockets|TranslateStream\w+)"/

const shown = (lines: readonly string[]): string[] =>
  lines.filter((line) => !isGone(line)).toSorted()
const gatesOf = (lines: readonly string[]): string[] =>
  lines.filter((line) => !absent.test(line)).toSorted()

async function startEmulated(
  args: readonly string[],
  stack: AsyncDisposableStack,
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-emulation-'))
  stack.defer(() => rm(dir, { recursive: true }))
  const tokens = join(dir, 'tokens.csv')
  await writeFile(tokens, `${adminToken},admin,admin-uid,system:masters\n`)
  const usual = [
    '--store=memory',
    '--bind-address=127.0.0.1',
    `--cert-dir=${dir}`,
    `--token-auth-file=${tokens}`,
  ]
  const checked = checkArgs([...usual, '--disable-admission-plugins=ServiceAccount', ...args])
  if (checked.kind !== 'config') assert.fail(checked.faults.join('\n'))
  return stack.use(
    await startServer(
      { ...checked.config, network: { ...checked.config.network, port: 0 } },
      realEnvironment(silent),
    ),
  ).url
}

for (const [run, args] of Object.entries(runs)) {
  test(`${run}: the served API equals that of kube-apiserver`, async () => {
    await using stack = new AsyncDisposableStack()
    const served = await servedOf(await startEmulated(args, stack))
    const wanted = recorded[run] ?? assert.fail(`${run} is not recorded`)
    assert.deepEqual(served.version, wanted.version)
    assert.deepEqual(shown(served.resources), shown(wanted.resources))
    assert.deepEqual(gatesOf(served.gates), gatesOf(wanted.gates))
  })
}

describe('with an older emulated version, gates that were locked later can be turned off', () => {
  const stack = new AsyncDisposableStack()
  let client: Client
  before(async () => {
    const off = [
      'JobBackoffLimitPerIndex',
      'JobSuccessPolicy',
      'ServiceTrafficDistribution',
      'CustomResourceFieldSelectors',
      'LoadBalancerIPMode',
    ]
    const gates = `--feature-gates=${off.map((name) => `${name}=false`).join(',')}`
    const url = await startEmulated(['--emulated-version=1.31', gates], stack)
    client = stack.use((clients['HTTP/2'] ?? assert.fail())(url))
  })
  after(() => stack.disposeAsync())

  const specOf = async (
    path: string,
    body: object,
  ): Promise<{ readonly [field: string]: unknown }> => {
    const { status, text } = await client.call({ method: 'POST', path, body })
    assert.equal(status, 201, text)
    return JSON.parse(text).spec
  }

  test('with an older emulated version, a Job has no limits per index and no success policy', async () => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    const job = await specOf('/apis/batch/v1/namespaces/default/jobs', {
      metadata: { name: 'j' },
      spec: {
        completionMode: 'Indexed',
        completions: 3,
        parallelism: 3,
        backoffLimitPerIndex: 1,
        maxFailedIndexes: 1,
        successPolicy: { rules: [{ succeededCount: 1 }] },
        template,
      },
    })
    assert.deepEqual(
      [job['backoffLimitPerIndex'], job['maxFailedIndexes'], job['successPolicy']],
      Array(3).fill(undefined),
    )
  })

  test('with an older emulated version, a Service has no traffic distribution and no IP modes', async () => {
    const service = await specOf('/api/v1/namespaces/default/services', {
      metadata: { name: 's' },
      spec: { type: 'LoadBalancer', ports: [{ port: 80 }], trafficDistribution: 'PreferClose' },
    })
    assert.equal(service['trafficDistribution'], undefined)
    const balanced = await client.call({
      method: 'PATCH',
      path: '/api/v1/namespaces/default/services/s/status',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: {
        status: {
          loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'Proxy' }, { ip: '192.0.2.2' }] },
        },
      },
    })
    assert.deepEqual(JSON.parse(balanced.text).status.loadBalancer, {
      ingress: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }],
    })
  })

  test('with an older emulated version, a CustomResourceDefinition has no selectable fields', async () => {
    const schema = {
      openAPIV3Schema: { type: 'object', properties: { colour: { type: 'string' } } },
    }
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      schema,
      selectableFields: [{ jsonPath: '.colour' }],
    }
    const definition = await specOf('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: [version],
      },
    })
    assert.doesNotMatch(JSON.stringify(definition), /selectableFields/)
  })
})
