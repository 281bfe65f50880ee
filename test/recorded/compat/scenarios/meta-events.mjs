// Event objects through both groups, and leases (§2.2, §4.2).
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';
import { at, event, lease, only, meta } from './kit/meta.mjs';

const s = (id, about, steps, o = {}) => scenario(`meta-event-${id}`, { section: '4.2', about, ...o }, steps);
const old = at('events'), fresh = at('events.k8s.io/v1/events'), o1 = at('events', 'e'), f1 = at('events.k8s.io/v1/events', 'e');
const micro = '2001-02-03T04:05:06.123456Z', past = '2001-02-03T04:05:06Z';
const modern = (rest = {}, metadata = {}) => ({ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e', ...metadata }, eventTime: micro, reportingController: 'example.com/ctl', reportingInstance: 'ctl-0', action: 'Start', reason: 'Because', regarding: { kind: 'Pod', namespace: '$ns', name: 'p' }, note: 'text', type: 'Normal', ...rest });

const legacyCases = [
  ['no-object', { involvedObject: {} }], ['object-other-namespace', { involvedObject: { kind: 'Pod', namespace: 'other', name: 'p' } }], ['object-cluster-scoped', { involvedObject: { kind: 'Node', name: 'n' } }], ['object-cluster-scoped-default', { involvedObject: { kind: 'Node', name: 'n', namespace: 'default' } }], ['no-type', { type: undefined }], ['odd-type', { type: 'Odd' }], ['no-reason', { reason: undefined }],
  ['long-message', { message: 'x'.repeat(2000) }], ['count', { count: 5, firstTimestamp: past, lastTimestamp: past, source: { component: 'c', host: 'h' } }], ['event-time', { eventTime: micro, reportingComponent: 'example.com/c', reportingInstance: 'i', action: 'A' }], ['event-time-only', { eventTime: micro }], ['bad-controller', { eventTime: micro, reportingComponent: 'not ok', reportingInstance: 'i', action: 'A' }],
  ['series', { eventTime: micro, reportingComponent: 'example.com/c', reportingInstance: 'i', action: 'A', series: { count: 3, lastObservedTime: micro } }], ['series-bad', { series: { count: 1, lastObservedTime: micro } }], ['bad-time', { firstTimestamp: 'x' }], ['related', { related: { kind: 'Node', name: 'n' } }],
].map(([id, rest]) => s(`core-${id}`, `a core event: ${id}`, [POST(old, event('e', {}, rest))]));

const modernCases = [
  ['no-event-time', { eventTime: undefined }], ['no-controller', { reportingController: undefined }], ['bad-controller', { reportingController: 'not ok' }], ['no-instance', { reportingInstance: undefined }], ['long-instance', { reportingInstance: 'x'.repeat(129) }], ['no-action', { action: undefined }], ['long-action', { action: 'x'.repeat(129) }], ['no-reason', { reason: undefined }], ['long-reason', { reason: 'x'.repeat(129) }],
  ['no-type', { type: undefined }], ['odd-type', { type: 'Odd' }], ['long-note', { note: 'x'.repeat(1025) }], ['regarding-other-namespace', { regarding: { kind: 'Pod', namespace: 'other', name: 'p' } }], ['no-regarding', { regarding: undefined }], ['series', { series: { count: 2, lastObservedTime: micro } }], ['series-count', { series: { count: 1, lastObservedTime: micro } }], ['series-no-time', { series: { count: 2 } }],
  ['deprecated-fields', { deprecatedCount: 4, deprecatedFirstTimestamp: past, deprecatedLastTimestamp: past, deprecatedSource: { component: 'c', host: 'h' } }], ['related', { related: { kind: 'Node', name: 'n' } }],
].map(([id, rest]) => s(`new-${id}`, `an events.k8s.io event: ${id}`, [POST(fresh, modern(rest))]));

const both = [
  s('both-from-core', 'an event made in the core group, read in both', [POST(old, event('e', { labels: { a: 'b' } }, { count: 2, firstTimestamp: past, lastTimestamp: past, source: { component: 'c', host: 'h' } })), GET(o1), GET(f1)]),
  s('both-from-new', 'an event made in events.k8s.io, read in both', [POST(fresh, modern({ series: { count: 2, lastObservedTime: micro }, related: { kind: 'Node', name: 'n' } })), GET(o1), GET(f1)]),
  s('both-lists', 'lists of both groups hold the same objects', [POST(old, event('a'), { compare: 'status' }), POST(fresh, modern({}, { name: 'b' }), { compare: 'status' }), GET(old, { pick: (b) => b.items.map((x) => [x.metadata.name, x.message, x.involvedObject.name]) }), GET(fresh, { pick: (b) => b.items.map((x) => [x.metadata.name, x.note, x.regarding.name]) })]),
  s('both-update', 'an event of one group changed through the other', [POST(old, event()), PATCH(f1, 'merge', { note: 'changed' }), PATCH(o1, 'merge', { message: 'again', count: 7 })]),
  s('both-delete', 'an event of one group deleted through the other', [POST(old, event(), { compare: 'status' }), DELETE(f1), GET(o1)]),
  s('new-immutable', 'fields of an events.k8s.io event that cannot change', [POST(fresh, modern(), { compare: 'status' }), PATCH(f1, 'merge', { reason: 'Other', note: 'n' }), PATCH(f1, 'merge', { series: { count: 3, lastObservedTime: micro } }, only('series')), PATCH(f1, 'merge', { series: { count: 4, lastObservedTime: micro } }, only('series')), PATCH(o1, 'merge', { message: 'by core' }, only('message'))]),
  s('core-update', 'a core event may change freely', [POST(old, event(), { compare: 'status' }), PATCH(o1, 'merge', { reason: 'Other', count: 2, involvedObject: { name: 'q' } }), PUT(o1, event('e', {}, { message: 'put' })), PUT(at('events', 'fresh'), event('fresh'))]),
  s('field-selectors', 'fields that select events', [
    POST(old, event('a', {}, { involvedObject: { kind: 'Pod', namespace: '$ns', name: 'x', uid: 'u1', apiVersion: 'v1', fieldPath: 'f', resourceVersion: '5' }, reason: 'R1', type: 'Warning', source: { component: 's1' } }), { compare: 'status' }), POST(old, event('b', {}, { reason: 'R2' }), { compare: 'status' }),
    ...['involvedObject.kind=Pod,involvedObject.name=x', 'reason=R2', 'type=Warning', 'source=s1', 'involvedObject.uid=u1', 'involvedObject.fieldPath=f', 'reportingComponent=s1', 'message=text'].map((fieldSelector) => GET(old, { query: { fieldSelector }, pick: (b) => b.items?.map((x) => x.metadata.name) ?? b })),
    ...['regarding.name=x', 'reason=R1', 'involvedObject.name=x'].map((fieldSelector) => GET(fresh, { query: { fieldSelector }, pick: (b) => b.items?.map((x) => x.metadata.name) ?? b }))]),
  s('default-namespace', 'an event about a cluster-scoped object belongs in default', [POST(old, event('e', {}, { involvedObject: { kind: 'Node', name: 'n' } }), { pick: (b) => b }), POST('/api/v1/namespaces/default/events', event('$ns-e', {}, { involvedObject: { kind: 'Node', name: 'n' } }), { query: { dryRun: 'All' }, ...only('involvedObject', 'metadata.namespace') })]),
  s('micro-time', 'forms of micro times', [...['2001-02-03T04:05:06Z', '2001-02-03T04:05:06.1Z', '2001-02-03T04:05:06.123456789Z', '2001-02-03T04:05:06.123456+02:00', 'x', 5].map((eventTime, i) => POST(fresh, modern({ eventTime }, { name: `e-${i}` }), only('eventTime')))]),
  s('generate-name', 'an event with generateName', [POST(old, { ...event(), metadata: { generateName: 'g-' } }, { pick: (b) => ({ generateName: b.metadata.generateName, length: b.metadata.name?.length }) })]),
  s('delete-collection', 'all events through one group', [POST(old, event('a'), { compare: 'status' }), POST(fresh, modern({}, { name: 'b' }), { compare: 'status' }), DELETE(fresh, undefined, { pick: (b) => b.items?.map((x) => x.metadata.name) ?? b }), GET(old, { pick: (b) => b.items })]),
];

const l = (id, about, steps, o = {}) => scenario(`meta-lease-${id}`, { section: '4.2', about, ...o }, steps);
const leases = at('coordination.k8s.io/v1/leases'), l1 = at('coordination.k8s.io/v1/leases', 'l');
const leaseScenarios = [
  l('create', 'a full lease, micro times kept', [POST(leases, lease('l', {}, { holderIdentity: 'me', leaseDurationSeconds: 15, acquireTime: micro, renewTime: micro, leaseTransitions: 0 })), GET(l1)]),
  l('empty', 'a lease without a spec', [POST(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } })]),
  ...[['duration-zero', { leaseDurationSeconds: 0 }], ['duration-negative', { leaseDurationSeconds: -1 }], ['transitions-negative', { leaseTransitions: -1 }], ['holder-empty', { holderIdentity: '' }], ['bad-time', { renewTime: 'x' }], ['strategy', { strategy: 'OldestEmulationVersion' }], ['bad-strategy', { strategy: 'not ok' }], ['preferred-holder', { preferredHolder: 'you' }]].map(([id, spec]) => l(`invalid-${id}`, `a lease with ${JSON.stringify(spec)}`, [POST(leases, lease('l', {}, spec))])),
  l('renew', 'a renewal needs the resourceVersion with PUT, not with PATCH', [POST(leases, lease(), { id: 'o', compare: 'status' }), PUT(l1, lease('l', {}, { holderIdentity: 'you' })), PUT(l1, lease('l', { resourceVersion: '${o.metadata.resourceVersion}' }, { holderIdentity: 'you', renewTime: micro })), PUT(l1, lease('l', { resourceVersion: '${o.metadata.resourceVersion}' }, { holderIdentity: 'late' })), PATCH(l1, 'merge', { spec: { leaseTransitions: 1 } }, only('spec'))]),
  l('put-creates', 'a PUT makes a missing lease', [PUT(l1, lease()), GET(l1, meta)]),
  l('spec-removed', 'the spec can be emptied', [POST(leases, lease(), { compare: 'status' }), PATCH(l1, 'merge', { spec: null }, only('spec'))]),
];

export default [...legacyCases, ...modernCases, ...both, ...leaseScenarios];
