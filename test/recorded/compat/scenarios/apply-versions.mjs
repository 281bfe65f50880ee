// Server-side apply across API versions of a kind.
import { scenario, GET, POST, PATCH, APPLY, POLL } from '../steps.ts';
import { HPA, WIDGETS, WIDGET_CRD, widgets, widget, withWidgets, owners } from './kit/apply.mjs';

const one = (id, about, steps, o = {}) => scenario(`apply-versions-${id}`, { section: '9.1', about, ...o }, steps);
const quiet = { compare: 'status' };
const by = (fieldManager, o) => ({ query: { fieldManager }, ...o });
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const v1 = (spec) => ({ apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec });
const v2 = (spec) => ({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec });
const H1 = `${HPA('v1')}/h`, H2 = `${HPA('v2')}/h`;
const base = { scaleTargetRef: target, maxReplicas: 3 };
const cpu = (averageUtilization) => [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }];

const autoscalers = [
  one('read-in-other-version', 'entries keep the version they were made in, whatever version is read', [APPLY(H1, 'm', v1({ ...base, targetCPUUtilizationPercentage: 50 }), quiet), GET(H2), GET(H1)]),
  one('same-manager-two-versions', 'an applier that changes the version keeps one entry, in the new version', [APPLY(H1, 'm', v1({ ...base, minReplicas: 2 }), quiet), APPLY(H2, 'm', v2(base), { pick: (b) => ({ managedFields: b.metadata?.managedFields, spec: b.spec, message: b.message }) })]),
  one('removal-across-versions', 'a field that has another path in the other version is not removed when the applier moves there without it', [APPLY(H1, 'm', v1({ ...base, targetCPUUtilizationPercentage: 50 }), quiet), APPLY(H2, 'm', v2(base), { pick: (b) => ({ managedFields: b.metadata?.managedFields, spec: b.spec, message: b.message }) })]),
  one('two-appliers-two-versions', 'two appliers in two versions: the other one\'s fields are compared in its own version', [APPLY(H1, 'm1', v1({ ...base, minReplicas: 2 }), quiet), APPLY(H2, 'm2', v2({ minReplicas: 2, behavior: { scaleDown: { stabilizationWindowSeconds: 9 } } }), { pick: owners })]),
  one('conflict-across-versions', 'a conflict with a manager of another version', [APPLY(H1, 'm1', v1({ ...base, minReplicas: 2 }), quiet), APPLY(H2, 'm2', v2({ minReplicas: 1 })), APPLY(H2, 'm2', v2({ minReplicas: 1 }), { force: true, pick: owners })]),
  one('conflict-moved-field', 'a conflict on a field that has another path in the other version', [APPLY(H1, 'm1', v1({ ...base, targetCPUUtilizationPercentage: 50 }), quiet), APPLY(H2, 'm2', v2({ metrics: cpu(60) })), APPLY(H2, 'm2', v2({ metrics: cpu(60) }), { force: true, pick: owners })]),
  one('conflict-with-update-of-other-version', 'the message names the version of an Update manager', [POST(HPA('v1'), v1({ ...base, minReplicas: 2 }), by('u', quiet)), APPLY(H2, 'm', v2({ minReplicas: 1 }))]),
  one('update-two-versions', 'an updater that uses two versions has two entries', [POST(HPA('v1'), v1(base), by('u', quiet)), PATCH(H2, 'merge', { spec: { behavior: { scaleDown: { stabilizationWindowSeconds: 9 } } } }, by('u', { pick: owners })), PATCH(H1, 'merge', { spec: { minReplicas: 2 } }, by('u', { pick: owners }))]),
  one('update-moves-field', 'an update in v2 of a field that was applied in v1 under another path', [APPLY(H1, 'm', v1({ ...base, targetCPUUtilizationPercentage: 50 }), quiet), PATCH(H2, 'json-patch', [{ op: 'replace', path: '/spec/metrics/0/resource/target/averageUtilization', value: 70 }], by('u', { pick: owners })), GET(H1, { pick: (b) => b.spec })]),
  one('wrong-version-in-body', 'a body in another version than the path is 400', [APPLY(H1, 'm', v2(base)), APPLY(H2, 'm', v1(base)), APPLY(H2, 'm', v1(base), { force: true })]),
  one('removed-version', 'a version that is no longer served is 404', [APPLY(`${HPA('v2beta2')}/h`, 'm', { ...v2(base), apiVersion: 'autoscaling/v2beta2' })]),
  one('entry-of-removed-version', 'an entry of a version that is gone is dropped at once; what it owned goes to before-first-apply with the next apply', [
    POST(HPA('v2'), v2(base), by('u', { id: 'h', ...quiet })),
    PATCH(H2, 'json-patch', [{ op: 'replace', path: '/metadata/managedFields/0/apiVersion', value: 'autoscaling/v2beta2' }], by('x', { pick: owners })),
    PATCH(H2, 'merge', { spec: { minReplicas: 2 } }, by('x', { pick: owners })), APPLY(H2, 'm', v2({ minReplicas: 2 }), { pick: owners }),
  ]),
];

const EV = '/api/v1/namespaces/$ns/events', EV2 = '/apis/events.k8s.io/v1/namespaces/$ns/events';
const core = (o) => ({ apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: { kind: 'Pod', name: 'p', namespace: '$ns' }, reason: 'R', type: 'Normal', source: { component: 'c' }, ...o });
const modern = (o) => ({ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e' }, regarding: { kind: 'Pod', name: 'p', namespace: '$ns' }, reason: 'R', type: 'Normal', action: 'A', reportingController: 'x.io/c', reportingInstance: 'i', eventTime: '2020-01-01T00:00:00.000000Z', ...o });
const events = [
  one('event-groups', 'an event applied in the core group and in events.k8s.io: no conflict between the groups (another note is 422), the same note is shared', [
    APPLY(`${EV}/e`, 'm1', core({ message: 'one', count: 1 }), quiet), GET(`${EV2}/e`, { ignore: ['deprecatedSource'] }), APPLY(`${EV2}/e`, 'm2', { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e' }, note: 'two' }), APPLY(`${EV2}/e`, 'm2', { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e' }, note: 'one' }),
  ]),
  one('event-modern', 'an event applied in events.k8s.io and read in the core group', [APPLY(`${EV2}/e`, 'm', modern({ note: 'n' })), GET(`${EV}/e`)]),
  one('event-same-manager', 'the same applier in both groups has one entry', [APPLY(`${EV}/e`, 'm', core({ message: 'one' }), quiet), APPLY(`${EV2}/e`, 'm', { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e' }, note: 'one', regarding: { kind: 'Pod', name: 'p', namespace: '$ns' } })]),
];

const schema = { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' }, list: { type: 'array', items: { type: 'string' } } } } } };
const two = (first, second) => [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...first }, { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: schema }, ...second }];
const W2 = WIDGETS.replace('/v1/', '/v2/');
/** Changes the definition and waits until the change is served: it comes with a new field that has a default. */
const mark = (i) => ({ op: 'add', path: `/spec/versions/${i}/schema/openAPIV3Schema/properties/spec/properties/mark`, value: { type: 'string', default: 'new' } });
const changed = (...ops) => [
  PATCH(WIDGET_CRD, 'json-patch', [...ops, mark(0)], quiet),
  POLL(`${WIDGETS}/w`, (b) => b.spec?.mark === 'new', { compare: 'status' }),
];
const custom = [
  scenario('apply-versions-custom', withWidgets('9.1', 'a custom resource applied in two versions'), [
    ...widgets(undefined, { versions: two() }),
    APPLY(`${WIDGETS}/w`, 'm1', widget('w', { spec: { a: '1' } })), APPLY(`${W2}/w`, 'm2', widget('w', { spec: { a: '2', b: '2' } }, 'v2')), APPLY(`${W2}/w`, 'm2', widget('w', { spec: { b: '2' } }, 'v2')), APPLY(`${W2}/w`, 'm1', widget('w', {}, 'v2')),
  ]),
  scenario('apply-versions-custom-unserved', withWidgets('9.1', 'entries of a version that a custom resource no longer serves still count'), [
    ...widgets(undefined, { versions: two() }),
    APPLY(`${W2}/w`, 'm2', widget('w', { spec: { a: '1' } }, 'v2'), quiet),
    ...changed({ op: 'replace', path: '/spec/versions/1/served', value: false }, mark(1)),
    GET(`${WIDGETS}/w`, { pick: owners }),
    APPLY(`${WIDGETS}/w`, 'm1', widget('w', { spec: { a: '2' } })), PATCH(`${WIDGETS}/w`, 'merge', { spec: { b: '3' } }, by('u')),
  ]),
  scenario('apply-versions-custom-removed', withWidgets('9.1', 'entries of a version that a custom resource no longer has: apply is 500, an update drops all managed fields'), [
    ...widgets(undefined, { versions: two() }),
    APPLY(`${W2}/w`, 'm2', widget('w', { spec: { a: '1' } }, 'v2'), quiet), PATCH(`${W2}/w`, 'merge', { spec: { b: '1' } }, by('u2', quiet)),
    ...changed({ op: 'remove', path: '/spec/versions/1' }),
    GET(`${WIDGETS}/w`, { pick: owners }),
    APPLY(`${WIDGETS}/w`, 'm1', widget('w', { spec: { a: '2' } })), APPLY(`${WIDGETS}/w`, 'm1', widget('w', { spec: { a: '2' } }), { force: true }), PATCH(`${WIDGETS}/w`, 'merge', { spec: { b: '3' } }, by('u')),
  ]),
  scenario('apply-versions-custom-schemas-differ', withWidgets('9.1', 'a field that another version does not know, set while that version has entries: apply is 500, an update drops all managed fields'), [
    ...widgets(undefined, { versions: two({ schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { ...schema.properties.spec.properties, only1: { type: 'string' } } } } } } }) }),
    APPLY(`${W2}/w`, 'm2', widget('w', { spec: { a: '1' } }, 'v2'), quiet), APPLY(`${WIDGETS}/w`, 'm1', widget('w', { spec: { only1: 'x' } })),
    PATCH(`${WIDGETS}/w`, 'merge', { spec: { only1: 'y' } }, by('u')), GET(`${W2}/w`), APPLY(`${W2}/w`, 'm2', widget('w', { spec: { a: '1' } }, 'v2')), APPLY(`${WIDGETS}/w`, 'm1', widget('w', { spec: { b: 'x' } })),
  ]),
  scenario('apply-versions-custom-update-managers', withWidgets('9.1', 'an updater of a custom resource in two versions has two entries'), [
    ...widgets(undefined, { versions: two() }), POST(WIDGETS, widget('w', { spec: { a: '1' } }), by('u', quiet)), PATCH(`${W2}/w`, 'merge', { spec: { b: '1' } }, by('u')),
  ]),
];

/** Kinds of which the server knows another version that it does not serve, or knows no more: list, object, that version. */
const meta = { metadata: { name: '$ns-x' } };
const unserved = {
  'service-cidr': ['/apis/networking.k8s.io/v1/servicecidrs', { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', ...meta, spec: { cidrs: ['10.77.0.0/24'] } }, 'networking.k8s.io/v1beta1'],
  'admission-policy': ['/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', ...meta, spec: { failurePolicy: 'Ignore', matchConstraints: { resourceRules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }] }, validations: [{ expression: 'true' }] } }, 'admissionregistration.k8s.io/v1beta1'],
  'admission-policy-alpha': ['/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', ...meta, spec: { failurePolicy: 'Ignore', matchConstraints: { resourceRules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }] }, validations: [{ expression: 'true' }] } }, 'admissionregistration.k8s.io/v1alpha1'],
  'deployment-extensions': ['/apis/apps/v1/namespaces/$ns/deployments', { apiVersion: 'apps/v1', kind: 'Deployment', ...meta, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } }, 'extensions/v1beta1'],
  'deployment-apps': ['/apis/apps/v1/namespaces/$ns/deployments', { apiVersion: 'apps/v1', kind: 'Deployment', ...meta, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } }, 'apps/v1beta2'],
  lease: ['/apis/coordination.k8s.io/v1/namespaces/$ns/leases', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...meta, spec: { holderIdentity: 'h' } }, 'coordination.k8s.io/v1beta1'],
  'cron-job': ['/apis/batch/v1/namespaces/$ns/cronjobs', { apiVersion: 'batch/v1', kind: 'CronJob', ...meta, spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } } } }, 'batch/v1beta1'],
  'other-group': ['/api/v1/namespaces/$ns/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', ...meta, data: { a: 'b' } }, 'apps/v1'],
  'unknown-group': ['/api/v1/namespaces/$ns/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', ...meta, data: { a: 'b' } }, 'none.example.com/v1'],
};
const shown = { pick: owners };
const entries = (id, [list, object, other], o = {}) =>
  one(id, `an entry of ${other} in the managed fields of a ${object.kind}: kept or dropped by an update, a merge patch that changes nothing, an apply`, [
    POST(list, object, by('u', quiet)),
    PATCH(`${list}/$ns-x`, 'json-patch', [{ op: 'replace', path: '/metadata/managedFields/0/apiVersion', value: other }], by('x', shown)),
    GET(`${list}/$ns-x`, shown),
    PATCH(`${list}/$ns-x`, 'merge', {}, by('y', shown)),
    APPLY(`${list}/$ns-x`, 'm', { apiVersion: object.apiVersion, kind: object.kind, metadata: { name: '$ns-x', labels: { l: 'v' } } }, shown),
  ], { cleanup: [`${list}/$ns-x`], ...o });
const ofUnserved = Object.entries(unserved).map(([id, row]) => entries(`unserved-${id}`, row));
const ofServed = ['service-cidr', 'admission-policy', 'admission-policy-alpha', 'lease'].map((id) => entries(`all-served-${id}`, unserved[id], { needs: 'all-versions' }));

export default [...autoscalers, ...events, ...custom, ...ofUnserved, ...ofServed];
