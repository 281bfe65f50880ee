// resource.k8s.io in its three versions: one object through all of them, what is refused, what its gates drop.
import { kind, table, tidy } from './kit/kinds-groups.mjs';
import { APPLY, DELETE, GET, PATCH, POST, PUT, scenario } from '../steps.ts';

const needs = 'all-versions';
const needing = (scenarios) => scenarios.map((one) => ({ needs, ...one }));
const plain = { pick: tidy };

const versions = ['v1beta2', 'v1beta1', 'v1alpha3'];
const group = 'resource.k8s.io';
const cel = (expression) => ({ cel: { expression } });
const driver = cel('device.driver == "gpu.example.com"');
const opaque = (o = {}) => ({ opaque: { driver: 'gpu.example.com', parameters: { a: 1 }, ...o } });
const exact = (o = {}) => ({ name: 'gpu', exactly: { deviceClassName: 'c', ...o } });
const flat = (o = {}) => ({ name: 'gpu', deviceClassName: 'c', ...o });
const request = (version, o) => (version === 'v1beta2' ? exact(o) : flat(o));
const claimSpec = (version) => ({ devices: { requests: [request(version, { selectors: [driver], tolerations: [{ key: 'example.com/k', operator: 'Exists' }] }), { name: 'any', firstAvailable: [{ name: 'a', deviceClassName: 'c' }, { name: 'b', deviceClassName: 'd', allocationMode: 'All' }] }], constraints: [{ requests: ['gpu'], matchAttribute: 'gpu.example.com/model' }], config: [{ requests: ['any/a'], ...opaque() }] } });
const parts = { attributes: { model: { string: 'x' }, 'gpu.example.com/cores': { int: 3 }, ok: { bool: true }, v: { version: '1.2.3-a+b' } }, taints: [{ key: 'example.com/t', value: 'v', effect: 'NoSchedule', timeAdded: '2024-02-29T12:00:00Z' }], consumesCounters: [{ counterSet: 's', counters: { n: { value: '1' } } }] };
const device = (version) => (version === 'v1beta2' ? { name: 'd', ...parts, capacity: { memory: { value: '80Gi' } } } : { name: 'd', basic: { ...parts, capacity: { memory: version === 'v1beta1' ? { value: '80Gi' } : '80Gi' } } });
const sliceSpec = (version) => ({ driver: 'gpu.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, nodeName: 'n', devices: [device(version)], sharedCounters: [{ name: 's', counters: { n: { value: '2' }, m: { value: '3k' } } }] });
const specs = {
  deviceclasses: { kind: 'DeviceClass', cluster: true, spec: () => ({ selectors: [driver], config: [opaque()] }), patch: () => ({ spec: { selectors: [cel('true')] } }) },
  resourceclaims: { kind: 'ResourceClaim', spec: claimSpec, patch: () => ({ metadata: { labels: { a: 'b' } } }) },
  resourceclaimtemplates: { kind: 'ResourceClaimTemplate', spec: (version) => ({ metadata: { labels: { t: 'u' } }, spec: claimSpec(version) }), patch: () => ({ metadata: { labels: { a: 'b' } } }) },
  resourceslices: { kind: 'ResourceSlice', cluster: true, spec: sliceSpec, patch: () => ({ spec: { pool: { generation: 2 } } }) },
};

const lives = Object.entries(specs).flatMap(([resource, { kind: kindName, cluster = false, spec, patch }]) => versions.map((own) => {
  const root = (version) => `/apis/${group}/${version}${cluster ? '' : '/namespaces/$ns'}/${resource}`;
  const name = cluster ? '$ns-x' : 'x';
  const item = (version) => `${root(version)}/${name}`;
  const body = (version, edits = {}) => ({ apiVersion: `${group}/${version}`, kind: kindName, metadata: { name, labels: { l: '$ns' } }, spec: spec(version), ...edits });
  const others = versions.filter((one) => one !== own);
  return scenario(`versions-${kindName.toLowerCase()}-life-${own}`, { section: '9.1', about: `${group}/${own} ${kindName}: create, get, list, table, patch, apply, put, delete, in all versions`, cleanup: cluster ? [item(own)] : [] }, [
    POST(root(own), body(own), { compareHeaders: ['warning'] }),
    ...versions.map((version) => GET(item(version))),
    GET(root(others[0]), { query: { labelSelector: 'l=$ns' } }),
    table(item(own)),
    PATCH(item(own), 'merge', patch()),
    ...others.map((version) => PATCH(item(version), 'merge', { metadata: { annotations: { from: version } } })),
    APPLY(item(own), 'm', body(own, { metadata: { name, labels: { applied: 'yes' } } }), { force: true }),
    ...others.map((version) => APPLY(item(version), 'm', body(version, { metadata: { name, labels: { applied: 'no' } } }))),
    GET(item(own), { id: 'last' }),
    PUT(item(own), { ...body(own), metadata: { name, resourceVersion: '${last.metadata.resourceVersion}' } }),
    PUT(item(own), body(own)),
    GET(root(own), { query: { fieldSelector: 'spec.nothing=1' } }),
    DELETE(item(own)),
    GET(item(others[1])),
  ]);
}));

const of = (resource, version = 'v1beta2') => kind({ apiVersion: `${group}/${version}`, resource, kind: specs[resource].kind, cluster: specs[resource].cluster ?? false, base: { spec: specs[resource].spec(version) }, label: `versions-${specs[resource].kind.toLowerCase()}${version === 'v1beta2' ? '' : `-${version}`}` });
const [classes, claims, templates, slices] = Object.keys(specs).map((resource) => of(resource));
const oldClaims = of('resourceclaims', 'v1beta1');
const oldSlices = of('resourceslices', 'v1alpha3');
const taints = kind({ apiVersion: `${group}/v1alpha3`, resource: 'devicetaintrules', kind: 'DeviceTaintRule', cluster: true, base: { spec: { taint: { key: 'example.com/t', effect: 'NoSchedule', timeAdded: '2024-02-29T12:00:00Z' } } }, label: 'versions-devicetaintrule' });
const requests = (...list) => ({ 'spec.devices.requests': list, 'spec.devices.constraints': undefined, 'spec.devices.config': undefined });
const devices = (...list) => ({ 'spec.devices': list, 'spec.sharedCounters': undefined });
const selecting = (...list) => requests(exact({ selectors: list }));
const attribute = (o) => devices({ name: 'd', attributes: { a: o } });
const long = (n) => 'a'.repeat(n);
const status = { allocation: { devices: { results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'p', device: 'd' }] } } };
const consumer = (o = {}) => ({ resource: 'pods', name: 'p', uid: 'u', ...o });
const deviceStatus = (o = {}) => ({ driver: 'gpu.example.com', pool: 'p', device: 'd', ...o });

export default needing([
  ...lives,
  ...claims.creates({ minimal: { spec: undefined }, empty: { spec: { devices: {} } }, status: { status } }),
  ...claims.refuses({
    requests: [requests({ name: 'a' }), requests({ name: '' }), requests(exact(), exact()), requests({ ...exact(), firstAvailable: [{ name: 'x', deviceClassName: 'c' }] }), requests({ name: 'A!', exactly: { deviceClassName: '' } }), requests(...Array.from({ length: 33 }, (_, i) => ({ ...exact(), name: `r${i}` }))), requests({ name: 'a', firstAvailable: Array.from({ length: 9 }, (_, i) => ({ name: `r${i}`, deviceClassName: 'c' })) }), requests({ name: 'a', firstAvailable: [{ name: 'x', deviceClassName: 'X!' }, { name: 'x', deviceClassName: 'c' }] })],
    counts: [requests(exact({ allocationMode: 'All', count: 1 })), requests(exact({ allocationMode: 'ExactCount', count: -1 })), requests(exact({ allocationMode: 'Some' })), requests({ name: 'a', firstAvailable: [{ name: 'x', deviceClassName: 'c', allocationMode: 'All', count: 2 }] })],
    tolerations: [requests(exact({ tolerations: [{ key: 'a b', operator: 'Exists', value: 'x' }, { operator: 'Equal', value: 'a b' }, { operator: 'Like' }, { key: 'a', effect: 'Never' }] }))],
    selectors: [selecting({}), selecting(cel('')), selecting(cel('device.')), selecting(cel('1')), selecting(cel('device.nothing')), selecting(cel(`"${long(10240)}" == ""`)), selecting(cel('device.attributes["d"].x == 1 && "b"')), selecting(...Array.from({ length: 33 }, () => cel('true'))), selecting(cel('semver("v1.2", true).major() == 1')), selecting(cel('device.attributes.all(d, device.attributes[d].all(a, device.attributes.all(e, device.attributes[e].all(b, string(device.attributes[d][a]) + string(device.attributes[e][b]) != "x"))))'))],
    constraints: [{ 'spec.devices.constraints': [{}] }, { 'spec.devices.constraints': [{ requests: ['none', 'any/c', 'gpu', 'gpu', 'a/b/c', 'A!'], matchAttribute: 'model' }] }, { 'spec.devices.constraints': [{ matchAttribute: '' }] }, { 'spec.devices.constraints': [{ matchAttribute: 'a b/c d' }] }, { 'spec.devices.constraints': [{ matchAttribute: '/x' }] }, { 'spec.devices.constraints': [{ matchAttribute: 'x/' }] }, { 'spec.devices.constraints': [{ matchAttribute: `x/${long(33)}` }] }],
    config: [{ 'spec.devices.config': [{}] }, { 'spec.devices.config': [opaque({ driver: '' })] }, { 'spec.devices.config': [opaque({ parameters: undefined })] }, { 'spec.devices.config': [opaque({ parameters: 'x' })] }, { 'spec.devices.config': [opaque({ parameters: null })] }, { 'spec.devices.config': [opaque({ parameters: { a: long(10240) } })] }, { 'spec.devices.config': [{ requests: ['none'], ...opaque({ driver: 'A b' }) }] }],
    name: { 'metadata.name': 'A' },
  }),
  ...claims.accepts({ selectors: [selecting(cel('device.attributes["d"].x')), selecting(cel('cel.bind(a, device.attributes["d"], a.x && a.y)')), selecting(cel('device.capacity["d"].memory.compareTo(quantity("1Gi")) > 0')), selecting(cel('device.attributes["d"].v.isLessThan(semver("1.2.3"))')), selecting(cel('"d" in device.attributes && device.driver.startsWith("x")'))] }),
  ...claims.updates({ fixed: [{ spec: { devices: { requests: [exact({ count: 2 })] } } }, { spec: { devices: { config: null } } }, { metadata: { annotations: { a: 'b' } } }] }),
  ...claims.statuses({
    allocation: [status, { allocation: { devices: { results: [{ request: 'none', driver: '', pool: '', device: '' }] } } }, { allocation: { devices: { results: [{ request: 'any/b', driver: 'A!', pool: 'a/B', device: 'X' }] } } }, { allocation: { devices: { config: [{ source: 'FromClaim', requests: ['gpu'], ...opaque() }, { source: '', ...opaque() }, { source: 'Else', requests: ['x'] }] } } }, { allocation: { nodeSelector: { nodeSelectorTerms: [] } } }],
    reserved: [{ reservedFor: [consumer()] }, { ...status, reservedFor: [consumer()] }, { ...status, reservedFor: [consumer(), consumer({ name: 'q' })] }, { ...status, reservedFor: [{}] }],
    devices: [{ ...status, devices: [deviceStatus()] }, { devices: [deviceStatus()] }, { ...status, devices: [deviceStatus(), deviceStatus()] }, { ...status, devices: [deviceStatus({ data: 'x' })] }, { ...status, devices: [deviceStatus({ data: { a: long(10241) } })] }, { ...status, devices: [deviceStatus({ conditions: [{ type: 'A', status: 'True', reason: 'R', message: '', lastTransitionTime: '2024-02-29T12:00:00Z' }, { type: 'a b', status: 'x', reason: '', message: '', lastTransitionTime: null }] })] },
      { ...status, devices: [deviceStatus({ networkData: { interfaceName: long(257), hardwareAddress: long(129), ips: ['10.0.0.1/24', '10.0.0.1', '010.0.0.1/24', '2001:DB8::1/64', '10.0.0.1/24'] } })] }],
  }),
  scenario('versions-resourceclaim-status', { section: '4.7', about: 'what was allocated stays, and what drivers say of it goes with it' }, [
    POST(claims.list, claims.object(), { compare: 'status' }),
    PATCH(`${claims.item}/status`, 'merge', { metadata: { labels: { s: 't' } }, spec: { devices: null }, status: { ...status, devices: [deviceStatus({ data: { a: 1 } })], reservedFor: [consumer()] } }),
    table(claims.item),
    GET(`/apis/resource.k8s.io/v1alpha3/namespaces/$ns/resourceclaims/x/status`),
    PATCH(`${claims.item}/status`, 'merge', { status: { allocation: { devices: { results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'p', device: 'e' }] } } } }, plain),
    PATCH(`${claims.item}/status`, 'merge', { status: { allocation: null, reservedFor: null } }),
    PATCH(claims.item, 'merge', { status: { reservedFor: [consumer()] } }),
  ]),
  ...claims.puts(),
  ...oldClaims.refuses({ requests: [requests({ name: 'a' }), requests(flat({ deviceClassName: '' , count: 1 })), requests({ ...flat(), firstAvailable: [{ name: 'x', deviceClassName: 'c' }] }), requests(flat({ allocationMode: 'Some' })), requests(flat({ selectors: [cel('1')] }))] }),
  ...oldClaims.updates({ fixed: [{ spec: { devices: { requests: [flat({ count: 2 })] } } }] }),
  ...templates.refuses({ spec: [{ 'spec.metadata': { labels: { 'a b': 'c d' }, annotations: { 'a b': '' } } }, { 'spec.spec.devices.requests': [{ name: 'a' }], 'spec.spec.devices.constraints': undefined, 'spec.spec.devices.config': undefined }] }),
  ...templates.updates({ fixed: [{ spec: { metadata: { labels: { n: 'o' } } } }, { spec: { spec: null } }] }),
  ...templates.creates({ minimal: { spec: undefined } }),
  ...classes.creates({ minimal: { spec: {} } }),
  ...classes.refuses({ spec: [{ 'spec.selectors': [{}] }, { 'spec.selectors': [cel('x')] }, { 'spec.config': [{}] }, { 'spec.config': [opaque({ driver: 'A!', parameters: [] })] }, { 'spec.config': Array.from({ length: 33 }, () => opaque()) }], name: { 'metadata.name': 'A' } }),
  ...classes.updates({ spec: [{ spec: { selectors: [cel('1')] } }, { spec: { config: null } }] }),
  ...classes.strategy({ spec: { spec: { config: null } } }),
  ...slices.creates({ selector: { 'spec.nodeName': undefined, 'spec.nodeSelector': { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }] } }, 'per-device': { 'spec.nodeName': undefined, 'spec.perDeviceNodeSelection': true, ...devices({ name: 'a', nodeName: 'n' }, { name: 'b', allNodes: true }) } }),
  ...slices.refuses({
    nodes: [{ 'spec.nodeName': undefined }, { 'spec.nodeName': '' }, { 'spec.nodeName': 'A!' }, { 'spec.allNodes': true }, { 'spec.allNodes': false }, { 'spec.perDeviceNodeSelection': false }, { 'spec.nodeName': undefined, 'spec.nodeSelector': {} }, { 'spec.nodeName': undefined, 'spec.nodeSelector': { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }, { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['x'] }] }] } }],
    pool: [{ 'spec.pool': undefined }, { 'spec.pool.name': 'a//B' }, { 'spec.pool.name': long(254) }, { 'spec.pool.resourceSliceCount': 0 }, { 'spec.pool.generation': -1 }, { 'spec.driver': '' }, { 'spec.driver': 'A b' }],
    devices: [devices({ name: 'A!' }), devices({ name: 'a' }, { name: 'a' }), devices(...Array.from({ length: 129 }, (_, i) => ({ name: `d${i}` }))), devices({ name: 'a', attributes: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`a${i}`, { int: i }])) }), devices({ name: 'a', nodeName: 'n' }), { 'spec.nodeName': undefined, 'spec.perDeviceNodeSelection': true, ...devices({ name: 'a' }, { name: 'b', nodeName: 'n', allNodes: true }, { name: 'c', nodeName: '' }, { name: 'd', allNodes: false }) }],
    attributes: [attribute({}), attribute({ int: 1, bool: true }), attribute({ string: long(65) }), attribute({ version: '1.2' }), attribute({ version: `1.2.3-${long(64)}` }), devices({ name: 'a', attributes: { '': { int: 1 } } }), devices({ name: 'a', attributes: { 'a-b': { int: 1 } } }), devices({ name: 'a', attributes: { 'A b/c': { int: 1 } } }), devices({ name: 'a', attributes: { [`${long(80)}/${long(33)}`]: { int: 1 } } }), devices({ name: 'a', capacity: { '1a': { value: '1' } } })],
    taints: [devices({ name: 'a', taints: [{ key: '', effect: '' }, { key: 'a b', value: 'c d', effect: 'Never' }] }), devices({ name: 'a', taints: Array.from({ length: 5 }, (_, i) => ({ key: `k${i}`, effect: 'NoExecute' })) })],
    counters: [{ 'spec.sharedCounters': undefined }, { 'spec.sharedCounters': [{ name: 's', counters: { x: { value: '1' } } }] }, { 'spec.sharedCounters': [{ name: 's' }, { name: '', counters: {} }] }, { 'spec.sharedCounters': [{ name: 's', counters: { n: { value: '1' } } }, { name: 's', counters: { n: { value: '1' } } }] }, { 'spec.sharedCounters': [{ name: 's', counters: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [i === 0 ? 'n' : `c${i}`, { value: '1' }])) }] }, { 'spec.sharedCounters': [{ name: 'S!', counters: { 'N!': { value: '1' } } }], 'spec.devices': [] }, { 'spec.devices': [{ name: 'd', consumesCounters: [{}, { counterSet: 's', counters: { n: { value: '1' } } }, { counterSet: 's', counters: { m: { value: '1' } } }] }] }],
  }),
  ...slices.updates({ fixed: [{ spec: { driver: 'other' } }, { spec: { pool: { name: 'q' } } }, { spec: { nodeName: 'm' } }, { spec: { nodeName: null, allNodes: true } }], free: [{ spec: { devices: null } }] }),
  ...slices.strategy({ spec: { spec: { pool: { generation: 2 } } } }),
  scenario('versions-resourceslice-selector', { section: '5.2', about: 'slices of a driver and of a node', cleanup: [slices.item] }, [
    POST(slices.list, slices.object({ 'spec.driver': '$ns.example.com', 'spec.devices': undefined, 'spec.sharedCounters': undefined }), { compare: 'status' }),
    ...['spec.driver=$ns.example.com', 'spec.driver=$ns.example.com,spec.nodeName=n', 'spec.driver=$ns.example.com,spec.nodeName=m'].map((fieldSelector) => GET(slices.list, { query: { fieldSelector } })),
    GET('/apis/resource.k8s.io/v1alpha3/resourceslices', { query: { fieldSelector: 'spec.driver=$ns.example.com' } }),
  ]),
  ...oldSlices.refuses({ devices: [{ 'spec.devices': [{ name: 'a' }], 'spec.sharedCounters': undefined, 'spec.nodeName': '' }, { 'spec.devices': [{ name: 'a', basic: { attributes: { 'a-b': {} }, nodeName: 'n' } }], 'spec.sharedCounters': undefined }] }),
  ...oldSlices.creates({ bare: { 'spec.devices': [{ name: 'a' }, { name: 'b', basic: {} }], 'spec.sharedCounters': undefined } }),
  ...taints.creates({ selector: { 'spec.deviceSelector': { deviceClassName: 'c', driver: 'd', pool: 'p', device: 'e', selectors: [driver] } } }),
  ...taints.refuses({ spec: [{ spec: undefined }, { 'spec.taint': {} }, { 'spec.taint': { key: 'a b', value: 'c d', effect: 'Never' } }, { 'spec.deviceSelector': { deviceClassName: '', driver: '', pool: '', device: '', selectors: [{}] } }, { 'spec.deviceSelector': { deviceClassName: 'C!', driver: 'D!', pool: 'P!', device: 'E!', selectors: [cel('1')] } }], name: { 'metadata.name': 'A' } }),
  ...taints.strategy({ spec: { spec: { taint: { value: 'w' } } } }),
  ...taints.puts(),
  scenario('versions-devicetaintrule-time', { section: '2', about: 'when a taint came is told by the server', cleanup: [taints.item] }, [
    POST(taints.list, taints.object({ 'spec.taint.timeAdded': undefined })),
    APPLY(taints.item, 'm', taints.object({ 'spec.taint.timeAdded': undefined }), { force: true }),
  ]),
  // Devices for who administers them: the namespace is labelled for it.
  scenario('gates-admin-access-on', { section: '12', about: 'adminAccess needs a label on the namespace: requests, templates, results; versions' }, [
    ...versions.flatMap((version, at) => [
      POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaims`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaim', metadata: { name: `r${at}` }, spec: { devices: { requests: [request(version), { ...request(version, { adminAccess: true }), name: 'x' }] } } }),
      POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaims`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaim', metadata: { name: `f${at}` }, spec: { devices: { requests: [request(version, { adminAccess: false })] } } }, plain),
      POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaimtemplates`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaimTemplate', metadata: { name: `t${at}` }, spec: { spec: { devices: { requests: [request(version, { adminAccess: true })] } } } }),
    ]),
    POST(`/apis/${group}/v1beta2/namespaces/$ns/resourceclaims`, { apiVersion: `${group}/v1beta2`, kind: 'ResourceClaim', metadata: { name: 'faulty' }, spec: { devices: { requests: [exact({ adminAccess: true, allocationMode: 'Some' })] } } }),
    ...versions.map((version) => POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaims`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaim', metadata: { name: 'both' }, spec: { devices: { requests: [{ ...request(version, { adminAccess: true }), firstAvailable: [{ name: 'a', deviceClassName: 'c' }] }] } } }, { query: { dryRun: 'All' } })),
    POST(claims.list, claims.object({ 'spec.devices': { requests: [exact()] } }), { compare: 'status' }),
    PATCH(`${claims.item}/status`, 'merge', { status: { allocation: { devices: { results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'p', device: 'd', adminAccess: true }] } } } }),
    PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { 'resource.k8s.io/admin-access': 'yes' } } }, { compare: 'status' }),
    PATCH(`${claims.item}/status`, 'merge', { status: { allocation: { devices: { results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'p', device: 'd', adminAccess: true }] } } } }, { compare: 'status' }),
    PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { 'resource.k8s.io/admin-access': 'true' } } }, { compare: 'status' }),
    ...versions.flatMap((version, at) => [
      POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaims`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaim', metadata: { name: `g${at}` }, spec: { devices: { requests: [request(version, { adminAccess: true })] } } }),
      POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaimtemplates`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaimTemplate', metadata: { name: `t${at}` }, spec: { spec: { devices: { requests: [request(version, { adminAccess: true })] } } } }, plain),
    ]),
    PATCH(`${claims.item}/status`, 'merge', { status: { allocation: { devices: { results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'p', device: 'd', adminAccess: true }] } } } }),
    PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { 'resource.k8s.io/admin-access': null } } }, { compare: 'status' }),
    PATCH(claims.item, 'merge', { metadata: { labels: { a: 'b' } } }, plain),
    PATCH(`${claims.item}/status`, 'merge', { status: { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] } }, plain),
    GET(`/apis/${group}/v1beta1/namespaces/$ns/resourceclaims/g0`, plain),
  ]),
  // Gates of the fields are off by default.
  ...[
    scenario('versions-gates-resourceclaim-off', { section: '12', about: 'firstAvailable and adminAccess are dropped', needs: 'beta-versions' }, [
      POST(claims.list, claims.object({ 'spec.devices': { requests: [exact({ adminAccess: true, tolerations: [{ key: 'a' }] })] } })),
      POST(claims.list, claims.object({ 'metadata.name': 'y', 'spec.devices': { requests: [{ name: 'a', firstAvailable: [{ name: 'x', deviceClassName: 'c' }] }] } })),
      PATCH(`${claims.item}/status`, 'merge', { status: { ...status, devices: [deviceStatus()] } }),
    ]),
    scenario('gates-admin-access-off', { section: '12', about: 'adminAccess is dropped, in requests, templates and results', needs: 'prioritized-devices' }, [
      ...['v1beta2', 'v1beta1'].flatMap((version, at) => [
        POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaims`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaim', metadata: { name: `c${at}` }, spec: { devices: { requests: [request(version, { adminAccess: true })] } } }),
        POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaimtemplates`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaimTemplate', metadata: { name: `t${at}` }, spec: { spec: { devices: { requests: [request(version, { adminAccess: true })] } } } }),
        PATCH(`/apis/${group}/${version}/namespaces/$ns/resourceclaims/c${at}/status`, 'merge', { status: { allocation: { devices: { results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'p', device: 'd', adminAccess: true }] } } } }),
        POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaims`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaim', metadata: { name: 'alone' }, spec: { devices: { requests: [version === 'v1beta2' ? { name: 'a', exactly: { adminAccess: true } } : { name: 'a', adminAccess: true }] } } }),
        POST(`/apis/${group}/${version}/namespaces/$ns/resourceclaims`, { apiVersion: `${group}/${version}`, kind: 'ResourceClaim', metadata: { name: 'both' }, spec: { devices: { requests: [{ name: 'a', ...(version === 'v1beta2' ? { exactly: { adminAccess: true } } : { adminAccess: true }), firstAvailable: [{ name: 'b', deviceClassName: 'c' }] }] } } }),
      ]),
    ]),
    scenario('versions-gates-resourceslice-off', { section: '12', about: 'taints and counters are dropped', needs: 'beta-versions', cleanup: [slices.item] }, [
      POST(slices.list, slices.object({ 'spec.perDeviceNodeSelection': false, 'spec.devices.0.allNodes': true })),
      GET('/apis/resource.k8s.io/v1beta1/resourceslices/$ns-x'),
    ]),
  ],
]);
