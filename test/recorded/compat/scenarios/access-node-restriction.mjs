// The NodeRestriction admission plugin: what a kubelet may write, where its path alone does not tell (§5).
import { scenario, APPLY, DELETE, GET, PATCH, POST, PUT } from '../steps.ts';
import { as, clusterBind, clusterCleanup, clusterRole, inForceEverywhere, may, nodeHeaders, person, refusal } from './kit/access.mjs';
import { mastersRequest, nodeRequest, personRequest } from './kit/csr.mjs';

const core = '/api/v1/namespaces/$ns';
const quiet = { compare: 'status' };
const mine = { headers: nodeHeaders('$ns-n'), ...refusal };
const nodes = ['/api/v1/nodes/$ns-n', '/api/v1/nodes/$ns-m'];
const s = (id, about, steps, o = {}) => scenario(`node-restriction-${id}`, { section: '5', about, needs: 'node-restriction', ...o, cleanup: [...nodes, ...(o.cleanup ?? [])] }, steps);

const node = (name = '$ns-n', metadata = {}, spec = {}) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata }, spec });
const made = (object = node(), o = {}) => POST('/api/v1/nodes', object, { ...quiet, ...o });
const own = nodes[0];
const labelled = (labels) => PATCH(own, 'merge', { metadata: { labels } }, mine);
const free = { 'example.com/a': 'b', plain: 'c', 'kubernetes.io/hostname': 'h', 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64', 'beta.kubernetes.io/os': 'linux', 'beta.kubernetes.io/arch': 'amd64', 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', 'failure-domain.beta.kubernetes.io/zone': 'z', 'failure-domain.beta.kubernetes.io/region': 'r', 'node.kubernetes.io/instance-type': 't', 'beta.kubernetes.io/instance-type': 't', 'node.kubernetes.io/other': 'x', 'sub.node.kubernetes.io/x': 'x', 'kubelet.kubernetes.io/x': 'x', 'a.kubelet.kubernetes.io/x': 'x' };
const forbidden = { 'node-restriction.kubernetes.io/x': 'y', 'a.node-restriction.kubernetes.io/x': 'y', 'node-role.kubernetes.io/control-plane': '', 'kubernetes.io/other': 'x', 'other.kubernetes.io/x': 'y', 'k8s.io/x': 'y', 'a.k8s.io/x': 'y' };
const taint = { key: 'k', value: 'v', effect: 'NoSchedule' };
const configSource = { configMap: { namespace: '$ns', name: 'c', kubeletConfigKey: 'k' } };
const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' }];
const everything = [clusterRole('$ns-granted', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }), clusterBind('$ns-granted', 'ClusterRole/$ns-granted', person('system:node:$ns-n')), ...inForceEverywhere];
const ofNodes = [
  s('node-create', 'its own Node, with labels that are its own', [POST('/api/v1/nodes', node('$ns-n', { labels: free }), mine), POST('/api/v1/nodes', node('$ns-m'), mine), POST('/api/v1/nodes', node(undefined, { generateName: '$ns-' }), mine)]),
  s('node-create-labels', 'without those of others', [POST('/api/v1/nodes', node('$ns-n', { labels: { ...free, ...forbidden } }), mine), ...Object.keys(forbidden).map((key) => POST('/api/v1/nodes', node('$ns-n', { labels: { [key]: 'x' } }), mine))]),
  s('node-create-taints', 'with taints, if they are there from the start', [POST('/api/v1/nodes', node('$ns-n', {}, { taints: [taint] }), mine)]),
  s('node-create-config-source', 'without a source of configuration', [POST('/api/v1/nodes', node('$ns-n', {}, { configSource }), mine)]),
  s('node-create-owners', 'with owners', [POST('/api/v1/nodes', node('$ns-n', { ownerReferences }), mine)]),
  s('node-update', 'its own, by update, patch and apply', [made(), labelled({ a: 'b' }), PUT(own, node('$ns-n', { labels: { a: 'c' } }), mine), APPLY(own, 'm', node('$ns-n', { labels: { d: 'e' } }), mine), PATCH(own, 'merge', { spec: { unschedulable: true } }, mine), PATCH(own, 'json', [{ op: 'add', path: '/metadata/annotations', value: { a: 'b' } }], mine)]),
  s('node-update-other', 'not that of others', [made(), made(node('$ns-m')), PATCH(nodes[1], 'merge', { metadata: { labels: { a: 'b' } } }, mine), PUT(nodes[1], node('$ns-m'), mine), PATCH(`${nodes[1]}/status`, 'merge', { status: { conditions: [] } }, mine), APPLY(nodes[1], 'm', node('$ns-m'), mine)]),
  s('node-update-creates', 'an apply creates its own only', [APPLY(nodes[1], 'm', node('$ns-m'), mine), APPLY(own, 'm', node('$ns-n', { labels: { 'kubernetes.io/other': 'x' } }), mine), APPLY(own, 'm', node('$ns-n', { labels: { 'example.com/a': 'x' } }), mine)]),
  s('node-labels-add', 'adding labels', [made(), labelled(free), labelled(forbidden), ...Object.keys(forbidden).map((key) => labelled({ [key]: 'x' }))]),
  s('node-labels-change', 'changing and removing labels that an administrator set', [made(node('$ns-n', { labels: { ...free, ...forbidden } })), labelled({ 'node-restriction.kubernetes.io/x': 'z', plain: 'd' }), labelled({ 'kubernetes.io/other': null }), labelled({ plain: null, 'kubernetes.io/os': null }), PUT(own, node(), mine)]),
  s('node-labels-status', 'labels through the status', [made(), PATCH(`${own}/status`, 'merge', { metadata: { labels: { 'node-restriction.kubernetes.io/x': 'y' } } }, mine), PATCH(`${own}/status`, 'merge', { metadata: { labels: { plain: 'y' } } }, mine)]),
  s('node-taints', 'its taints', [made(node('$ns-n', {}, { taints: [taint] })), PATCH(own, 'merge', { spec: { taints: null } }, mine), PATCH(own, 'merge', { spec: { taints: [taint, { key: 'l', effect: 'NoExecute' }] } }, mine), PATCH(own, 'merge', { spec: { taints: [{ ...taint, value: 'w' }] } }, mine), PATCH(`${own}/status`, 'merge', { spec: { taints: [] } }, mine), PATCH(own, 'merge', { spec: { podCIDR: '10.1.0.0/24' } }, mine)]),
  s('node-owners', 'its owners', [made(), PATCH(own, 'merge', { metadata: { ownerReferences } }, mine), PATCH(`${own}/status`, 'merge', { metadata: { ownerReferences } }, mine)]),
  s('node-config-source', 'the source of its configuration', [made(), PATCH(own, 'merge', { spec: { configSource } }, mine)]),
  s('node-status', 'its status', [made(), PATCH(`${own}/status`, 'strategic', { status: { conditions: [{ type: 'Ready', status: 'True' }], capacity: { cpu: '4' } } }, mine), PUT(`${own}/status`, node(), mine)]),
  s('node-delete', 'it may delete its own if a role allows it', [...everything, made(), made(node('$ns-m')), DELETE(nodes[1], undefined, mine), DELETE(own, undefined, mine)], { cleanup: clusterCleanup }),
];

const pods = `${core}/pods`;
const annotations = { 'kubernetes.io/config.mirror': 'x' };
const owner = { apiVersion: 'v1', kind: 'Node', name: '$ns-n', uid: '${n.metadata.uid}', controller: true };
const made1 = made(node(), { id: 'n' });
const mirror = (spec = {}, metadata = {}) => POST(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', annotations, ownerReferences: [owner], ...metadata }, spec: { nodeName: '$ns-n', containers: [{ name: 'c', image: 'i' }], ...spec } }, mine);
const pod = (name, spec = {}, o = {}) => POST(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { nodeName: '$ns-n', containers: [{ name: 'c', image: 'i' }], ...spec } }, { ...quiet, ...o });
const volume = (source) => ({ volumes: [{ name: 'v', ...source }] });
const ofMirrors = [
  s('mirror', 'a mirror pod of its own', [made1, mirror()]),
  s('mirror-annotation', 'other pods than mirrors', [made1, mirror({}, { annotations: {} }), mirror({}, { annotations: { 'kubernetes.io/config.mirrors': 'x' } })]),
  s('mirror-node', 'for another node, or none', [made1, mirror({ nodeName: '$ns-m' }), mirror({ nodeName: undefined })]),
  s('mirror-owners', 'with an owner that is not the node', [made1, mirror({}, { ownerReferences: [] }), mirror({}, { ownerReferences: undefined }), mirror({}, { ownerReferences: [owner, { ...owner, uid: 'x', controller: false }] }), mirror({}, { ownerReferences: [{ ...owner, kind: 'Pod' }] }), mirror({}, { ownerReferences: [{ ...owner, apiVersion: 'v2' }] }), mirror({}, { ownerReferences: [{ ...owner, name: '$ns-m' }] }), mirror({}, { ownerReferences: [{ ...owner, controller: false }] }), mirror({}, { ownerReferences: [{ ...owner, controller: undefined }] }), mirror({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }), mirror({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: false }] })]),
  s('mirror-uid', 'with another uid', [made1, mirror({}, { ownerReferences: [{ ...owner, uid: 'other' }] })]),
  s('mirror-no-node', 'before the Node exists', [mirror({}, { ownerReferences: [{ ...owner, uid: 'other' }] })]),
  s('mirror-account', 'with an account', [made1, mirror({ serviceAccountName: 'default' }), mirror({ automountServiceAccountToken: true })]),
  s('mirror-secrets', 'with secrets', [made1, mirror({ imagePullSecrets: [{ name: 's' }] }), mirror(volume({ secret: { secretName: 's' } })), mirror(volume({ projected: { sources: [{ secret: { name: 's' } }] } })), mirror({ containers: [{ name: 'c', image: 'i', envFrom: [{ secretRef: { name: 's' } }] }] }), mirror({ initContainers: [{ name: 'd', image: 'i', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }] }), mirror(volume({ csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }))]),
  s('mirror-configmaps', 'with config maps', [made1, mirror(volume({ configMap: { name: 'm' } })), mirror(volume({ projected: { sources: [{ configMap: { name: 'm' } }] } })), mirror({ containers: [{ name: 'c', image: 'i', env: [{ name: 'E', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }] }] })]),
  s('mirror-claims', 'with claims', [made1, mirror(volume({ persistentVolumeClaim: { claimName: 'c' } })), mirror(volume({ ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } } }))]),
  s('mirror-token', 'with a token of an account', [made1, mirror(volume({ projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } }))]),
  s('mirror-devices', 'with resource claims and trust bundles', [made1, mirror({ resourceClaims: [{ name: 'r', resourceClaimName: 'c' }] }), mirror(volume({ projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'p' } }] } }))], { needs: 'node-restriction-devices' }),
];

const evict = (name) => POST(`${pods}/${name}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }, mine);
const soon = { ...GET(`${pods}/p`, { headers: nodeHeaders('$ns-n'), ...quiet, note: 'until the graph has it' }), kind: 'poll', ms: 15000, until: (_, status) => status === 200 };
const two = [pod('p', {}, { id: 'p' }), pod('q', { nodeName: '$ns-m' }, { id: 'q' }), soon];
const status = (name, body, verb = 'merge') => PATCH(`${pods}/${name}/status`, verb, body, mine);
const ofPods = [
  s('pod-delete', 'it deletes its own pods', [...two, DELETE(`${pods}/q`, undefined, mine), DELETE(`${pods}/none`, undefined, mine), DELETE(`${pods}/p`, undefined, mine)]),
  s('pod-status', 'it writes the status of its own pods', [...two, status('p', { status: { message: 'm' } }), status('q', { status: { message: 'm' } }), status('none', { status: { message: 'm' } }), status('p', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, 'strategic'), status('p', { metadata: { annotations: { a: 'b' } } })]),
  s('pod-status-labels', 'and no labels by the way', [...two, status('p', { metadata: { labels: { a: 'b' } } }), pod('l'), PATCH(`${pods}/l`, 'merge', { metadata: { labels: { a: '' } } }, quiet), status('l', { metadata: { labels: { a: null } } }), status('l', { metadata: { labels: { a: '' } }, status: { message: 'm' } })]),
  s('pod-status-claims', 'and no claims', [pod('p', { resourceClaims: [{ name: 'r', resourceClaimTemplateName: 't' }] }), soon, status('p', { status: { resourceClaimStatuses: [{ name: 'r', resourceClaimName: 'x' }] } }), PATCH(`${pods}/p/status`, 'merge', { status: { resourceClaimStatuses: [{ name: 'r', resourceClaimName: 'x' }] } }, quiet), status('p', { status: { resourceClaimStatuses: null } }), status('p', { status: { resourceClaimStatuses: [{ name: 'r', resourceClaimName: 'y' }] } }), status('p', { status: { message: 'm' } })], { needs: 'node-restriction-devices' }),
  s('pod-evict', 'it evicts its own pods', [...two, evict('q'), evict('none'), evict('p'), { ...GET(`${pods}/p`, quiet), kind: 'poll', ms: 15000, until: (b, st) => st === 404 || b?.metadata?.deletionTimestamp !== undefined }]),
  s('pod-evict-other-name', 'the name of the path counts', [...two, POST(`${pods}/q/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }, mine), POST(`${pods}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'q' } }, mine)]),
  s('pod-delete-collection', 'pods by a collection', [...everything, ...two, DELETE(pods, undefined, mine), GET(`${pods}/p`, quiet), GET(`${pods}/q`, quiet)], { cleanup: clusterCleanup }),
  s('account-more-rights', 'accounts themselves, with all rights', [...everything, POST(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }, mine), PATCH(`${core}/serviceaccounts/a`, 'merge', { metadata: { labels: { a: 'b' } } }, mine), DELETE(`${core}/serviceaccounts/a`, undefined, mine)], { cleanup: clusterCleanup }),
  s('node-delete-collection', 'nodes by a collection', [...everything, made(node('$ns-n', { labels: { l: '$ns' } })), DELETE('/api/v1/nodes', undefined, { ...mine, query: { labelSelector: 'l=$ns' } }), GET(own, quiet)], { cleanup: clusterCleanup }),
  s('node-generate-name', 'a Node by generateName, with all rights', [...everything, POST('/api/v1/nodes', node(undefined, { generateName: '$ns-' }), mine)], { cleanup: clusterCleanup }),
  s('pod-more-rights', 'with all rights by a role it is restricted, too', [...everything, ...two, PATCH(`${pods}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, mine), PATCH(`${pods}/q`, 'merge', { metadata: { labels: { a: 'b' } } }, mine), POST(`${pods}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'x' } }, mine), PATCH(`${pods}/p/ephemeralcontainers`, 'merge', { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } }, mine), PATCH(`${pods}/p/resize`, 'merge', {}, mine), POST(`${core}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }, mine)], { cleanup: clusterCleanup }),
];

const tokenOf = (account, spec, o = {}) => POST(`${core}/serviceaccounts/${account}/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }, { ...mine, ...o });
const account = POST(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }, quiet);
const bound = (name, uid, more = {}) => ({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, ...(uid ? { uid } : {}) }, ...more });
const ofP = (more) => bound('p', '${p.metadata.uid}', more);
const twoOf = (spec = {}) => [account, pod('p', { serviceAccountName: 'sa', ...spec }, { id: 'p' }), pod('q', { serviceAccountName: 'sa', nodeName: '$ns-m' }, { id: 'q' }), soon];
const projected = (...audiences) => volume({ projected: { sources: audiences.map((audience, i) => ({ serviceAccountToken: { path: `p${i}`, ...(audience ? { audience } : {}) } })) } });
const driver = (name, ...audiences) => POST('/apis/storage.k8s.io/v1/csidrivers', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name }, spec: { tokenRequests: audiences.map((audience) => ({ audience })) } }, quiet);
const driverName = '$ns.example.com', driverPath = `/apis/storage.k8s.io/v1/csidrivers/${driverName}`;
const claim = (name, spec = {}) => POST(`${core}/persistentvolumeclaims`, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '', ...spec } }, quiet);
const pv = '/api/v1/persistentvolumes/$ns-v';
const persistent = (spec) => POST('/api/v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: '$ns-v' }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], claimRef: { namespace: '$ns', name: 'c' }, ...spec } }, quiet);
const asks = (spec, ...steps) => [...steps, ...twoOf(spec), tokenOf('sa', ofP({ audiences: ['a'] })), tokenOf('sa', ofP({ audiences: ['b'] }))];
const mayAsk = (...rules) => [clusterRole('$ns-granted', ...rules), clusterBind('$ns-granted', 'ClusterRole/$ns-granted', person('system:node:$ns-n')), ...inForceEverywhere];
const audienceRule = (resources, rest = {}) => may('request-serviceaccounts-token-audience', resources, rest);
const ofTokens = [
  s('token', 'a token that is bound to its own pod', [...twoOf(projected('')), tokenOf('sa', ofP())]),
  s('token-unbound', 'not bound to a pod', [...twoOf(), tokenOf('sa', {}), tokenOf('sa', { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'u' } }), tokenOf('sa', { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: '$ns-n', uid: 'u' } }), tokenOf('sa', { boundObjectRef: { apiVersion: 'v2', kind: 'Pod', name: 'p', uid: 'u' } }), tokenOf('sa', { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', uid: 'u' } })]),
  s('token-uid', 'without its uid, or with another', [...twoOf(), tokenOf('sa', bound('p')), tokenOf('sa', bound('p', 'other'))]),
  s('token-other', 'bound to a pod of another node, or to none', [...twoOf(), tokenOf('sa', bound('q', '${q.metadata.uid}')), tokenOf('sa', bound('none', 'u'))]),
  s('token-other-account', 'of the account of another pod', [...twoOf(), tokenOf('default', ofP())]),
  s('token-audiences', 'audiences of projected volumes', [...twoOf(projected('a', 'b')), tokenOf('sa', ofP({ audiences: ['a'] })), tokenOf('sa', ofP({ audiences: ['b'] })), tokenOf('sa', ofP({ audiences: ['c'] })), tokenOf('sa', ofP({ audiences: ['a', 'b'] })), tokenOf('sa', ofP({ audiences: [''] }))]),
  s('token-own-audience', 'that of the server, where a volume asks for it', [...twoOf({ automountServiceAccountToken: false, ...projected('a') }), tokenOf('sa', ofP()), tokenOf('sa', ofP({ audiences: ['a'] }))]),
  s('token-audience-csi', 'audiences of an inline CSI volume', asks(volume({ csi: { driver: driverName } }), driver(driverName, 'a')), { cleanup: [driverPath] }),
  s('token-audience-csi-missing', 'of a driver that is not there', asks(volume({ csi: { driver: driverName } }))),
  s('token-audience-claim', 'of the driver of a claim', asks(volume({ persistentVolumeClaim: { claimName: 'c' } }), driver(driverName, 'a'), claim('c', { volumeName: '$ns-v' }), persistent({ csi: { driver: driverName, volumeHandle: 'h' } })), { cleanup: [driverPath, pv] }),
  s('token-audience-claim-missing', 'of claims and volumes that are not there', [claim('c'), claim('d', { volumeName: '$ns-none' }), ...asks({ volumes: ['none', 'c', 'd'].map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) })]),
  s('token-audience-ephemeral', 'of the driver of an ephemeral volume', [driver(driverName, 'a'), claim('p-v', { volumeName: '$ns-v' }), persistent({ csi: { driver: driverName, volumeHandle: 'h' } }), ...asks(volume({ ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } } }))], { cleanup: [driverPath, pv] }),
  s('token-audience-migrated', 'of the driver that has replaced a kind of volume', [driver('pd.csi.storage.gke.io', 'a'), ...asks(volume({ gcePersistentDisk: { pdName: 'd' } }))], { cleanup: ['/apis/storage.k8s.io/v1/csidrivers/pd.csi.storage.gke.io'] }),
  s('token-audience-migrated-claim', 'the same of a claim', [driver('ebs.csi.aws.com', 'a'), claim('c', { volumeName: '$ns-v' }), persistent({ awsElasticBlockStore: { volumeID: 'vol-0123456789abcdef0' } }), ...asks(volume({ persistentVolumeClaim: { claimName: 'c' } }))], { cleanup: [pv, '/apis/storage.k8s.io/v1/csidrivers/ebs.csi.aws.com'] }),
  s('token-audience-granted', 'audiences that a role allows', [...mayAsk(audienceRule('a')), ...twoOf(), tokenOf('sa', ofP({ audiences: ['a'] })), tokenOf('sa', ofP({ audiences: ['b'] }))], { cleanup: clusterCleanup }),
  s('token-audience-granted-account', 'for one account', [...mayAsk(audienceRule('*', { resourceNames: ['sb'] })), ...twoOf(), tokenOf('sa', ofP({ audiences: ['a'] }))], { cleanup: clusterCleanup }),
  s('token-audience-off', 'without ServiceAccountNodeAudienceRestriction', [...twoOf(), tokenOf('sa', ofP({ audiences: ['a', 'b'] }))], { needs: 'node-restriction-gates' }),
];

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const lease = (name) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec: { holderIdentity: name } });
const csiNodes = '/apis/storage.k8s.io/v1/csinodes';
const csiNode = (name) => ({ apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name }, spec: { drivers: [] } });
const slices = '/apis/resource.k8s.io/v1beta1/resourceslices';
const slice = (name, spec) => ({ apiVersion: 'resource.k8s.io/v1beta1', kind: 'ResourceSlice', metadata: { name }, spec: { driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, ...spec } });
const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const csr = (signerName, request, o = {}) => POST(csrs, { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-c' }, spec: { request, signerName, usages: ['digital signature', 'client auth'] } }, { ...mine, ...o });
const [serving, client] = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];
const asN1 = { headers: nodeHeaders('n1'), ...refusal };
const claimStatus = (body, verb = 'merge') => PATCH(`${core}/persistentvolumeclaims/c/status`, verb, body, { ...mine, pick: (b) => (b?.kind === 'Status' ? { ...b, message: b.message.split('conditions:')[0] } : { kind: b?.kind }) });
const ofOthers = [
  s('lease', 'its own lease', [POST(leases, lease('$ns-n'), mine), POST(leases, lease('$ns-m'), mine), PATCH(`${leases}/$ns-n`, 'merge', { spec: { leaseDurationSeconds: 40 } }, mine), PUT(`${leases}/$ns-m`, lease('$ns-m'), mine), DELETE(`${leases}/$ns-n`, undefined, mine), PUT(`${leases}/$ns-n`, lease('$ns-n'), mine)], { cleanup: [`${leases}/$ns-n`, `${leases}/$ns-m`] }),
  s('lease-elsewhere', 'in no other namespace', [...everything, POST(`/apis/coordination.k8s.io/v1/namespaces/$ns/leases`, lease('$ns-n'), mine), POST(leases, lease('$ns-m'), mine), POST(leases, lease('$ns-o'), quiet), PATCH(`${leases}/$ns-o`, 'merge', { spec: { leaseDurationSeconds: 40 } }, mine), DELETE(`${leases}/$ns-o`, undefined, mine)], { cleanup: [...clusterCleanup, `${leases}/$ns-m`, `${leases}/$ns-o`] }),
  s('csinode', 'its own CSINode', [POST(csiNodes, csiNode('$ns-n'), mine), POST(csiNodes, csiNode('$ns-m'), mine), PATCH(`${csiNodes}/$ns-n`, 'merge', { metadata: { labels: { a: 'b' } } }, mine), DELETE(`${csiNodes}/$ns-n`, undefined, mine)], { cleanup: [`${csiNodes}/$ns-n`, `${csiNodes}/$ns-m`] }),
  s('csinode-other', 'no other, whatever a role allows', [...everything, POST(csiNodes, csiNode('$ns-m'), quiet), PATCH(`${csiNodes}/$ns-m`, 'merge', { metadata: { labels: { a: 'b' } } }, mine), DELETE(`${csiNodes}/$ns-m`, undefined, mine)], { cleanup: [...clusterCleanup, `${csiNodes}/$ns-m`] }),
  s('slice', 'its own ResourceSlices', [POST(slices, slice('$ns-s', { nodeName: '$ns-n' }), mine), POST(slices, slice('$ns-t', { nodeName: '$ns-m' }), mine), POST(slices, slice('$ns-t', { allNodes: true }), mine), POST(slices, slice('$ns-t', { nodeName: '$ns-m' }), quiet), ...[...everything], DELETE(`${slices}/$ns-t`, undefined, mine), DELETE(`${slices}/$ns-s`, undefined, mine)], { needs: 'node-restriction-devices', cleanup: [...clusterCleanup, `${slices}/$ns-s`, `${slices}/$ns-t`] }),
  s('csr-client', 'a certificate for itself', [csr(client, nodeRequest, asN1)], { cleanup: [`${csrs}/$ns-c`] }),
  s('csr-other', 'for no other node, nor for anybody else', [csr(client, nodeRequest), csr(serving, nodeRequest), csr(client, personRequest), csr(serving, mastersRequest), csr(client, 'eA=='), csr('example.com/s', nodeRequest)], { cleanup: [`${csrs}/$ns-c`] }),
  s('csr-insecure', 'with AllowInsecureKubeletCertificateSigningRequests', [csr(client, nodeRequest)], { needs: 'node-restriction-gates', cleanup: [`${csrs}/$ns-c`] }),
  s('claim-status', 'the capacity and the conditions of a claim', [claim('c'), pod('p', volume({ persistentVolumeClaim: { claimName: 'c' } })), soon, claimStatus({ status: { capacity: { storage: '2Gi' } } }), claimStatus({ status: { conditions: [{ type: 'FileSystemResizePending', status: 'True' }] } }, 'strategic'), claimStatus({ status: { allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } } }), claimStatus({ status: { phase: 'Bound' } }), claimStatus({ metadata: { labels: { a: 'b' } } }), claimStatus({ metadata: { finalizers: ['example.com/f'] } }), claimStatus({ spec: { volumeName: 'x' } }), claimStatus({ status: { accessModes: ['ReadWriteOnce'] } })]),
  s('claim-status-gates', 'what a resize recovers from, without RecoverVolumeExpansionFailure', [claim('c'), pod('p', volume({ persistentVolumeClaim: { claimName: 'c' } })), soon, claimStatus({ status: { capacity: { storage: '2Gi' } } }), claimStatus({ status: { allocatedResources: { storage: '2Gi' } } })], { needs: 'node-restriction-gates' }),
  s('claim', 'not the claim itself', [...everything, claim('c'), PATCH(`${core}/persistentvolumeclaims/c`, 'merge', { metadata: { labels: { a: 'b' } } }, mine), POST(`${core}/persistentvolumeclaims`, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }, mine), DELETE(`${core}/persistentvolumeclaims/c`, undefined, mine)], { cleanup: clusterCleanup }),
  s('nameless', 'a node without a name writes nothing', [clusterRole('$ns-granted', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }), clusterBind('$ns-granted', 'ClusterRole/$ns-granted', { kind: 'User', name: 'system:node:' }), ...inForceEverywhere, POST(`${core}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }, { headers: as('system:node:', { groups: ['system:nodes'] }), ...refusal }), GET(`${core}/configmaps`, { headers: as('system:node:', { groups: ['system:nodes'] }), ...refusal })], { cleanup: clusterCleanup }),
  s('dry-run', 'a dry run is restricted, too', [made(), PATCH(`${own}?dryRun=All`, 'merge', { spec: { taints: [taint] } }, mine), POST('/api/v1/nodes?dryRun=All', node('$ns-m'), mine), POST(`${pods}?dryRun=All`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { nodeName: '$ns-n', containers: [{ name: 'c', image: 'i' }] } }, mine)]),
  s('selectors-off', 'reads without AuthorizeNodeWithSelectors', [made(), made(node('$ns-m')), pod('q', { nodeName: '$ns-m' }), GET(nodes[1], mine), GET('/api/v1/nodes', mine), GET(`${pods}/q`, mine), GET(pods, mine), GET(`${core}/secrets`, mine)], { needs: 'node-restriction-gates' }),
];

export default [...ofNodes, ...ofMirrors, ...ofPods, ...ofTokens, ...ofOthers];
