// storage.k8s.io/v1: StorageClass, CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment.
import { kind } from './kit/kinds-groups.mjs';

const apiVersion = 'storage.k8s.io/v1';
const storageClass = kind({ apiVersion, resource: 'storageclasses', kind: 'StorageClass', cluster: true, base: { provisioner: 'example.com/p' } });
const driver = kind({ apiVersion, resource: 'csidrivers', kind: 'CSIDriver', cluster: true, base: { spec: {} } });
const csiNode = kind({ apiVersion, resource: 'csinodes', kind: 'CSINode', cluster: true, base: { spec: { drivers: [{ name: 'd.example.com', nodeID: 'n1' }] } } });
const capacity = kind({ apiVersion, resource: 'csistoragecapacities', kind: 'CSIStorageCapacity', base: { storageClassName: 'fast' } });
const attachment = kind({ apiVersion, resource: 'volumeattachments', kind: 'VolumeAttachment', cluster: true, base: { spec: { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } } } });

const topology = (...matchLabelExpressions) => ({ allowedTopologies: [{ matchLabelExpressions }] });
const drivers = (...d) => ({ 'spec.drivers': d });
const inline = { accessModes: ['ReadWriteOnce'], csi: { driver: 'd.example.com', volumeHandle: 'h' } };

export default [
  // StorageClass
  ...storageClass.creates({
    minimal: {},
    maximal: { parameters: { b: '2', a: '1' }, reclaimPolicy: 'Retain', mountOptions: ['ro', ''], allowVolumeExpansion: true, volumeBindingMode: 'WaitForFirstConsumer', ...topology({ key: 'topology.kubernetes.io/zone', values: ['z1', 'z2'] }) },
    'deprecated-topology-key': topology({ key: 'failure-domain.beta.kubernetes.io/zone', values: ['z'] }),
  }),
  ...storageClass.accepts({
    'default-class': { 'metadata.annotations': { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: [{ provisioner: 'Example.com/UPPER' }, { provisioner: 'plain' }, { provisioner: 'kubernetes.io/no-provisioner' }],
    'reclaim-policy': { reclaimPolicy: '' },
    'empty-parameters': { parameters: {} },
    'allowed-topologies': [{ allowedTopologies: [] }, topology({ key: 'a', values: ['1'] }, { key: 'b', values: ['1'] })],
  }),
  ...storageClass.refuses({
    name: { 'metadata.name': 'A' },
    provisioner: [{ provisioner: undefined }, { provisioner: '' }, { provisioner: 'a/b/c' }, { provisioner: 'bad value' }],
    'reclaim-policy': [{ reclaimPolicy: 'Recycle' }, { reclaimPolicy: 'Keep' }],
    'binding-mode': [{ volumeBindingMode: 'Later' }, { volumeBindingMode: '' }],
    parameters: [{ parameters: { '': 'v' } }, { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`k${i}`, 'v'])) }, { parameters: { k: 'v'.repeat(262144) } }],
    'allowed-topologies': [topology(), topology({ key: 'a', values: [] }), topology({ key: '', values: ['v'] }), topology({ key: 'a', values: ['1', '1'] }), topology({ key: 'a', values: ['1'] }, { key: 'a', values: ['2'] }), { allowedTopologies: [{}, {}] },
      { allowedTopologies: [{ matchLabelExpressions: [{ key: 'a', values: ['1'] }] }, { matchLabelExpressions: [{ key: 'a', values: ['1'] }] }] }],
  }),
  ...storageClass.updates({
    fixed: [{ provisioner: 'other' }, { parameters: { a: '2' } }, { parameters: null }, { reclaimPolicy: 'Retain' }, { volumeBindingMode: 'WaitForFirstConsumer' }, { provisioner: '', reclaimPolicy: 'Keep' }],
    free: [{ allowVolumeExpansion: true, mountOptions: ['rw'], allowedTopologies: [{ matchLabelExpressions: [{ key: 'k', values: ['v'] }] }] }, { reclaimPolicy: null, volumeBindingMode: null }],
  }, { from: { parameters: { a: '1' } } }),
  ...storageClass.puts(),

  // CSIDriver
  ...driver.creates({
    minimal: {},
    maximal: { spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral', 'Persistent'], storageCapacity: true, fsGroupPolicy: 'File', tokenRequests: [{ audience: 'a', expirationSeconds: 600 }, { audience: '' }], requiresRepublish: true, seLinuxMount: true, nodeAllocatableUpdatePeriodSeconds: 60 } },
    'generation-kept': { 'metadata.generation': 5 },
  }),
  ...driver.accepts({ 'fs-group-policy': [{ 'spec.fsGroupPolicy': 'None' }], 'lifecycle-modes-twice': { 'spec.volumeLifecycleModes': ['Persistent', 'Persistent'] }, 'spec-missing': { spec: undefined }, 'update-period-dropped': { 'spec.nodeAllocatableUpdatePeriodSeconds': 1 } }),
  ...driver.refuses({
    name: [{ 'metadata.name': 'A' }, { 'metadata.name': 'a'.repeat(254) }],
    'fs-group-policy': [{ 'spec.fsGroupPolicy': 'Always' }, { 'spec.fsGroupPolicy': '' }],
    'lifecycle-modes': { 'spec.volumeLifecycleModes': ['Persistent', 'Forever'] },
    'token-requests': [{ 'spec.tokenRequests': [{ audience: 'a' }, { audience: 'a' }] }, { 'spec.tokenRequests': [{ audience: 'a', expirationSeconds: 599 }] }, { 'spec.tokenRequests': [{ audience: 'a', expirationSeconds: 4294967297 }] }],
  }),
  ...driver.updates({
    fixed: [{ spec: { attachRequired: false } }, { spec: { volumeLifecycleModes: ['Ephemeral'] } }, { spec: { attachRequired: null, volumeLifecycleModes: null } }],
    free: [{ spec: { podInfoOnMount: true, storageCapacity: true, fsGroupPolicy: 'None', tokenRequests: [{ audience: 'b' }], requiresRepublish: true } }],
  }),
  ...driver.strategy({ spec: { spec: { podInfoOnMount: true } } }),
  ...driver.puts(),

  // CSINode
  ...csiNode.creates({
    minimal: { spec: undefined },
    maximal: drivers({ name: 'd.example.com', nodeID: 'id', topologyKeys: ['example.com/zone', 'rack'], allocatable: { count: 0 } }, { name: 'e', nodeID: 'x' }),
  }),
  ...csiNode.accepts({ 'node-id': drivers({ name: 'd', nodeID: 'a'.repeat(256) }), 'empty-allocatable': drivers({ name: 'd', nodeID: 'n', allocatable: {} }), 'drivers-null': { 'spec.drivers': null } }),
  ...csiNode.refuses({
    name: { 'metadata.name': 'A' },
    'driver-name': [drivers({ nodeID: 'n' }), drivers({ name: 'Bad_Name', nodeID: 'n' }), drivers({ name: 'a'.repeat(64), nodeID: 'n' }), drivers({ name: 'd', nodeID: 'n' }, { name: 'd', nodeID: 'm' }), drivers({ name: 'UPPER', nodeID: 'n' }, { name: '-', nodeID: 'n' })],
    'node-id': [drivers({ name: 'd' }), drivers({ name: 'd', nodeID: 'a'.repeat(257) })],
    'topology-keys': [drivers({ name: 'd', nodeID: 'n', topologyKeys: ['', 'a', 'a', 'bad key'] })],
    allocatable: drivers({ name: 'd', nodeID: 'n', allocatable: { count: -1 } }),
  }),
  ...csiNode.updates({
    'existing-driver': [{ spec: { drivers: [{ name: 'd.example.com', nodeID: 'n2' }] } }, { spec: { drivers: [{ name: 'd.example.com', nodeID: 'n1', allocatable: { count: 2 } }] } }, { spec: { drivers: [{ name: 'd.example.com', nodeID: 'n1', topologyKeys: ['a'] }] } }],
    'other-drivers': [{ spec: { drivers: [] } }, { spec: { drivers: [{ name: 'd.example.com', nodeID: 'n1' }, { name: 'new', nodeID: 'n' }] } }, { spec: { drivers: [{ name: 'new', nodeID: '' }] } }],
  }),
  ...csiNode.puts(),

  // CSIStorageCapacity
  ...capacity.creates({
    minimal: {},
    maximal: { nodeTopology: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] }, capacity: '1Gi', maximumVolumeSize: '0.5Gi' },
    'deprecated-topology-key': { nodeTopology: { matchLabels: { 'failure-domain.beta.kubernetes.io/zone': 'z' } } },
  }),
  ...capacity.accepts({ 'maximum-volume-size': { maximumVolumeSize: '-1' }, capacity: { capacity: 0 } }),
  ...capacity.refuses({
    'storage-class-name': [{ storageClassName: undefined }, { storageClassName: 'A' }],
    'node-topology': { nodeTopology: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    capacity: { capacity: '-1' },
  }),
  ...capacity.updates({ any: [{ storageClassName: 'slow' }, { nodeTopology: { matchLabels: { a: 'c' } } }, { nodeTopology: null }, { capacity: '2Gi', maximumVolumeSize: '1Gi' }, { capacity: '-2' }] }, { from: { nodeTopology: { matchLabels: { a: 'b' } }, capacity: '1Gi' } }),
  ...capacity.puts(),

  // VolumeAttachment
  ...attachment.creates({
    minimal: {},
    'inline-volume': { 'spec.source': { inlineVolumeSpec: inline } },
    'status-dropped': { status: { attached: true, attachmentMetadata: { a: 'b' } } },
  }),
  ...attachment.refuses({
    name: { 'metadata.name': 'A' },
    attacher: [{ 'spec.attacher': undefined }, { 'spec.attacher': 'Bad_Name' }, { 'spec.attacher': 'a'.repeat(64) }],
    'node-name': [{ 'spec.nodeName': undefined }, { 'spec.nodeName': 'A' }],
    source: [{ 'spec.source': undefined }, { 'spec.source': {} }, { 'spec.source': { persistentVolumeName: '' } }, { 'spec.source': { persistentVolumeName: 'A' } }, { 'spec.source': { persistentVolumeName: 'a', inlineVolumeSpec: inline } }, { 'spec.source': { inlineVolumeSpec: {} } }, { 'spec.source': { inlineVolumeSpec: { ...inline, capacity: { storage: '1Gi' } } } }, { 'spec.source': { inlineVolumeSpec: { ...inline, csi: undefined, hostPath: { path: '/a' } } } }],
    spec: { spec: undefined },
  }),
  ...attachment.updates({ spec: [{ spec: { nodeName: 'm' } }, { spec: { attacher: 'other' } }, { spec: { source: { persistentVolumeName: 'other' } } }, { metadata: { labels: { l: 'v' } } }] }),
  ...attachment.statuses({
    any: [
      { attached: true, attachmentMetadata: { a: 'b' }, attachError: { time: '2020-01-01T00:00:00Z', message: 'm' }, detachError: { message: 'n', errorCode: 3, time: '2020-01-01T00:00:00Z' } },
      { attachError: { message: 'm'.repeat(1025) } },
      { attachmentMetadata: { a: 'b'.repeat(262144) } },
      { attached: null },
    ],
  }),
  ...attachment.strategy({ status: { attached: true } }),
  ...attachment.puts(),
];
