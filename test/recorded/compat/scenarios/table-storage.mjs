// Rows of volumes, claims, classes and CSI objects.
import { scenario, GET, POST, PATCH, DELETE } from '../steps.ts';
import { TABLE, accept, cells, table } from './kit/shapes.mjs';

const named = (name, o, metadata = {}) => ({ metadata: { name, ...metadata }, ...o });
const dry = (id, about, path, object, pick = table) => scenario(`table-${id}`, { section: '2.6', about, namespace: false }, [POST(path, object, { ...accept(TABLE), query: { dryRun: 'All', includeObject: 'None' }, pick })]);

const volumes = '/api/v1/persistentvolumes';
const volume = (o = {}, metadata) => named('$ns-v', { spec: { capacity: { storage: '1024Mi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' }, ...o } }, metadata);
const pv = (id, about, object, { status, after = [], pick = cells } = {}) => scenario(`table-persistentvolume-${id}`, { section: '2.6', about, cleanup: [`${volumes}/$ns-v`] }, [
  POST(volumes, object, { compare: 'status' }), ...(status ? [PATCH(`${volumes}/$ns-v/status`, 'merge', { status }, { compare: 'status' })] : []), ...after, GET(`${volumes}/$ns-v?includeObject=None`, { ...accept(TABLE), pick }),
]);
const volumeRows = [
  pv('new', 'A new volume in full', volume(), { pick: table }),
  pv('bound', 'A bound volume with a class, a mode and a reason', volume({ storageClassName: 'fast', accessModes: ['ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOnce'], volumeMode: 'Block', persistentVolumeReclaimPolicy: 'Delete', claimRef: { namespace: '$ns', name: 'c' } }), { status: { phase: 'Bound', reason: 'Because', message: 'no matter' } }),
  pv('once-pod', 'The mode of a single Pod', volume({ accessModes: ['ReadWriteOncePod'] })),
  pv('annotated-class', 'A class given by the old annotation wins', volume({ storageClassName: 'new' }, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } })),
  pv('terminating', 'A deleted volume that is still protected', volume({}, { finalizers: ['example.com/f'] }), { status: { phase: 'Bound' }, after: [DELETE(`${volumes}/$ns-v`, undefined, { compare: 'status' })] }),
];

const claims = '/api/v1/namespaces/$ns/persistentvolumeclaims';
const claim = (name, o = {}, metadata) => named(name, { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...o } }, metadata);
const pvc = (id, about, objects, { pick = cells, after = [] } = {}) => scenario(`table-persistentvolumeclaim-${id}`, { section: '2.6', about }, [
  ...objects.flatMap(([object, status]) => [POST(claims, object, { compare: 'status' }), ...(status ? [PATCH(`${claims}/${object.metadata.name}/status`, 'merge', { status }, { compare: 'status' })] : [])]), ...after, GET(`${claims}?includeObject=None`, { ...accept(TABLE), pick }),
]);
const claimRows = [
  pvc('new', 'A new claim shows neither capacity nor modes', [[claim('c', { storageClassName: 'fast' })]], { pick: table }),
  pvc('bound', 'A bound claim shows those of its status', [[claim('c', { storageClassName: 'fast', volumeName: 'v', volumeMode: 'Block' }), { phase: 'Bound', capacity: { storage: '2048Mi' }, accessModes: ['ReadWriteMany', 'ReadWriteOnce'] }]]),
  pvc('named-not-bound', 'A claim of a volume without a status', [[claim('c', { storageClassName: '', volumeName: 'v' })]]),
  pvc('lost', 'A lost claim', [[claim('c', { storageClassName: 'x', volumeName: 'v' }), { phase: 'Lost' }]]),
  pvc('annotated-class', 'A class given by the old annotation wins', [[claim('c', { storageClassName: 'new' }, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } })]]),
  pvc('terminating', 'A deleted claim that is still protected', [[claim('c', { storageClassName: 'x' }, { finalizers: ['example.com/f'] })]], { after: [DELETE(`${claims}/c`, undefined, { compare: 'status' })] }),
];

const classes = '/apis/storage.k8s.io/v1/storageclasses';
const drivers = '/apis/storage.k8s.io/v1/csidrivers';
const others = [
  dry('storageclass', 'A StorageClass with defaults', classes, named('oracle-class', { provisioner: 'example.com/p' })),
  dry('storageclass-full', 'A StorageClass with everything set', classes, named('oracle-class', { provisioner: 'example.com/p', reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer', allowVolumeExpansion: true }), cells),
  dry('storageclass-default', 'The default StorageClass says so in its name', classes, named('oracle-class', { provisioner: 'example.com/p' }, { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }), cells),
  dry('storageclass-default-beta', 'The old annotation for the default counts too', classes, named('oracle-class', { provisioner: 'example.com/p' }, { annotations: { 'storageclass.beta.kubernetes.io/is-default-class': 'true' } }), cells),
  dry('storageclass-not-default', 'Only the value true makes a default', classes, named('oracle-class', { provisioner: 'example.com/p' }, { annotations: { 'storageclass.kubernetes.io/is-default-class': 'yes' } }), cells),
  dry('csidriver', 'A CSIDriver with defaults', drivers, named('oracle.example.com', { spec: {} })),
  dry('csidriver-full', 'A CSIDriver with everything set', drivers, named('oracle.example.com', { spec: { attachRequired: false, podInfoOnMount: true, storageCapacity: true, requiresRepublish: true, tokenRequests: [{ audience: 'a' }, { audience: 'b', expirationSeconds: 3600 }], volumeLifecycleModes: ['Persistent', 'Ephemeral'] } }), cells),
  dry('csinode', 'A CSINode', '/apis/storage.k8s.io/v1/csinodes', named('oracle-node', { spec: { drivers: [{ name: 'a.example.com', nodeID: '1', topologyKeys: [] }, { name: 'b.example.com', nodeID: '2', topologyKeys: [] }] } })),
  dry('csinode-empty', 'A CSINode without drivers', '/apis/storage.k8s.io/v1/csinodes', named('oracle-node', { spec: { drivers: [] } }), cells),
  scenario('table-csistoragecapacity', { section: '2.6', about: 'Storage capacities' }, [['sized', { capacity: '1024Mi' }], ['unsized', {}]].map(([name, o]) => POST('/apis/storage.k8s.io/v1/namespaces/$ns/csistoragecapacities', named(name, { storageClassName: 'fast', ...o }), { ...accept(TABLE), query: { includeObject: 'None' }, pick: table }))),
  scenario('table-volumeattachment', { section: '2.6', about: 'A VolumeAttachment, before and after', cleanup: ['/apis/storage.k8s.io/v1/volumeattachments/$ns-a'] }, [
    POST('/apis/storage.k8s.io/v1/volumeattachments', named('$ns-a', { spec: { attacher: 'example.com', nodeName: 'n', source: { persistentVolumeName: 'v' } } }), { ...accept(TABLE), query: { includeObject: 'None' }, pick: table }),
    PATCH('/apis/storage.k8s.io/v1/volumeattachments/$ns-a/status', 'merge', { status: { attached: true } }, { ...accept(TABLE), query: { includeObject: 'None' }, pick: cells }),
  ]),
];

export default [...volumeRows, ...claimRows, ...others];
