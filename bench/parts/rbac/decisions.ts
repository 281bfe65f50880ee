/**
 * Measures how long an RBAC decision among 100,000 bindings takes, how long the index of the
 * bindings takes to build, and how much memory it needs. The objects are those of a cluster of
 * 5,000 namespaces with 20 bindings and 4 roles each, plus 1,000 ClusterRoleBindings.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AccessAttributes } from '../../../src/api/access.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { User } from '../../../src/api/user.ts'
import { authorizeByRoles } from '../../../src/access/rbac/authorizer.ts'
import { keptBinding, keptRules } from '../../../src/access/rbac/read-objects.ts'
import { RoleIndex } from '../../../src/access/rbac/role-index.ts'
import { SharedLists } from '../../../src/lib/collections/shared-lists.ts'
import type { Figure } from '../../report/figure.ts'

const NAMESPACES = 5_000
const BINDINGS_EACH = 20
const ROLES_EACH = 4
const CLUSTER_BINDINGS = 1_000
const CLUSTER_ROLES = 200
/** Number of rules in each role of a namespace. One of the rules has a resource name. */
const RULES_EACH = 3
const ROUNDS = 200_000
const WARM_UP_ROUNDS = 20_000
const BY_GROUP_MICROS_MAX = 5
const WORST_MICROS_MAX = 20
const BUILD_MS_MAX = 2_000
const RULE_BYTES_MAX = 300

const apiVersion = 'rbac.authorization.k8s.io/v1'

/** Rules of a role as large as `admin`: 20 rules of a dozen resources each. */
const longRules = Array.from({ length: 20 }, (_, rule) => ({
  verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
  apiGroups: [`group${rule}.example.com`],
  resources: Array.from({ length: 12 }, (_unused, at) => `resources${rule}-${at}`),
}))

type ObjectName = { readonly name: string; readonly namespace?: string }

const role = (place: ObjectName, rules: KubeObject[string]): KubeObject => ({
  apiVersion,
  kind: place.namespace === undefined ? 'ClusterRole' : 'Role',
  metadata: place,
  rules,
})

const binding = (
  place: ObjectName,
  roleRef: string,
  subjects: readonly (readonly [string, string])[],
): KubeObject => ({
  apiVersion,
  kind: place.namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
  metadata: place,
  roleRef: {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: place.namespace === undefined ? 'ClusterRole' : 'Role',
    name: roleRef,
  },
  subjects: subjects.map(([kind, name]) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })),
})

/**
 * Yields a separate copy of the rules for each role, because roles that are decoded from storage do
 * not share their rules either.
 */
function* roles(): Generator<KubeObject> {
  for (let at = 0; at < CLUSTER_ROLES; at++)
    yield copy(role({ name: `cluster-role-${at}` }, longRules))
  for (let at = 0; at < NAMESPACES; at++) {
    const namespace = `team-namespace-${at}`
    for (let of = 0; of < ROLES_EACH; of++) {
      const rules = [
        {
          verbs: ['get', 'list', 'watch'],
          apiGroups: [''],
          resources: ['pods', 'services', 'configmaps'],
        },
        {
          verbs: ['create', 'update', 'patch', 'delete'],
          apiGroups: ['apps'],
          resources: ['deployments'],
        },
        {
          verbs: ['get'],
          apiGroups: [''],
          resources: ['secrets'],
          resourceNames: [`secret-of-team-${at}-${of}`],
        },
      ]
      yield copy(role({ name: `role-${of}`, namespace }, rules))
    }
  }
}

function* bindings(): Generator<KubeObject> {
  for (let at = 0; at < CLUSTER_BINDINGS; at++) {
    const name = `cluster-binding-${at}`
    yield copy(
      binding({ name }, `cluster-role-${at % CLUSTER_ROLES}`, [
        ['Group', `cluster-group-${at % 50}`],
      ]),
    )
  }
  for (let at = 0; at < NAMESPACES; at++) {
    const namespace = `team-namespace-${at}`
    for (let of = 0; of < BINDINGS_EACH; of++) {
      const subject =
        of % 2 === 0
          ? (['User', `person-${at}-${of}`] as const)
          : (['Group', `team-${at}-${of}`] as const)
      yield copy(
        binding({ name: `binding-${of}`, namespace }, `role-${of % ROLES_EACH}`, [subject]),
      )
    }
  }
}

const copy = (object: KubeObject): KubeObject => JSON.parse(JSON.stringify(object))

function build(): { readonly index: RoleIndex; readonly ms: number } {
  const allRoles = [...roles()]
  const allBindings = [...bindings()]
  const shared = new SharedLists()
  const index = new RoleIndex()
  const before = performance.now()
  for (const object of allRoles) index.setRole(placeOf(object), keptRules(object, shared))
  for (const object of allBindings) addBinding(index, object, shared)
  return { index, ms: performance.now() - before }
}

function addBinding(index: RoleIndex, object: KubeObject, shared: SharedLists): void {
  const place = placeOf(object)
  index.setBinding(place, keptBinding(object, place.namespace, shared))
}

const placeOf = ({ metadata: { name = '', namespace = '' } }: KubeObject) => ({ name, namespace })

/**
 * Returns the memory of the index in bytes. The objects from which it was built are
 * garbage-collected before the measurement.
 */
function weigh(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  const before = process.memoryUsage().heapUsed
  const shared = new SharedLists()
  const index = new RoleIndex()
  for (const object of roles()) index.setRole(placeOf(object), keptRules(object, shared))
  for (const object of bindings()) addBinding(index, object, shared)
  collect()
  const { heapUsed } = process.memoryUsage()
  if (index.size.bindings === 0) throw new Error('there are no bindings')
  return heapUsed - before
}

const asks = (
  verb: string,
  plural: string,
  namespace: string,
  more: object = {},
): AccessAttributes => ({
  kind: 'resource',
  verb,
  group: '',
  version: 'v1',
  plural,
  subresource: '',
  namespace,
  name: 'x',
  ...more,
})

const user = (name: string, groups: readonly string[]): User => ({
  name,
  uid: '',
  groups: [...groups, 'system:authenticated'],
})

const manyGroups = Array.from({ length: 40 }, (_, at) => `directory-group-${at}`)
const clusterGroups = Array.from({ length: 5 }, (_, at) => `cluster-group-${at}`)

type Shape = {
  readonly name: string
  readonly user: User
  readonly asks: AccessAttributes
  readonly isAllowed: boolean
}

const byGroup: Shape = {
  name: 'allowed by a group, in a namespace',
  user: user('somebody', ['team-77-1']),
  asks: asks('get', 'pods', 'team-namespace-77'),
  isAllowed: true,
}
const shapes: readonly Shape[] = [
  {
    name: 'allowed by a group, in the cluster',
    user: user('somebody', ['cluster-group-7']),
    asks: asks('patch', 'resources19-11', 'team-namespace-77', { group: 'group19.example.com' }),
    isAllowed: true,
  },
  {
    name: 'refused: 40 groups, no binding',
    user: user('somebody', manyGroups),
    asks: asks('get', 'pods', 'team-namespace-77'),
    isAllowed: false,
  },
  {
    name: 'refused: 100 long ClusterRoles',
    user: user('somebody', clusterGroups),
    asks: asks('patch', 'resources19-11', 'team-namespace-77', {
      group: 'group18.example.com',
      subresource: 'status',
    }),
    isAllowed: false,
  },
  {
    name: 'refused: a path, 100 long ClusterRoles',
    user: user('somebody', clusterGroups),
    asks: { kind: 'path', verb: 'get', path: '/metrics/slis' },
    isAllowed: false,
  },
  {
    name: 'allowed behind 100 long ClusterRoles',
    user: user('somebody', [...clusterGroups, 'team-77-1']),
    asks: asks('get', 'secrets', 'team-namespace-77', { name: 'secret-of-team-77-1' }),
    isAllowed: true,
  },
]

export function benchRoles(): Figure[] {
  const bytes = weigh()
  const { index, ms } = build()
  const count =
    NAMESPACES * (BINDINGS_EACH + ROLES_EACH * RULES_EACH) +
    CLUSTER_BINDINGS +
    CLUSTER_ROLES * longRules.length
  return [
    {
      name: `RBAC: index of ${index.size.bindings} bindings, ${index.size.roles} roles`,
      value: ms,
      unit: 'ms',
      target: { below: BUILD_MS_MAX },
    },
    {
      name: 'RBAC: memory of a rule or a binding',
      value: bytes / count,
      unit: 'bytes',
      target: { below: RULE_BYTES_MAX },
    },
    decide(index, byGroup, BY_GROUP_MICROS_MAX),
    ...shapes.map((shape) => decide(index, shape, WORST_MICROS_MAX)),
  ]
}

function decide(
  index: RoleIndex,
  { name, user: who, asks: what, isAllowed }: Shape,
  below: number,
): Figure {
  const run = (rounds: number): void => {
    for (let round = 0; round < rounds; round++) {
      const { verdict } = authorizeByRoles(index, who, what)
      if ((verdict === 'allow') !== isAllowed) throw new Error(`${name}: ${verdict}`)
    }
  }
  run(WARM_UP_ROUNDS)
  const before = process.cpuUsage()
  run(ROUNDS)
  const { user: userMicros, system } = process.cpuUsage(before)
  return {
    name: `RBAC: ${name}`,
    value: (userMicros + system) / ROUNDS,
    unit: 'µs CPU',
    target: { below },
  }
}
