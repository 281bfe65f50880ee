import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  admit,
  anObject,
  attributes,
  MemoryObjects,
  pod,
} from '../../../test/support/harness/admission.ts'
import { defaultGates } from '../../api/gates.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { User } from '../../api/user.ts'
import type { Attributes } from '../admission.ts'
import { createNodeRestriction } from './plugin.ts'

const kubelet: User = {
  name: 'system:node:n',
  uid: '',
  groups: ['system:nodes', 'system:authenticated'],
}
const objects = new MemoryObjects()
objects.put('nodes', '', anObject('Node', 'n', { metadata: { uid: 'un' } }))
objects.put('pods', 'n', pod({ nodeName: 'n' }, { name: 'mine', namespace: 'n', uid: 'um' }))
objects.put('pods', 'n', pod({ nodeName: 'm' }, { name: 'other', namespace: 'n', uid: 'uo' }))

const restriction = (gates = defaultGates) =>
  createNodeRestriction({
    objects,
    authorize: () => ({ verdict: 'no-opinion', reason: '' }),
    gates,
  })
const plugin = restriction()

type AttributesInput = Partial<Attributes> & {
  readonly plural: string
  readonly group?: string
  readonly user?: User
}

async function ask(asked: AttributesInput, asks = plugin): Promise<string> {
  const answer = await admit(asks, attributes({ user: kubelet, ...asked }))
  return typeof answer === 'string' ? answer.replace(/^403 .* is forbidden: /, '') : 'fine'
}

const node = (labels: Fields = {}, spec: Fields = {}, name = 'n'): KubeObject =>
  anObject('Node', name, { metadata: { labels }, spec })
const update = (object: KubeObject, oldObject: KubeObject) =>
  ask({ plural: 'nodes', operation: 'UPDATE', object, oldObject })

const set = (...keys: readonly string[]) =>
  update(node(Object.fromEntries(keys.map((key) => [key, 'x']))), node())

test('a kubelet can set only a few of the Kubernetes labels on its Node', async () => {
  const fine = [
    'a',
    'example.com/a',
    'kubernetes.io/os',
    'x.kubelet.kubernetes.io/y',
    'notkubernetes.io/x',
    'notk8s.io/x',
  ]
  assert.equal(await set(...fine, 'node.kubernetes.io/x'), 'fine')
  for (const key of [
    'kubernetes.io/x',
    'a.k8s.io/x',
    'node-restriction.kubernetes.io/x',
    'x.node-restriction.kubernetes.io/y',
  ]) {
    assert.equal(await set(key, ...fine), `is not allowed to modify labels: ${key}`)
    assert.equal(
      await update(node(), node({ [key]: 'x' })),
      `is not allowed to modify labels: ${key}`,
    )
  }
  // A subdomain of the restricted domain is also restricted.
  assert.notEqual(
    await set(
      'node-restriction.kubernetes.io.node.example.com/x',
      'a.node-restriction.kubernetes.io/x',
    ),
    'fine',
  )
})

test('a kubelet cannot change another node or the taints of its own node', async () => {
  const other = node({}, {}, 'm')
  assert.equal(await update(other, other), 'node "n" is not allowed to modify node "m"')
  assert.equal(
    await ask({ plural: 'nodes', object: other }),
    'node "n" is not allowed to modify node "m"',
  )
  const tainted = node({}, { taints: [{ key: 'k', effect: 'NoSchedule' }] })
  assert.equal(await update(node(), tainted), 'node "n" is not allowed to modify taints')
  assert.equal(await update(tainted, node()), 'node "n" is not allowed to modify taints')
  assert.equal(await update(tainted, tainted), 'fine')
  assert.equal(await ask({ plural: 'nodes', object: tainted }), 'fine')
})

test('users other than kubelets, and CONNECT requests, are not restricted', async () => {
  assert.equal(
    await ask({ plural: 'nodes', object: node({}, {}, 'm'), user: { ...kubelet, groups: [] } }),
    'fine',
  )
  assert.equal(await ask({ plural: 'pods', subresource: 'exec', operation: 'CONNECT' }), 'fine')
  const nameless = { ...kubelet, name: 'system:node:' }
  assert.match(
    await ask({ plural: 'configmaps', object: anObject('ConfigMap', 'c'), user: nameless }),
    /^could not determine node/,
  )
})

const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'un', controller: true }]
const mirror = (spec: Fields, metadata: Fields = {}): KubeObject =>
  pod(
    { nodeName: 'n', ...spec },
    { annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences, ...metadata },
  )

const create = (object: KubeObject) => ask({ plural: 'pods', object })

const volume = (source: Fields) => ({ volumes: [{ name: 'v', ...source }] })

test('a kubelet can create only mirror pods that are bound to its node and do not refer to other objects', async () => {
  assert.equal(await create(mirror({})), 'fine')
  assert.match(
    await create(mirror({ nodeName: 'm' })),
    /can only create pods with spec.nodeName set to itself/,
  )
  assert.match(await create(mirror({}, { annotations: {} })), /can only create mirror pods/)
  assert.match(
    await create(mirror({}, { ownerReferences: [] })),
    /an owner reference set to itself/,
  )
  assert.match(await create(mirror({ imagePullSecrets: [{ name: 's' }] })), /reference secrets/)
  assert.match(
    await create(mirror(volume({ persistentVolumeClaim: { claimName: 'c' } }))),
    /persistentvolumeclaims/,
  )
  assert.match(await create(mirror({ resourceClaims: [{ name: 'r' }] })), /resourceclaims/)
})

const projected = (source: Fields): Fields => ({ projected: { sources: [source] } })

test('since 1.34, a kubelet cannot create mirror pods that need any object of the API', async () => {
  const newer = restriction({ release: 34, isOn: () => false })
  const fault = async (source: Fields): Promise<string> =>
    (await ask({ plural: 'pods', object: mirror(volume(source)) }, newer)).replace(/^.* pods? /, '')
  assert.equal(await fault({ hostPath: { path: '/' } }), 'fine')
  assert.equal(await fault(projected({ downwardAPI: {} })), 'fine')
  for (const [source, what] of [
    [{ csi: { driver: 'd' } }, 'that reference csidrivers (via CSI volumes)'],
    [{ ephemeral: {} }, 'that reference persistentvolumeclaims (via ephemeral volumes)'],
    [
      projected({ serviceAccountToken: {} }),
      'that reference serviceaccounts (via projected volumes)',
    ],
    [projected({}), 'for API references: unknown source for projected volume "v"'],
  ] as const)
    assert.equal(await fault(source), what)
})

const evict = (name: string) =>
  ask({ plural: 'pods', subresource: 'eviction', name, object: anObject('Eviction', 'mine') })

const status = (object: KubeObject, oldObject: KubeObject) =>
  ask({ plural: 'pods', subresource: 'status', operation: 'UPDATE', object, oldObject })

const remove = (oldObject: KubeObject) =>
  ask({ plural: 'pods', operation: 'DELETE', name: 'p', oldObject })

test('a kubelet can evict, delete and update the status of only those pods that are bound to its node', async () => {
  assert.equal(await evict('mine'), 'fine')
  assert.equal(await evict('other'), 'node n can only evict pods with spec.nodeName set to itself')
  assert.equal(await evict('none'), '404 pod "none" not found')
  const own = pod({ nodeName: 'n' })
  assert.equal(await status({ ...own, status: { message: 'm' } }, own), 'fine')
  // The plugin checks the stored object, which is bound to the node. It does not check the object
  // in the request.
  assert.match(await status(own, pod({ nodeName: 'm' })), /can only update pod status/)
  assert.match(
    await status(pod({ nodeName: 'n' }, { labels: { a: 'b' } }), own),
    /cannot update labels/,
  )
  assert.equal(await remove(own), 'fine')
  assert.match(await remove(pod({ nodeName: 'm' })), /can only delete pods/)
})

const request = (ref: Fields, audiences: readonly string[] = []) =>
  ask({
    plural: 'serviceaccounts',
    subresource: 'token',
    name: 'sa',
    object: anObject('TokenRequest', '', {
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', ...ref }, audiences },
    }),
  })

test('a token that a kubelet requests must be bound to a pod of its node and contain the uid of the pod', async () => {
  const about =
    'audience "" not found in pod spec volume, system:node:n is not authorized to request tokens for this audience'
  assert.equal(await request({ name: 'mine', uid: 'um' }), about)
  assert.equal(
    await request({ name: 'mine', uid: 'um' }, ['a', 'b']),
    'node may only request 0 or 1 audiences',
  )
  assert.equal(
    await request({ name: 'mine' }),
    'node requested token with a pod binding without a uid',
  )
  assert.match(await request({ name: 'mine', uid: 'x' }), /does not match the UID in record/)
  assert.match(await request({ name: 'other', uid: 'uo' }), /a pod scheduled on a different node/)
  assert.equal(
    await request({ kind: 'Node', name: 'n', uid: 'un' }),
    'node requested token not bound to a pod',
  )
})

const [plural, group] = ['leases', 'coordination.k8s.io']
const write = (name: string, namespace = 'kube-node-lease') =>
  ask({ plural, group, namespace, object: anObject('Lease', name) })

test('a kubelet can write only its own lease', async () => {
  assert.equal(await write('n'), 'fine')
  assert.equal(
    await write('m'),
    'can only access node lease with the same name as the requesting node',
  )
  assert.match(await write('n', 'n'), /^can only access leases in the "kube-node-lease"/)
})
