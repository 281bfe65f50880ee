// discovery.k8s.io/v1 EndpointSlice; coordination.k8s.io/v1 Lease; events.k8s.io/v1 Event.
import { scenario, GET, POST } from '../steps.ts';
import { kind } from './kit/kinds-groups.mjs';

const slice = kind({ apiVersion: 'discovery.k8s.io/v1', resource: 'endpointslices', kind: 'EndpointSlice', base: { addressType: 'IPv4', endpoints: [] } });
const lease = kind({ apiVersion: 'coordination.k8s.io/v1', resource: 'leases', kind: 'Lease' });
const eventBase = { eventTime: '2020-01-01T00:00:00.000001Z', reportingController: 'example.com/c', reportingInstance: 'c-1', action: 'Act', reason: 'Reason', type: 'Normal', regarding: { kind: 'Pod', namespace: '$ns', name: 'p' } };
const event = kind({ apiVersion: 'events.k8s.io/v1', resource: 'events', kind: 'Event', base: eventBase, label: 'event-v1' });
const coreEvent = kind({ apiVersion: 'v1', resource: 'events', kind: 'Event', base: { involvedObject: { kind: 'Pod', namespace: '$ns', name: 'p' } }, label: 'event-core' });

const endpoint = (o) => ({ endpoints: [{ addresses: ['10.1.2.3'], ...o }] });
const addresses = (addressType, ...a) => ({ addressType, endpoints: [{ addresses: a }] });
const ports = (...p) => ({ ports: p });
const many = (n, make) => Array.from({ length: n }, (_, i) => make(i));
/** Events of the default namespace, where the tables try their rows. */
const inDefault = { regarding: { kind: 'Pod', namespace: 'default', name: 'p' } };
const coreInDefault = { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' } };
const core = (o) => ({ ...coreInDefault, ...o });

export default [
  // EndpointSlice
  ...slice.creates({
    minimal: { endpoints: undefined },
    maximal: {
      'metadata.labels': { 'kubernetes.io/service-name': 's', 'endpointslice.kubernetes.io/managed-by': 'me' }, ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'example.com/x' }, { name: 'dns', protocol: 'UDP' }, {}],
      endpoints: [{ addresses: ['10.1.2.3', '10.1.2.4'], conditions: { ready: true, serving: false, terminating: true }, hostname: 'h', nodeName: 'n', zone: 'z', targetRef: { kind: 'Pod', namespace: 'ns', name: 'p', uid: 'u' }, hints: { forZones: [{ name: 'z1' }] }, deprecatedTopology: { 'example.com/t': 'v' } }, { addresses: ['10.1.2.5'], conditions: {} }] },
    'node-hints-dropped': endpoint({ hints: { forNodes: [{ name: 'n' }] } }),
    'topology-dropped': endpoint({ zone: 'z', deprecatedTopology: { 'topology.kubernetes.io/zone': 'other', 'kubernetes.io/hostname': 'h' } }),
    fqdn: addresses('FQDN', 'a.example.com'),
    ipv6: addresses('IPv6', '2001:db8::1'),
  }),
  ...slice.accepts({
    addresses: [addresses('IPv4', '010.1.2.3'), addresses('FQDN', 'a.b.c'), addresses('IPv4', '10.1.2.3', '10.1.2.3')],
    ports: [ports({ name: '', port: 0 }), ports({ name: 'a', port: -1 }), ports({ name: 'a', appProtocol: 'http' })],
    'node-name': endpoint({ nodeName: 'a.b' }),
    'topology-even-if-invalid': endpoint({ deprecatedTopology: { 'bad key': 'v' } }),
    zone: endpoint({ zone: 'anything at all' }),
  }),
  ...slice.refuses({
    'address-type': [{ addressType: undefined }, { addressType: '' }, { addressType: 'IP' }],
    addresses: [endpoint({ addresses: [] }), endpoint({ addresses: undefined }), endpoint({ addresses: many(101, (i) => `10.1.2.${i}`) })],
    'addresses-ipv4': ['word', '2001:db8::1', '127.0.0.1', '169.254.0.1', '224.0.0.1', '0.0.0.0'].map((a) => addresses('IPv4', a)),
    'addresses-ipv6': ['word', '10.1.2.3', '::1', 'fe80::1', 'ff02::1', '2001:DB8::1', '::', '::ffff:10.1.2.3'].map((a) => addresses('IPv6', a)),
    'addresses-fqdn': ['word', 'UPPER.com', '', 'a_b.com'].map((a) => addresses('FQDN', a)),
    'too-many-endpoints': { endpoints: many(1001, () => ({ addresses: ['10.1.2.3'] })) },
    'node-name': endpoint({ nodeName: 'A' }),
    hostname: [endpoint({ hostname: 'a.b' }), endpoint({ hostname: '' })],
    'zone-hints': [endpoint({ hints: { forZones: many(9, (i) => ({ name: `z${i}` })) } }), endpoint({ hints: { forZones: [{ name: 'z' }, { name: 'z' }] } }), endpoint({ hints: { forZones: [{ name: 'bad zone' }] } })],
    'port-name': [ports({ name: 'Upper' }), ports({ name: 'a' }, { name: 'a' }), ports({}, {}), ports({ name: 'a'.repeat(64) })],
    'port-protocol': [ports({ protocol: 'ICMP' }), ports({ protocol: '' })],
    'port-app-protocol': ports({ appProtocol: 'bad protocol' }),
  }),
  ...slice.updates({
    'address-type': [{ addressType: 'IPv6' }, { addressType: 'FQDN', endpoints: [{ addresses: ['a.example.com'] }] }, { addressType: null }],
    any: [{ endpoints: [{ addresses: ['10.9.9.9'] }], ports: [{ port: 8 }] }, { endpoints: [{ addresses: ['127.0.0.1'] }] }, { metadata: { labels: { a: 'b' } } }, { endpoints: null }],
  }, { from: endpoint({}) }),
  ...slice.strategy({ from: endpoint({}), spec: { ports: [{ name: 'a', port: 1 }] } }),
  ...slice.puts(),

  // Lease
  ...lease.creates({
    minimal: {},
    maximal: { spec: { holderIdentity: 'h', leaseDurationSeconds: 15, acquireTime: '2020-01-01T00:00:00.123456Z', renewTime: '2020-01-01T00:00:01.000000Z', leaseTransitions: 0 } },
    'election-fields-dropped': { spec: { strategy: 'OldestEmulationVersion', preferredHolder: 'p' } },
    'micro-time-of-another-zone': { spec: { renewTime: '2020-01-01T01:00:00.500000+01:00' } },
  }),
  ...lease.accepts({ 'dropped-fields-even-if-invalid': [{ spec: { strategy: 'Newest' } }, { spec: { preferredHolder: 'p' } }] }),
  ...lease.refuses({
    duration: [{ spec: { leaseDurationSeconds: 0 } }, { spec: { leaseDurationSeconds: -1 } }],
    transitions: { spec: { leaseTransitions: -1 } },
    name: { 'metadata.name': 'A' },
    'times-without-six-digits': ['2020-01-01T00:00:01Z', '2020-01-01T00:00:01.5Z', '2020-01-01T00:00:01.123456789Z', 'yesterday'].map((renewTime) => ({ spec: { renewTime } })),
  }),
  ...lease.updates({ any: [{ spec: { holderIdentity: 'other', leaseTransitions: 3 } }, { spec: { leaseTransitions: 1 } }, { spec: { leaseDurationSeconds: 0 } }, { spec: null }] }, { from: { spec: { holderIdentity: 'h', leaseTransitions: 2 } } }),
  ...lease.strategy({ spec: { spec: { holderIdentity: 'h' } } }),
  ...lease.puts(),

  // Event in both groups
  ...event.creates({
    minimal: {},
    maximal: { series: { count: 2, lastObservedTime: '2020-01-01T00:00:05.000000Z' }, note: 'n', type: 'Warning', related: { kind: 'Node', name: 'n' }, 'regarding.fieldPath': 'spec.containers{c}' },
  }, { readBack: [coreEvent.item, event.item], section: '9.1' }),
  ...coreEvent.creates({
    minimal: {},
    maximal: { reason: 'R', message: 'm', source: { component: 'c', host: 'h' }, firstTimestamp: '2020-01-01T00:00:00Z', lastTimestamp: '2020-01-01T00:01:00Z', count: 3, type: 'Normal', related: { kind: 'Node', name: 'n' }, action: 'A', reportingComponent: 'rc', reportingInstance: 'ri' },
  }, { readBack: [event.item, coreEvent.item], section: '9.1' }),
  ...event.accepts({ 'name-any-length': { ...inDefault, 'metadata.name': 'a'.repeat(253) }, 'action-length': { ...inDefault, action: 'a'.repeat(128) }, 'regarding-of-another-namespace': [{ regarding: { kind: 'Pod', namespace: 'other', name: 'p' } }, { regarding: {} }] }),
  ...event.refuses({
    'event-time': [{ ...inDefault, eventTime: undefined }, { ...inDefault, eventTime: null }],
    'reporting-controller': [{ ...inDefault, reportingController: undefined }, { ...inDefault, reportingController: 'a/b/c' }, { ...inDefault, reportingController: 'a'.repeat(64) }],
    'reporting-instance': [{ ...inDefault, reportingInstance: undefined }, { ...inDefault, reportingInstance: 'a'.repeat(129) }],
    action: [{ ...inDefault, action: undefined }, { ...inDefault, action: 'a'.repeat(129) }],
    reason: [{ ...inDefault, reason: undefined }, { ...inDefault, reason: 'a'.repeat(129) }],
    type: [{ ...inDefault, type: undefined }, { ...inDefault, type: 'Info' }],
    note: { ...inDefault, note: 'n'.repeat(1025) },
    'deprecated-fields': [{ ...inDefault, deprecatedFirstTimestamp: '2020-01-01T00:00:00Z' }, { ...inDefault, deprecatedLastTimestamp: '2020-01-01T00:00:00Z' }, { ...inDefault, deprecatedCount: 2 }, { ...inDefault, deprecatedSource: { component: 'c' } }],
    series: [{ ...inDefault, series: { count: 1, lastObservedTime: '2020-01-01T00:00:05.000000Z' } }, { ...inDefault, series: { count: 2 } }],
  }),
  ...event.updates({
    'fixed-fields': [{ reason: 'Other' }, { note: 'x' }, { action: 'Other' }, { type: 'Warning' }, { reportingController: 'example.com/d' }, { reportingInstance: 'd' }, { regarding: { name: 'q' } }, { eventTime: '2021-01-01T00:00:00.000000Z' }, { related: { name: 'n' } }],
    series: [{ series: { count: 2, lastObservedTime: '2020-01-01T00:00:05.000000Z' } }, { metadata: { labels: { a: 'b' } } }, { deprecatedCount: 3 }, { deprecatedSource: { host: 'h' } }],
  }),
  ...coreEvent.accepts({ name: { ...coreInDefault, 'metadata.name': 'A_b' }, type: core({ type: 'Info' }), 'old-fields-only': core({ count: 1, message: 'm'.repeat(2000) }) }),
  ...coreEvent.refuses({
    namespace: { involvedObject: { kind: 'Pod', namespace: 'other', name: 'p' } },
    'new-style': [core({ eventTime: '2020-01-01T00:00:00.000000Z' }), core({ reportingComponent: 'bad name', eventTime: '2020-01-01T00:00:00.000000Z', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal' })],
    name: { ...coreInDefault, 'metadata.name': 'a/b' },
  }),
  ...coreEvent.updates({ any: [{ message: 'other', count: 5, type: 'Else', involvedObject: { name: 'q' } }, { involvedObject: { namespace: 'other' } }] }),
  scenario('event-in-default-for-cluster-objects', { section: '2.1', about: 'Event: about a cluster-scoped object it must be in the default namespace', namespace: false }, [
    ...['default', 'kube-system', 'kube-public'].map((ns) => POST(`/api/v1/namespaces/${ns}/events`, { apiVersion: 'v1', kind: 'Event', metadata: { name: '$ns-x' }, involvedObject: { kind: 'Node', name: 'n' } }, { query: { dryRun: 'All' } })),
    ...['default', 'kube-system'].map((ns) => POST(`/apis/events.k8s.io/v1/namespaces/${ns}/events`, { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: '$ns-x' }, ...eventBase, regarding: { kind: 'Node', name: 'n' } }, { query: { dryRun: 'All' } })),
  ]),
  ...event.puts(),
  ...coreEvent.puts(),
  scenario('event-field-selectors', { section: '4.3', about: 'Event: the field selectors of the core group' }, [
    POST(coreEvent.list, coreEvent.object({ reason: 'R', type: 'Normal', source: { component: 'comp' } }), { compare: 'status' }),
    ...['involvedObject.kind=Pod', 'involvedObject.name=other', 'reason=R', 'type!=Normal', 'source=comp', 'reportingComponent=comp', 'involvedObject.fieldPath=', 'regarding.kind=Pod', 'message=m'].map((fieldSelector) => GET(coreEvent.list, { query: { fieldSelector }, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b })),
  ]),
  scenario('event-v1-field-selectors', { section: '4.3', about: 'Event: the field selectors of events.k8s.io' }, [
    POST(coreEvent.list, coreEvent.object({ reason: 'R', type: 'Normal', source: { component: 'comp' } }), { compare: 'status' }),
    ...['involvedObject.kind=Pod', 'regarding.kind=Pod', 'reportingController=comp'].map((fieldSelector) => GET(event.list, { query: { fieldSelector }, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b })),
  ]),
];
