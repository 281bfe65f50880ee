/**
 * `npm run bench -- --only access`: measures what RBAC adds to a get and a create. Two users send
 * the same load alternately to one server. The first user is a member of system:masters and
 * bypasses authorization. The second user is allowed by a binding of its group, whose matching rule
 * comes after as many rules as the role `admin` has.
 */
import { createClient } from '../../test/recorded/compat/client.ts'
import { startEtcd } from '../../test/support/harness/etcd.ts'
import type { Figure } from '../report/figure.ts'
import { benchServers } from './main.ts'
import { PackagedKeelson } from './packaged.ts'
import { type Target, targetOf } from './targets.ts'

const loads = ['get', 'create'] as const
/** Target: RBAC increases the cost of a request by at most 3 %. */
const TIMES_MAX = 1.03
const RULES_BEFORE = 20
/** Token of a user in the group `dev`, which all servers of the test harness accept. */
const USER_TOKEN = 'alice-token'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const metadata = { name: 'bench-dev' }
const longRules = Array.from({ length: RULES_BEFORE }, (_, rule) => ({
  verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
  apiGroups: [`group${rule}.example.com`],
  resources: Array.from({ length: 12 }, (_unused, at) => `resources${rule}-${at}`),
}))
const role = {
  metadata,
  rules: [...longRules, { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
}
const binding = {
  metadata,
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'dev' }],
}

export async function benchAccess({ runs }: { readonly runs: number }): Promise<Figure[]> {
  await using etcd = await startEtcd()
  using built = new PackagedKeelson()
  await using keelson = await built.start({ etcdUrl: etcd.clientUrl })
  const masters = targetOf('masters', keelson, etcd.clientUrl)
  await allow(masters)
  const group: Target = { ...masters, name: 'by a group', token: USER_TOKEN }
  const { loads: reports } = await benchServers({ targets: [masters, group], only: loads, runs })
  return Object.entries(reports).flatMap(
    ([load, { masters: without, 'by a group': by }]): Figure[] => {
      if (without === undefined || by === undefined) return []
      return [
        {
          name: `${load}: CPU, allowed by a group against masters`,
          value: by.cpuMicros / without.cpuMicros,
          unit: 'times',
          target: { below: TIMES_MAX },
          note: `${by.cpuMicros.toFixed(0)} against ${without.cpuMicros.toFixed(0)} µs`,
        },
      ]
    },
  )
}

async function allow(target: Target): Promise<void> {
  using client = createClient(target)
  for (const [resource, body] of Object.entries({
    clusterroles: role,
    clusterrolebindings: binding,
  })) {
    const { status } = await client.request({
      method: 'POST',
      path: `${rbac}/${resource}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (status !== 201)
      throw new Error(`${resource} ${metadata.name} could not be created: ${status}`)
  }
}
