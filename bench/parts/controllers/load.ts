/**
 * Shared code of the controller benchmarks: a server with controllers enabled, and many objects of
 * many kinds.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startEtcd } from '../../../test/support/harness/etcd.ts'
import { startKeelson } from '../../../test/support/harness/keelson.ts'
import { DefinitionsClient, groupOf } from '../../server/crds.ts'
import { Http2Client } from '../../server/http2-client.ts'

const AT_ONCE = 64
const LOOK_MS = 50

export type ControlledServer = AsyncDisposable & {
  readonly client: Http2Client
  readonly definitions: DefinitionsClient
  readonly pid: number
}

export async function startControlled(controllers = '*'): Promise<ControlledServer> {
  await using stack = new AsyncDisposableStack()
  const etcd = stack.use(await startEtcd({ args: ['--quota-backend-bytes', String(8 << 30)] }))
  const keelson = stack.use(
    await startKeelson({
      etcdUrl: etcd.clientUrl,
      args: controllers === '' ? [] : [`--controllers=${controllers}`],
    }),
  )
  const client = stack.use(
    new Http2Client({ name: 'keelson', server: keelson.url, token: keelson.token }),
  )
  const definitions = stack.use(new DefinitionsClient(keelson.url))
  const owned = stack.move()
  return {
    client,
    definitions,
    pid: keelson.pid,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/**
 * Built-in kinds. When more kinds are needed, custom ones from `bench/server/crds.ts` are added.
 */
const builtIn: readonly { readonly path: string; readonly object: object }[] = [
  { path: '/api/v1/namespaces/$ns/configmaps', object: { data: { text: 'x'.repeat(500) } } },
  { path: '/api/v1/namespaces/$ns/secrets', object: { stringData: { text: 'x'.repeat(100) } } },
  { path: '/api/v1/namespaces/$ns/serviceaccounts', object: {} },
  {
    path: '/api/v1/namespaces/$ns/services',
    object: { spec: { ports: [{ port: 80 }], clusterIP: 'None' } },
  },
  { path: '/api/v1/namespaces/$ns/endpoints', object: {} },
  { path: '/api/v1/namespaces/$ns/limitranges', object: { spec: { limits: [] } } },
  {
    path: '/api/v1/namespaces/$ns/pods',
    object: { spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
  {
    path: '/api/v1/namespaces/$ns/podtemplates',
    object: { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } },
  },
  {
    path: '/apis/coordination.k8s.io/v1/namespaces/$ns/leases',
    object: { spec: { leaseDurationSeconds: 10 } },
  },
  { path: '/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles', object: { rules: [] } },
  {
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings',
    object: {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [],
    },
  },
  {
    path: '/apis/networking.k8s.io/v1/namespaces/$ns/networkpolicies',
    object: { spec: { podSelector: {} } },
  },
  {
    path: '/apis/policy/v1/namespaces/$ns/poddisruptionbudgets',
    object: { spec: { minAvailable: 1 } },
  },
  { path: '/apis/apps/v1/namespaces/$ns/controllerrevisions', object: { revision: 1, data: {} } },
  {
    path: '/apis/discovery.k8s.io/v1/namespaces/$ns/endpointslices',
    object: { addressType: 'IPv4', endpoints: [] },
  },
]

/** Defines custom kinds if needed, and returns the collections of the requested number of kinds. */
export async function collectionsOf(
  kinds: number,
  { definitions }: ControlledServer,
): Promise<readonly { path: string; object: object }[]> {
  const custom = Math.max(0, kinds - builtIn.length)
  await definitions.createAll(custom)
  await definitions.waitUntilServed(custom)
  const defined = Array.from({ length: custom }, (_, at) => ({
    path: `/apis/${groupOf(at)}/v1/namespaces/$ns/things${at}`,
    object: {
      apiVersion: `${groupOf(at)}/v1`,
      kind: `Thing${at}`,
      spec: { field1: 'x'.repeat(100) },
    },
  }))
  return [...builtIn.slice(0, kinds), ...defined]
}

export async function inParallel(
  count: number,
  run: (at: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) await run(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

export const json = { 'content-type': 'application/json', accept: 'application/json' }

export async function post(
  { client }: ControlledServer,
  path: string,
  object: object,
): Promise<{ metadata: { uid: string; name: string } }> {
  const answer = await client.ask({
    method: 'POST',
    path,
    headers: json,
    body: JSON.stringify(object),
  })
  return JSON.parse(answer.toString())
}

/** Polls until the condition holds, and returns the elapsed seconds. */
export async function secondsUntil(isSo: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  while (!(await isSo())) await sleep(LOOK_MS)
  return (performance.now() - began) / 1000
}
