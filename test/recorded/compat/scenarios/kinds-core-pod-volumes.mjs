// Pods: what makes a volume invalid, source by source.
import { inNs, pod, spec, refused, repeat } from './kit/kinds-core.mjs';

const at = inNs('pods');
const volume = (id, about, rows) => refused(`core-pod-volume-${id}`, { about, at, base: pod({ serviceAccountName: 'sa' }), part: spec }, rows.map(([note, source, more]) => [note, { volumes: Array.isArray(source) ? source : [{ name: 'v', ...source }], ...more }]));
const projected = (...sources) => ({ projected: { sources } });
const item = (i) => ({ secret: { secretName: 's', items: [{ key: 'k', path: 'p', ...i }] } });
const down = (i) => ({ downwardAPI: { items: [{ path: 'p', ...i }] } });
const iscsi = (o) => ({ iscsi: { targetPortal: 'h', iqn: 'iqn.2001-04.com.example:storage', lun: 0, ...o } });
const template = (o, metadata) => ({ ephemeral: { volumeClaimTemplate: { metadata, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...o } } } });
const azure = (o) => ({ azureDisk: { diskName: 'd', diskURI: 'https://h/d.vhd', ...o } });

export default [
  ...volume('names', 'names of volumes and more than one source', [
    ['name missing', { name: undefined, emptyDir: {} }], ['name invalid', { name: 'V_1', emptyDir: {} }], ['name too long', { name: repeat('v', 64), emptyDir: {} }], ['name twice', [{ name: 'v', emptyDir: {} }, { name: 'v', emptyDir: {} }]],
    ['two sources', { emptyDir: {}, hostPath: { path: '/a' } }], ['three sources', { emptyDir: {}, secret: { secretName: 's' }, configMap: { name: 'c' } }], ['the odd path of downwardAPI', { emptyDir: {}, downwardAPI: {} }], ['the odd path of cephfs', { emptyDir: {}, cephfs: { monitors: ['m'] } }],
    ['a bad volume cannot be mounted', { name: 'V', emptyDir: {} }, { containers: [{ name: 'c', image: 'b', volumeMounts: [{ name: 'V', mountPath: '/a' }] }] }],
  ]),
  ...volume('simple', 'emptyDir, hostPath, nfs, persistentVolumeClaim, csi', [
    ['emptyDir size negative', { emptyDir: { sizeLimit: '-1' } }], ['hostPath path missing', { hostPath: {} }], ['hostPath with ..', { hostPath: { path: '/a/../b' } }], ['hostPath type', { hostPath: { path: '/a', type: 'Pipe' } }],
    ['nfs server missing', { nfs: { path: '/a' } }], ['nfs path missing', { nfs: { server: 'h' } }], ['nfs path relative', { nfs: { server: 'h', path: 'a' } }], ['claimName missing', { persistentVolumeClaim: {} }],
    ['csi driver missing', { csi: {} }], ['csi driver invalid', { csi: { driver: 'a_b' } }], ['csi driver too long', { csi: { driver: repeat('a', 64) } }], ['csi secret name missing', { csi: { driver: 'd', nodePublishSecretRef: {} } }], ['csi secret name invalid', { csi: { driver: 'd', nodePublishSecretRef: { name: 'A' } } }],
  ]),
  ...volume('files', 'secret and configMap with items', [
    ['secretName missing', { secret: {} }], ['secret mode too large', { secret: { secretName: 's', defaultMode: 0o1000 } }], ['secret mode negative', { secret: { secretName: 's', defaultMode: -1 } }], ['key missing', item({ key: undefined })], ['path missing', item({ path: undefined })], ['path absolute', item({ path: '/p' })],
    ['path with ..', item({ path: 'a/../b' })], ['path starts with ..', item({ path: '..hidden' })], ['item mode', item({ mode: 512 })], ['configMap name missing', { configMap: {} }], ['configMap mode', { configMap: { name: 'c', defaultMode: 512 } }], ['configMap item', { configMap: { name: 'c', items: [{}] } }],
  ]),
  ...volume('downward', 'downwardAPI', [
    ['mode', { downwardAPI: { defaultMode: 512 } }], ['no reference', down({})], ['both references', down({ fieldRef: { fieldPath: 'metadata.name' }, resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } })], ['path missing', down({ path: undefined, fieldRef: { fieldPath: 'metadata.name' } })], ['path absolute', down({ path: '/a', fieldRef: { fieldPath: 'metadata.name' } })],
    ['fieldPath not for volumes', down({ fieldRef: { fieldPath: 'spec.nodeName' } })], ['fieldPath missing', down({ fieldRef: {} })], ['containerName missing', down({ resourceFieldRef: { resource: 'limits.cpu' } })], ['resource unknown', down({ resourceFieldRef: { containerName: 'c', resource: 'limits.x' } })], ['divisor', down({ resourceFieldRef: { containerName: 'c', resource: 'limits.cpu', divisor: '3' } })], ['item mode', down({ fieldRef: { fieldPath: 'metadata.name' }, mode: -1 })],
  ]),
  ...volume('projected', 'projected volumes', [
    ['mode', { projected: { defaultMode: 512 } }], ['two kinds in one source', projected({ secret: { name: 's' }, configMap: { name: 'c' } })], ['secret name missing', projected({ secret: {} })], ['configMap name missing', projected({ configMap: {} })], ['the same path twice', projected({ secret: { name: 's', items: [{ key: 'k', path: 'p' }] } }, { configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } })],
    ['downwardAPI path twice', projected({ downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }, { path: 'p', fieldRef: { fieldPath: 'metadata.uid' } }] } })], ['token expiration too short', projected({ serviceAccountToken: { path: 't', expirationSeconds: 599 } })], ['token expiration too long', projected({ serviceAccountToken: { path: 't', expirationSeconds: 4294967297 } })], ['token path missing', projected({ serviceAccountToken: {} })],
    ['token path absolute', projected({ serviceAccountToken: { path: '/t' } })], ['token without service account', projected({ serviceAccountToken: { path: 't' } }), { serviceAccountName: undefined }],
  ]),
  ...volume('ephemeral', 'generic ephemeral volumes', [
    ['template missing', { ephemeral: {} }], ['no access modes', template({ accessModes: [] })], ['storage missing', template({ resources: {} })], ['name in the template', template({}, { name: 'x' })], ['generateName and finalizers in the template', template({}, { generateName: 'x', finalizers: ['a/b'] })], ['label invalid', template({}, { labels: { 'a b': 'c' } })],
    ['a claim of the same name', [{ name: 'v', ...template({}) }, { name: 'w', persistentVolumeClaim: { claimName: 'p-v' } }]], ['volumeMode', template({ volumeMode: 'Raw' })],
  ]),
  ...volume('iscsi-fc', 'iscsi and fc', [
    ['targetPortal missing', iscsi({ targetPortal: undefined })], ['iqn missing', iscsi({ iqn: undefined })], ['iqn prefix', iscsi({ iqn: 'abc' })], ['iqn format', iscsi({ iqn: 'iqn.2001' })], ['eui format', iscsi({ iqn: 'eui.123' })], ['naa format', iscsi({ iqn: 'naa.123' })], ['lun negative', iscsi({ lun: -1 })], ['lun too large', iscsi({ lun: 256 })],
    ['chap wants a secret', iscsi({ chapAuthSession: true })], ['initiatorName prefix', iscsi({ initiatorName: 'x' })], ['initiatorName format', iscsi({ initiatorName: 'iqn.x' })], ['name and portal too long', [{ name: repeat('v', 60), ...iscsi({ targetPortal: 'host:3260', initiatorName: 'iqn.2001-04.com.example:a' }) }]],
    ['fc without targets', { fc: {} }], ['fc both targets', { fc: { targetWWNs: ['a'], lun: 1, wwids: ['b'] } }], ['fc lun missing', { fc: { targetWWNs: ['a'] } }], ['fc lun too large', { fc: { targetWWNs: ['a'], lun: 256 } }],
  ]),
  ...volume('old', 'sources of removed drivers are still checked', [
    ['gcePersistentDisk', { gcePersistentDisk: { partition: 256 } }], ['awsElasticBlockStore', { awsElasticBlockStore: { partition: -1 } }], ['gitRepo', { gitRepo: { directory: '/a' } }], ['gitRepo with ..', { gitRepo: { repository: 'r', directory: 'a/..' } }], ['glusterfs', { glusterfs: {} }], ['rbd', { rbd: {} }], ['cephfs', { cephfs: {} }], ['cinder', { cinder: { secretRef: {} } }],
    ['flocker neither', { flocker: {} }], ['flocker both', { flocker: { datasetName: 'a', datasetUUID: 'b' } }], ['flocker slash', { flocker: { datasetName: 'a/b' } }], ['flexVolume driver', { flexVolume: {} }], ['flexVolume reserved option', { flexVolume: { driver: 'd', options: { 'kubernetes.io/x': 'y' } } }], ['flexVolume reserved sub-domain', { flexVolume: { driver: 'd', options: { 'a.K8S.io/x': 'y' } } }],
    ['azureFile', { azureFile: {} }], ['azureDisk', { azureDisk: {} }], ['azureDisk cachingMode', azure({ cachingMode: 'x' })], ['azureDisk kind', azure({ kind: 'x' })], ['azureDisk managed wants a subscription', azure({ kind: 'Managed' })], ['azureDisk shared wants https', azure({ kind: 'Shared', diskURI: '/subscriptions/x' })],
    ['vsphereVolume', { vsphereVolume: {} }], ['photonPersistentDisk', { photonPersistentDisk: {} }], ['portworxVolume', { portworxVolume: {} }], ['scaleIO', { scaleIO: {} }], ['storageos', { storageos: {} }], ['storageos names', { storageos: { volumeName: 'A', volumeNamespace: 'B', secretRef: {} } }],
    ['quobyte', { quobyte: {} }], ['quobyte registry', { quobyte: { registry: 'a', volume: 'v' } }], ['quobyte tenant', { quobyte: { registry: 'a:1', volume: 'v', tenant: repeat('t', 65) } }],
  ]),
];
