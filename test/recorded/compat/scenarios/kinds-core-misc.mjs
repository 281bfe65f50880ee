// Endpoints, Events and Namespaces.
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';
import { inNs, root, refused, accepted, patched, repeat } from './kit/kinds-core.mjs';

const endpoints = inNs('endpoints');
const events = inNs('events');
const nss = '/api/v1/namespaces';
const ep = (...subsets) => ({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'e' }, subsets });
const subset = (o) => (b) => { b.subsets = [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }], ...o }]; };
const address = (o) => subset({ addresses: [{ ip: '10.1.1.1', ...o }] });
const port = (...ports) => subset({ ports });
const event = (o = {}) => ({ apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: { namespace: '$ns', kind: 'Pod', name: 'p' }, ...o });
const modern = (o = {}) => event({ eventTime: '2001-02-03T04:05:06.123456Z', reportingComponent: 'example.com/c', reportingInstance: 'i', action: 'a', reason: 'R', type: 'Normal', ...o });
const ns = (o = {}, metadata = {}) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-x', ...metadata }, ...o });
const own = { namespace: false, cleanup: [`${nss}/$ns-x`] };

export default [
  scenario('core-endpoints-minimal', { section: '2', about: 'Endpoints without subsets; the kind is deprecated' }, [POST(endpoints, ep(), { compareHeaders: ['warning'] }), GET(`${endpoints}/e`, { compareHeaders: ['warning'] })]),
  scenario('core-endpoints-maximal', { section: '2', about: 'every field; subsets, addresses and ports keep their order' }, [
    POST(endpoints, ep({ addresses: [{ ip: '10.1.1.2', hostname: 'h', nodeName: 'n', targetRef: { kind: 'Pod', namespace: 'x', name: 'p', uid: 'u', resourceVersion: '1', apiVersion: 'v1', fieldPath: 'f' } }, { ip: '10.1.1.1' }], notReadyAddresses: [{ ip: '10.1.1.3' }], ports: [{ name: 'b', port: 2, protocol: 'UDP', appProtocol: 'example.com/x' }, { name: 'a', port: 1 }] }, { addresses: [{ ip: '2001:db8::1' }] })), GET(`${endpoints}/e`, { pick: (b) => b.subsets }),
  ]),
  ...refused('core-endpoints-invalid', { about: 'what makes Endpoints invalid', at: endpoints, base: ep(), part: root }, [
    ['no addresses', subset({ addresses: [] })], ['ip missing', address({ ip: undefined })], ['ip invalid', address({ ip: 'x' })], ['ip unspecified', address({ ip: '0.0.0.0' })], ['ip loopback', address({ ip: '127.0.0.1' })], ['ip link-local', address({ ip: '169.254.0.1' })], ['ip link-local multicast', address({ ip: '224.0.0.1' })], ['ip v6 loopback', address({ ip: '::1' })], ['hostname', address({ hostname: 'A_b' })], ['nodeName', address({ nodeName: 'A_b' })], ['not ready address', subset({ addresses: undefined, notReadyAddresses: [{ ip: 'x' }] })],
    ['port zero', port({ port: 0 })], ['port too large', port({ port: 65536 })], ['names needed for two', port({ port: 1 }, { port: 2 })], ['port name', port({ name: 'A', port: 1 })], ['protocol', port({ port: 1, protocol: 'x' })], ['appProtocol', port({ port: 1, appProtocol: 'a b' })], ['name', (o) => { o.metadata.name = 'A'; }],
  ]),
  scenario('core-endpoints-put', { section: '4.7', about: 'PUT creates Endpoints, and replaces them' }, [PUT(`${endpoints}/e`, ep({ addresses: [{ ip: '10.1.1.1' }] }), { pick: (b) => b.subsets }), PUT(`${endpoints}/e`, ep({ addresses: [{ ip: '10.1.1.2' }] }), { pick: (b) => b.subsets }), PUT(`${endpoints}/e`, ep({ addresses: [{ ip: 'x' }] }))]),
  scenario('core-endpoints-no-ports', { section: '2', about: 'ports may be missing, and null is written for none' }, [POST(endpoints, ep({ addresses: [{ ip: '10.1.1.1' }], ports: null }), { pick: (b) => b.subsets })]),

  scenario('core-event-minimal', { section: '2', about: 'an Event of the old kind' }, [POST(events, event()), GET(`${events}/e`)]),
  scenario('core-event-maximal', { section: '2', about: 'an Event with every field' }, [POST(events, modern({ involvedObject: { kind: 'Pod', namespace: '$ns', name: 'p', uid: 'u', apiVersion: 'v1', resourceVersion: '5', fieldPath: 'spec' }, message: 'm', source: { component: 'c', host: 'h' }, firstTimestamp: '2001-02-03T04:05:06Z', lastTimestamp: '2001-02-03T04:05:07Z', count: 3, series: { count: 2, lastObservedTime: '2001-02-03T04:05:06.000001Z' }, related: { kind: 'Node', name: 'n' } })), GET(`/apis/events.k8s.io/v1/namespaces/$ns/events/e`, { pick: ({ metadata, ...b }) => b })]),
  ...refused('core-event-invalid', { about: 'what makes an Event invalid in the core group', at: events, base: event(), part: root }, [
    ['another namespace', { involvedObject: { namespace: 'other', name: 'p' } }], ['no namespace', { involvedObject: { name: 'p' } }], ['involvedObject missing', { involvedObject: undefined }],
  ]),
  ...refused('core-event-invalid-modern', { about: 'an Event with eventTime must say who, what and why', at: events, base: modern(), part: root }, [
    ['reportingComponent missing', { reportingComponent: undefined }], ['reportingComponent invalid', { reportingComponent: 'a b' }], ['reportingInstance missing', { reportingInstance: undefined }], ['reportingInstance too long', { reportingInstance: repeat('i', 129) }], ['action missing', { action: undefined }], ['action too long', { action: repeat('a', 129) }], ['reason missing', { reason: undefined }], ['reason too long', { reason: repeat('r', 129) }], ['message too long', { message: repeat('m', 1025) }], ['no namespace', { involvedObject: { name: 'p' } }], ['everything missing', { reportingComponent: '', reportingInstance: '', action: '', reason: '' }],
  ]),
  ...accepted('core-event-lenient', { about: 'what the core group does not check', at: events, base: event(), shown: ({ metadata, ...b }) => b }, [['type', { type: 'Strange' }], ['negative count', { count: -1 }], ['another namespace with eventTime', { ...modern({ involvedObject: { namespace: 'other', name: 'p' } }), metadata: { name: 'x' } }], ['series of one', modern({ series: { count: 1 }, metadata: { name: 'x' } })], ['odd name', (o) => { o.metadata.labels = { fine: 'yes' }; }]]),
  ...patched('core-event-update', { about: 'an Event of the core group may change in every way', at: events, base: event({ reason: 'R', message: 'm', count: 1, type: 'Normal' }), shown: ({ metadata, ...b }) => b }, [['count', { count: 2, lastTimestamp: '2001-02-03T04:05:07Z' }], ['reason and message', { reason: 'S', message: 'n' }], ['involvedObject', { involvedObject: { name: 'q' } }], ['another namespace', { involvedObject: { namespace: 'other' } }]]),
  scenario('core-event-put-creates', { section: '4.7', about: 'PUT creates an Event' }, [PUT(`${events}/e`, event({ message: 'm' })), DELETE(`${events}/e`, undefined, { pick: (b) => [b.kind, b.status, b.details] })]),

  scenario('core-namespace-minimal', { section: '2', about: 'a Namespace gets a label, a finalizer and a phase', ...own }, [POST(nss, ns()), GET(`${nss}/$ns-x`)]),
  scenario('core-namespace-maximal', { section: '2', about: 'own finalizers are kept before kubernetes; the metadata.name label cannot be set otherwise', ...own }, [POST(nss, ns({ spec: { finalizers: ['example.com/f'] }, status: { phase: 'Terminating' } }, { labels: { 'kubernetes.io/metadata.name': 'wrong', a: 'b' }, annotations: { c: 'd' } })), PUT(`${nss}/$ns-x/finalize`, ns(), { compare: 'status' })]),
  ...refused('core-namespace-invalid', { about: 'what makes a Namespace invalid', at: nss, base: ns(), part: root, namespace: false }, [['name with dot', (o) => { o.metadata.name = '$ns.x'; }], ['name too long', (o) => { o.metadata.name = repeat('a', 64); }], ['name in capitals', (o) => { o.metadata.name = 'A'; }], ['finalizer not qualified', { spec: { finalizers: ['mine'] } }], ['finalizer invalid', { spec: { finalizers: ['a b/c'] } }], ['label', (o) => { o.metadata.labels = { a: 'b c' }; }]]),
  ...patched('core-namespace-update', { about: 'spec and status of a Namespace do not change by PUT or PATCH', at: nss, base: ns(), shown: (b) => ({ labels: b.metadata.labels, spec: b.spec, status: b.status }), ...own }, [['finalizers', { spec: { finalizers: ['example.com/f'] } }], ['finalizers removed', { spec: null }], ['phase', { status: { phase: 'Terminating' } }], ['name label changed', { metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } } }], ['name label removed', { metadata: { labels: null } }], ['finalizer in metadata', { metadata: { finalizers: ['mine'] } }]]),
  ...patched('core-namespace-status', { about: 'the status of a Namespace', at: nss, base: ns(), sub: 'status', shown: (b) => ({ spec: b.spec, status: b.status }), ...own }, [['phase', { status: { phase: 'Terminating' } }], ['condition', { status: { conditions: [{ type: 'X', status: 'True', lastTransitionTime: '2001-02-03T04:05:06Z', reason: 'r', message: 'm' }] } }], ['phase emptied', { status: { phase: '' } }]]),
  scenario('core-namespace-finalize', { section: '3.1', about: 'a Namespace is Terminating after deletion and gone once its finalizers are', ...own }, [
    POST(nss, ns(), { compare: 'status' }), PUT(`${nss}/$ns-x/finalize`, ns({ spec: { finalizers: ['mine'] } }), { note: 'invalid' }), PUT(`${nss}/$ns-x/finalize`, ns({ spec: { finalizers: ['example.com/f', 'kubernetes'] } }), { pick: (b) => b.spec }), DELETE(`${nss}/$ns-x`, undefined, { pick: (b) => [b.kind, b.spec, b.status, b.metadata.deletionTimestamp] }), DELETE(`${nss}/$ns-x`, undefined, { note: 'again' }), PATCH(`${nss}/$ns-x/status`, 'merge', { status: { phase: 'Active' } }), PUT(`${nss}/$ns-x/finalize`, ns({ spec: { finalizers: ['example.com/f'] } }), { pick: (b) => [b.spec, b.status] }), PUT(`${nss}/$ns-x/finalize`, ns(), { pick: (b) => [b.kind, b.spec] }), GET(`${nss}/$ns-x`),
  ]),
  scenario('core-namespace-finalize-methods', { section: '4.2', about: 'finalize knows only PUT' , ...own }, [POST(nss, ns(), { compare: 'status' }), GET(`${nss}/$ns-x/finalize`), PATCH(`${nss}/$ns-x/finalize`, 'merge', {}), DELETE(nss, undefined, { query: { labelSelector: 'kubernetes.io/metadata.name=$ns-x' } })]),
];
