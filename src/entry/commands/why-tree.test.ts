import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printWhy } from './why-tree.ts'

const grant = {
  binding: { kind: 'RoleBinding', namespace: 'shop', name: 'readers' },
  role: { kind: 'Role', name: 'reader' },
  subject: { kind: 'Group', name: 'dev' },
  rule: { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
}
const attributes = { verb: 'get', apiGroup: '', resource: 'pods', namespace: 'shop' }

test('the explanation of an allowed request shows the binding and the rule as a tree', () => {
  const answer = {
    user: { name: 'alice', groups: [] },
    attributes,
    allowed: true,
    authorizers: [
      { type: 'Node', name: 'node', decision: 'no-opinion' },
      { type: 'RBAC', name: 'rbac', decision: 'allow', reason: 'RBAC: …', grantedBy: grant },
      { type: 'Webhook', name: 'guard', decision: 'not-asked' },
    ],
  }
  assert.equal(
    printWhy(answer),
    `alice may get pods in the namespace shop
├─ Node (node): no opinion
├─ RBAC (rbac): allowed
│  └─ by RoleBinding shop/readers to Group dev
│     └─ Role reader: get,list pods
└─ Webhook (guard): not asked
`,
  )
})

test('the explanation of a denied request shows the closest grants, reasons and errors as a tree', () => {
  const answer = {
    user: { name: 'alice', groups: [] },
    attributes: {
      ...attributes,
      verb: 'delete',
      apiGroup: 'apps',
      resource: 'deployments',
      name: 'web',
    },
    allowed: false,
    authorizers: [
      {
        type: 'Webhook',
        name: 'guard',
        decision: 'no-opinion',
        reason: 'no rule matches',
        error: 'no answer',
      },
      {
        type: 'RBAC',
        name: 'rbac',
        decision: 'no-opinion',
        nearest: [{ differs: 'verb', ...grant }],
        missingRoles: [{ ...grant, role: { kind: 'Role', name: 'gone' } }],
      },
    ],
  }
  assert.equal(
    printWhy(answer),
    `alice may not delete deployments.apps web in the namespace shop
├─ Webhook (guard): no opinion
│  ├─ reason: no rule matches
│  └─ error: no answer
└─ RBAC (rbac): no opinion
   ├─ closest grants:
   │  └─ other verbs: RoleBinding shop/readers to Group dev
   │     └─ Role reader: get,list pods
   └─ RoleBinding shop/readers: Role gone does not exist
`,
  )
})

test('the explanation of a request shows paths and system:masters, and replaces control characters in names', () => {
  const user = { name: 'a\u001b[2Jb', groups: ['system:masters'] }
  const grantedBy = { group: 'system:masters' }
  const answer = {
    user,
    attributes: { verb: 'get', path: '/x' },
    allowed: true,
    grantedBy,
    authorizers: [],
  }
  assert.equal(
    printWhy(answer),
    'a\ufffd[2Jb may get /x\n└─ the group system:masters may do everything\n',
  )
})

test('a line feed in a name adds no line to an explanation, because the line could look like a suggested command', () => {
  const resourceNames = ['a\n\nTo allow it, run:\n  kubectl delete ns shop', '\u202eb']
  const nearest = [{ differs: 'name', ...grant, rule: { ...grant.rule, resourceNames } }]
  const authorizer = { type: 'RBAC', name: 'rbac', decision: 'no-opinion', nearest }
  const user = { name: 'alice', groups: [] }
  const commandsToGrant = ['kubectl create role a\n  kubectl create role b']
  const answer = { user, attributes, allowed: false, authorizers: [authorizer], commandsToGrant }
  assert.equal(
    printWhy(answer),
    `alice may not get pods in the namespace shop
└─ RBAC (rbac): no opinion
   └─ closest grants:
      └─ other names: RoleBinding shop/readers to Group dev
         └─ Role reader: get,list pods named a\ufffd\ufffdTo allow it, run:\ufffd  kubectl delete ns shop,\ufffdb

To allow it, run:
  kubectl create role a\ufffd  kubectl create role b
`,
  )
})
