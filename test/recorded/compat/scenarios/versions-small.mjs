// Kinds of versions that are off by default, turned on by name: what they look like, what is refused, the same object in all its versions.
import { kind, table } from './kit/kinds-groups.mjs';
import { APPLY, DELETE, GET, PATCH, POST, PUT, scenario } from '../steps.ts';
import { authority, leaf, otherAuthority } from './kit/trust.mjs';

const needs = 'more-versions';
const needing = (scenarios) => scenarios.map((one) => ({ ...one, needs }));

/** One life of an object: made, read, listed, changed and deleted through the first version, read and changed through the others. */
function lives(label, { group, versions, resource, kind: kindName, cluster = false, object, patch, name = cluster ? '$ns-x' : 'x', status }) {
  const root = (version) => `/apis/${group}/${version}${cluster ? '' : '/namespaces/$ns'}/${resource}`;
  const [own, ...others] = versions;
  const body = (version, edits = {}) => ({ apiVersion: `${group}/${version}`, kind: kindName, metadata: { name, labels: { l: '$ns' } }, ...object, ...edits });
  const item = (version) => `${root(version)}/${name}`;
  return scenario(`versions-${label}-life-${own}`, { section: '9.1', about: `${group}/${own} ${kindName}: create, get, list, table, patch, apply, put, status, delete`, needs, cleanup: cluster ? [item(own)] : [] }, [
    POST(root(own), body(own), { compareHeaders: ['warning'] }),
    POST(root(own), body(own)),
    ...versions.map((version) => GET(item(version))),
    GET(root(own), { query: { labelSelector: 'l=$ns' } }),
    table(item(own)),
    PATCH(item(own), 'merge', patch),
    ...others.map((version) => PATCH(item(version), 'merge', { metadata: { annotations: { from: version } } })),
    APPLY(item(own), 'm', body(own, { metadata: { name, labels: { applied: 'yes' } } }), { force: true }),
    ...others.map((version) => APPLY(item(version), 'm', body(version, { metadata: { name, labels: { applied: 'no' } } }))),
    ...(status ? [GET(`${item(own)}/status`), PATCH(`${item(own)}/status`, 'merge', { metadata: { labels: { s: 't' } }, status }), PATCH(item(own), 'merge', { status: null })] : []),
    GET(item(own), { id: 'last' }),
    PUT(item(own), { ...body(own), metadata: { name, resourceVersion: '${last.metadata.resourceVersion}' } }),
    GET(item(own), { headers: { accept: 'application/vnd.kubernetes.protobuf' }, text: true, compare: 'status' }),
    GET(root(own), { query: { fieldSelector: 'spec.nothing=1' } }),
    DELETE(item(own)),
    GET(item(own)),
  ]);
}

const candidate = { spec: { leaseName: 'l', binaryVersion: '1.33.0', emulationVersion: '1.32.0', strategy: 'OldestEmulationVersion', renewTime: '2024-02-29T12:00:00.000000Z' } };
const bundle = { spec: { trustBundle: authority } };
const attributes = { driverName: 'd.example.com', parameters: { iops: '1' } };
const policy = { spec: { matchConstraints: { resourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }] }, validations: [{ expression: 'true' }] } };
const binding = { spec: { policyName: 'none', validationActions: ['Warn'] } };
const migration = { spec: { resource: { group: 'apps', version: 'v1', resource: 'deployments' } } };
const server = (o = {}) => ({ apiServerID: 'a', encodingVersion: 'v1', decodableVersions: ['v1', 'v1beta1'], servedVersions: ['v1'], ...o });

const ways = (label, versions, o) => versions.map((own) => lives(label, { ...o, ...(o.name === undefined ? {} : { name: o.name(own) }), versions: [own, ...versions.filter((one) => one !== own)] }));

const lifes = [
  ...ways('leasecandidate', ['v1beta1', 'v1alpha2'], { group: 'coordination.k8s.io', resource: 'leasecandidates', kind: 'LeaseCandidate', object: candidate, patch: { spec: { pingTime: '2024-02-29T12:00:01.000000Z' } } }),
  ...ways('clustertrustbundle', ['v1beta1', 'v1alpha1'], { group: 'certificates.k8s.io', resource: 'clustertrustbundles', kind: 'ClusterTrustBundle', cluster: true, object: bundle, patch: { spec: { trustBundle: otherAuthority } } }),
  ...ways('volumeattributesclass', ['v1beta1', 'v1alpha1'], { group: 'storage.k8s.io', resource: 'volumeattributesclasses', kind: 'VolumeAttributesClass', cluster: true, object: attributes, patch: { metadata: { annotations: { 'volumeattributesclass.alpha.kubernetes.io/is-default-class': 'true' } } } }),
  ...ways('servicecidr', ['v1beta1', 'v1'], { group: 'networking.k8s.io', resource: 'servicecidrs', kind: 'ServiceCIDR', cluster: true, object: { spec: { cidrs: ['172.30.9.0/24'] } }, patch: { spec: { cidrs: ['172.30.9.0/24', '2001:db8:9::/64'] } }, status: { conditions: [{ type: 'Ready', status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2024-02-29T12:00:00Z' }] } }),
  ...ways('ipaddress', ['v1beta1', 'v1'], { group: 'networking.k8s.io', resource: 'ipaddresses', kind: 'IPAddress', cluster: true, name: (version) => (version === 'v1' ? '203.0.113.76' : '203.0.113.77'), object: { spec: { parentRef: { resource: 'services', namespace: 'n', name: 's' } } }, patch: { metadata: { labels: { a: 'b' } } } }),
  ...ways('validatingadmissionpolicy', ['v1beta1', 'v1'], { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy', cluster: true, object: policy, patch: { spec: { failurePolicy: 'Ignore' } }, status: { observedGeneration: 1, typeChecking: {} } }),
  ...ways('validatingadmissionpolicybinding', ['v1beta1', 'v1'], { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding', cluster: true, object: binding, patch: { spec: { validationActions: ['Audit'] } } }),
  lives('storageversion', { group: 'internal.apiserver.k8s.io', versions: ['v1alpha1'], resource: 'storageversions', kind: 'StorageVersion', cluster: true, name: '$ns.example.com.things', object: { spec: {} }, patch: { metadata: { labels: { a: 'b' } } }, status: { storageVersions: [server()], commonEncodingVersion: 'v1' } }),
  lives('storageversionmigration', { group: 'storagemigration.k8s.io', versions: ['v1alpha1'], resource: 'storageversionmigrations', kind: 'StorageVersionMigration', cluster: true, object: migration, patch: { spec: { continueToken: 't' } }, status: { resourceVersion: '7', conditions: [{ type: 'Running', status: 'True', reason: 'R', lastUpdateTime: '2024-02-29T12:00:00Z' }] } }),
];

const candidates = kind({ apiVersion: 'coordination.k8s.io/v1beta1', resource: 'leasecandidates', kind: 'LeaseCandidate', base: candidate, label: 'versions-leasecandidate' });
const bundles = kind({ apiVersion: 'certificates.k8s.io/v1beta1', resource: 'clustertrustbundles', kind: 'ClusterTrustBundle', cluster: true, base: bundle, label: 'versions-clustertrustbundle' });
const classes = kind({ apiVersion: 'storage.k8s.io/v1beta1', resource: 'volumeattributesclasses', kind: 'VolumeAttributesClass', cluster: true, base: attributes, label: 'versions-volumeattributesclass' });
const versions = kind({ apiVersion: 'internal.apiserver.k8s.io/v1alpha1', resource: 'storageversions', kind: 'StorageVersion', cluster: true, name: '$ns.example.com.things', base: { spec: {} }, label: 'versions-storageversion' });
const migrations = kind({ apiVersion: 'storagemigration.k8s.io/v1alpha1', resource: 'storageversionmigrations', kind: 'StorageVersionMigration', cluster: true, base: migration, label: 'versions-storageversionmigration' });
const ranges = kind({ apiVersion: 'networking.k8s.io/v1beta1', resource: 'servicecidrs', kind: 'ServiceCIDR', cluster: true, base: { spec: { cidrs: ['172.30.8.0/24'] } }, label: 'versions-servicecidr' });
const addressKind = (name) => kind({ apiVersion: 'networking.k8s.io/v1beta1', resource: 'ipaddresses', kind: 'IPAddress', cluster: true, name, base: { spec: { parentRef: { resource: 'services', namespace: 'n', name: 's' } } }, label: 'versions-ipaddress' });
const [addresses, otherAddresses] = [addressKind('203.0.113.78'), addressKind('203.0.113.80')];
const policies = kind({ apiVersion: 'admissionregistration.k8s.io/v1beta1', resource: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy', cluster: true, base: policy, label: 'versions-validatingadmissionpolicy' });
const bindings = kind({ apiVersion: 'admissionregistration.k8s.io/v1beta1', resource: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding', cluster: true, base: binding, label: 'versions-validatingadmissionpolicybinding' });

const succeeded = (type, status = 'True', o = {}) => ({ type, status, reason: 'R', lastUpdateTime: '2024-02-29T12:00:00Z', ...o });

export default needing([
  ...lifes,
  ...candidates.creates({ minimal: { spec: { leaseName: 'l', binaryVersion: '0.0.1-a.b+c', strategy: 'example.com/own' } } }),
  ...candidates.refuses({
    spec: [{ spec: undefined }, { spec: {} }, { 'spec.leaseName': '' }],
    name: [{ 'metadata.name': 'A_b' }, { 'metadata.name': 'a b' }, { 'metadata.name': '..a' }],
    versions: [{ 'spec.binaryVersion': '1.33' }, { 'spec.emulationVersion': 'v1.33.0' }, { 'spec.binaryVersion': '1.31.0' }, { 'spec.binaryVersion': 'x', 'spec.emulationVersion': 'y' }, { 'spec.emulationVersion': undefined }, { 'spec.emulationVersion': '0.0.0' }, { 'spec.binaryVersion': '01.3.0' }, { 'spec.binaryVersion': '1.32.0-alpha' }],
    strategy: [{ 'spec.strategy': '' }, { 'spec.strategy': 'Newest' }, { 'spec.strategy': 'a b/c' }, { 'spec.strategy': 'a/b/c' }],
  }),
  ...candidates.updates({ lease: [{ spec: { leaseName: 'm' } }, { spec: { leaseName: null } }, { spec: { strategy: 'example.com/b', emulationVersion: null } }] }),
  ...candidates.puts(),
  scenario('versions-leasecandidate-selector', { section: '5.2', about: 'candidates of one lease' }, [
    POST(candidates.list, candidates.object(), { compare: 'status' }),
    GET(candidates.list, { query: { fieldSelector: 'spec.leaseName=l' } }),
    GET(candidates.list, { query: { fieldSelector: 'spec.leaseName=other' } }),
  ]),
  ...bundles.creates({ two: { 'spec.trustBundle': `# first\n${authority}\n${otherAuthority}` } }),
  scenario('versions-clustertrustbundle-signer', { section: '4.9', about: 'a bundle of a signer is named after it', namespace: false, cleanup: ['/apis/certificates.k8s.io/v1beta1/clustertrustbundles/example.com:s:a'] }, [
    ...['a', 'example.com:s:a', 'example.com:s:A!', 'example.com:s', 'b:c'].flatMap((name) => ['', 'example.com/s'].map((signerName) => POST('/apis/certificates.k8s.io/v1beta1/clustertrustbundles', { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata: { name }, spec: { signerName, trustBundle: authority } }, { query: { dryRun: 'All' } }))),
    POST('/apis/certificates.k8s.io/v1beta1/clustertrustbundles', { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata: { generateName: 'example.com:s:' }, spec: { signerName: 'example.com/s', trustBundle: authority } }, { query: { dryRun: 'All' }, compare: 'status' }),
    POST('/apis/certificates.k8s.io/v1beta1/clustertrustbundles', { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata: { generateName: 'b:' }, spec: { signerName: 'example.com/s', trustBundle: authority } }, { query: { dryRun: 'All' }, compare: 'status' }),
    POST('/apis/certificates.k8s.io/v1beta1/clustertrustbundles', { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata: { name: 'example.com:s:a' }, spec: { signerName: 'example.com/s', trustBundle: authority } }),
    PATCH('/apis/certificates.k8s.io/v1beta1/clustertrustbundles/example.com:s:a', 'merge', { spec: { signerName: 'example.com/t' } }),
    PATCH('/apis/certificates.k8s.io/v1beta1/clustertrustbundles/example.com:s:a', 'merge', { spec: { signerName: null } }),
    GET('/apis/certificates.k8s.io/v1beta1/clustertrustbundles', { query: { fieldSelector: 'spec.signerName=example.com/s' } }),
    table('/apis/certificates.k8s.io/v1beta1/clustertrustbundles/example.com:s:a'),
  ]),
  ...bundles.refuses({
    bundle: [{ spec: undefined }, { spec: {} }, { 'spec.trustBundle': '' }, { 'spec.trustBundle': 'x' }, { 'spec.trustBundle': leaf }, { 'spec.trustBundle': `${authority}${authority}` }, { 'spec.trustBundle': `${authority}${otherAuthority}${authority}${otherAuthority}`.slice(0, -1) }, { 'spec.trustBundle': authority.replaceAll('CERTIFICATE', 'KEY') }, { 'spec.trustBundle': authority.replace('-----\n', '-----\nA: b\n\n') }, { 'spec.trustBundle': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' }, { 'spec.trustBundle': 'x'.repeat(1024 * 1024 + 1) }],
    signer: [{ 'spec.signerName': 'x' }, { 'spec.signerName': 'A/b' }],
  }),
  ...bundles.updates({ bundle: [{ spec: { trustBundle: 'x' } }, { metadata: { labels: { a: 'b' } } }] }),
  ...bundles.puts(),
  ...classes.creates({ maximal: { driverName: 'Upper.example.com', parameters: { b: '2', a: '' } } }),
  ...classes.refuses({
    driver: [{ driverName: undefined }, { driverName: '' }, { driverName: 'a b' }, { driverName: 'a/b/c' }],
    parameters: [{ parameters: undefined }, { parameters: {} }, { parameters: { '': 'v' } }, { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`k${i}`, 'v'])) }, { parameters: { k: 'v'.repeat(262144) } }],
    name: { 'metadata.name': 'A' },
  }),
  ...classes.updates({ fixed: [{ driverName: 'e' }, { parameters: { iops: '2' } }, { parameters: { more: '2' } }, { parameters: null }, { driverName: '', parameters: null }, { metadata: { annotations: { a: 'b' } } }] }),
  ...classes.puts(),
  ...versions.refuses({ name: [{ 'metadata.name': 'things' }, { 'metadata.name': 'a.B' }, { 'metadata.name': 'A_.b' }, { 'metadata.name': 'a.1' }] }),
  ...versions.creates({ status: { status: { storageVersions: [server({ apiServerID: 'A!' })] } } }),
  ...versions.statuses({
    common: [{}, { commonEncodingVersion: 'v1' }, { storageVersions: [server()] }, { storageVersions: [server()], commonEncodingVersion: 'v2' }, { storageVersions: [server()], commonEncodingVersion: 'v1' }, { storageVersions: [server(), server({ apiServerID: 'b', encodingVersion: 'v1beta1' })], commonEncodingVersion: 'v1' }, { storageVersions: [server(), server({ apiServerID: 'b', encodingVersion: 'v1beta1' })] }],
    servers: [{ storageVersions: [server(), server()], commonEncodingVersion: 'v1' }, { storageVersions: [server({ apiServerID: 'A!' })], commonEncodingVersion: 'v1' }, { storageVersions: [server({ encodingVersion: 'v3' })], commonEncodingVersion: 'v3' }, { storageVersions: [server({ servedVersions: ['v1', 'v9', 'V!'] })], commonEncodingVersion: 'v1' },
      { storageVersions: [server({ encodingVersion: 'a/b/c', decodableVersions: ['a/b/c', '/v1', 'g/', 'G_/v1', ''] })], commonEncodingVersion: 'a/b/c' }, { storageVersions: [server({ decodableVersions: undefined })], commonEncodingVersion: 'v1' }],
    conditions: [{ conditions: [{ type: 'AllEncodingVersionsEqual', status: 'True', reason: 'R', message: 'm' }] }, { conditions: [{ type: 'a b', status: '', reason: '', message: '' }] }, { conditions: [{ type: 'A', status: 'x y', reason: 'R', message: 'm', observedGeneration: 1, lastTransitionTime: '2024-02-29T12:00:00Z' }] }],
  }),
  ...versions.puts({ absent: '$ns.example.com.absent' }),
  ...migrations.refuses({ resource: [{ spec: undefined }, { spec: {} }, { 'spec.resource': {} }, { 'spec.resource.version': '' }, { 'spec.resource.resource': '' }], name: { 'metadata.name': 'A' } }),
  ...migrations.updates({ fixed: [{ spec: { resource: { group: 'batch' } } }, { spec: { resource: { version: 'v2', resource: 'jobs' } } }, { spec: { resource: null } }, { spec: { continueToken: 't' } }] }),
  ...migrations.statuses({
    version: [{ resourceVersion: '7' }, { resourceVersion: '-1' }, { resourceVersion: 'x' }, { resourceVersion: '99999999999999999999' }, { resourceVersion: '007' }],
    conditions: [{ conditions: [succeeded('Running')] }, { conditions: [succeeded('Running'), succeeded('Running')] }, { conditions: [{ type: '', status: '' }] }, { conditions: [succeeded('a b', 'Maybe', { reason: '-' })] }, { conditions: [succeeded('Succeeded', 'True', { reason: 'R'.repeat(1025), message: 'm'.repeat(32769) })] }],
    both: [{ conditions: [succeeded('Succeeded'), succeeded('Failed')] }, { conditions: [succeeded('Succeeded'), succeeded('Running')] }, { conditions: [succeeded('Failed'), succeeded('Running')] }],
  }),
  scenario('versions-storageversionmigration-done', { section: '4.7', about: 'what has ended stays ended', cleanup: [migrations.item] }, [
    POST(migrations.list, migrations.object(), { compare: 'status' }),
    PATCH(`${migrations.item}/status`, 'merge', { status: { resourceVersion: '7', conditions: [succeeded('Succeeded')] } }),
    PATCH(`${migrations.item}/status`, 'merge', { status: { resourceVersion: '8' } }),
    PATCH(`${migrations.item}/status`, 'merge', { status: { resourceVersion: null } }),
    PATCH(`${migrations.item}/status`, 'merge', { status: { conditions: [succeeded('Succeeded', 'False')] } }),
    PATCH(`${migrations.item}/status`, 'merge', { status: { conditions: [succeeded('Failed')] } }),
  ]),
  ...migrations.puts(),
  ...ranges.refuses({ cidrs: [{ spec: undefined }, { 'spec.cidrs': ['10.0.0.1/24'] }, { 'spec.cidrs': ['172.30.8.0/24', '172.30.9.0/24'] }, { 'spec.cidrs': ['172.30.8.0/24', '172.30.9.0/24', '172.30.10.0/24'] }] }),
  ...ranges.updates({ fixed: [{ spec: { cidrs: ['172.30.9.0/24'] } }, { spec: { cidrs: [] } }] }),
  ...ranges.puts(),
  ...addresses.refuses({ parent: [{ spec: undefined }, { spec: {} }, { 'spec.parentRef': {} }, { 'spec.parentRef.resource': 'a/b' }], name: [{ 'metadata.name': 'x' }, { 'metadata.name': '010.0.0.1' }] }),
  ...addresses.updates({ fixed: [{ spec: { parentRef: { name: 't' } } }] }),
  ...otherAddresses.puts({ absent: '203.0.113.79' }),
  ...policies.refuses({ spec: [{ spec: undefined }, { 'spec.failurePolicy': 'Perhaps' }, { 'spec.matchConstraints': undefined }, { 'spec.validations': [] }, { 'spec.validations': [{ expression: 'object.' }] }, { 'spec.paramKind': { apiVersion: 'a/b/c', kind: 'K!' } }] }),
  ...policies.updates({ spec: [{ spec: { validations: [{ expression: '1' }] } }] }),
  ...policies.strategy({ status: { observedGeneration: 1 }, spec: { spec: { failurePolicy: 'Ignore' } } }),
  ...policies.puts(),
  ...bindings.refuses({ spec: [{ spec: undefined }, { 'spec.validationActions': [] }, { 'spec.validationActions': ['Deny', 'Warn'] }, { 'spec.paramRef': {} }, { 'spec.policyName': 'A!' }] }),
  ...bindings.puts(),
]);
