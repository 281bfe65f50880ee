// What a differential fuzzer found of apply and ownership, patches that change what an object is, amounts, and fields of gates.
import { scenario, GET, POST, PUT, PATCH, APPLY } from '../steps.ts';
import { CM, DEP, HPA, POD, SVC, WIDGETS, cm, deployment, owners, pod, service, widget, widgets, withWidgets } from './kit/apply.mjs';

const one = (id, about, steps, o = {}) => scenario(`apply-sound-${id}`, { section: '2.3', about, ...o }, steps);
const quiet = { compare: 'status' };
const by = (fieldManager, o) => ({ query: { fieldManager }, ...o });
const told = { pick: owners };
const group = (g, r) => `/apis/${g}/namespaces/$ns/${r}`;

const ROLE = group('rbac.authorization.k8s.io/v1', 'roles');
const role = (rules) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'x' }, rules });
const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const RANGE = '/api/v1/namespaces/$ns/limitranges';
const range = (limits) => ({ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'x' }, spec: { limits } });
const SLICE = group('discovery.k8s.io/v1', 'endpointslices');
const slice = (endpoints) => ({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 'x' }, addressType: 'IPv4', endpoints });
const CROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const labelled = (at, o) => PATCH(at, 'merge', { metadata: { labels: { a: 'b' } } }, by('other', { ...told, ...o }));
const emptyLists = [
  one('empty-rules', 'an owned empty list stays with its owner when another writes something else', [
    APPLY(`${ROLE}/x`, 'helm', role([]), told), labelled(`${ROLE}/x`), APPLY(`${ROLE}/x`, 'helm', role([rule]), told), APPLY(`${ROLE}/x`, 'helm', role([]), told), APPLY(`${ROLE}/x`, 'third', role([rule])),
  ]),
  one('empty-rules-update', 'the same of who created it', [POST(ROLE, role([]), by('helm', told)), labelled(`${ROLE}/x`), APPLY(`${ROLE}/x`, 'm', role([rule])), PUT(`${ROLE}/x`, role([]), by('putter', told))]),
  one('empty-rules-null', 'null and absent rules', [APPLY(`${ROLE}/x`, 'helm', role(null), told), labelled(`${ROLE}/x`), APPLY(`${ROLE}/x`, 'helm', role(undefined), told), APPLY(`${ROLE}/x`, 'helm', role([rule]), told)]),
  one('empty-limits', 'an empty list of limits', [APPLY(`${RANGE}/x`, 'helm', range([]), told), labelled(`${RANGE}/x`), APPLY(`${RANGE}/x`, 'helm', range([{ type: 'Pod', max: { cpu: '1' } }]), told)]),
  one('empty-limits-update', 'an empty list of limits by update', [POST(RANGE, range([]), by('helm', told)), labelled(`${RANGE}/x`), APPLY(`${RANGE}/x`, 'm', range([{ type: 'Pod', max: { cpu: '1' } }]))]),
  one('empty-endpoints', 'an empty list of endpoints', [APPLY(`${SLICE}/x`, 'helm', slice([]), told), labelled(`${SLICE}/x`), APPLY(`${SLICE}/x`, 'helm', slice([{ addresses: ['10.1.1.1'] }]), told)]),
  one('empty-endpoints-update', 'an empty list of endpoints by update', [POST(SLICE, slice([]), by('helm', told)), labelled(`${SLICE}/x`), PUT(`${SLICE}/x`, slice([{ addresses: ['10.1.1.1'] }]), by('putter', told)), PUT(`${SLICE}/x`, slice([]), by('helm', told)), labelled(`${SLICE}/x`)]),
  one('empty-aggregated', 'the rules of an aggregated role', [
    APPLY(`${CROLE}/$ns-x`, 'helm', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '$ns-x' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { '$ns': 'x' } }] }, rules: [] }, told), labelled(`${CROLE}/$ns-x`),
    APPLY(`${CROLE}/$ns-x`, 'helm', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '$ns-x' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { '$ns': 'x' } }] }, rules: [rule] }, told),
  ], { cleanup: [`${CROLE}/$ns-x`] }),
  one('empty-subjects', 'a binding without subjects', [
    APPLY(`${group('rbac.authorization.k8s.io/v1', 'rolebindings')}/x`, 'helm', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'x' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [] }, told), labelled(`${group('rbac.authorization.k8s.io/v1', 'rolebindings')}/x`),
  ]),
];

const preserve = { 'x-kubernetes-preserve-unknown-fields': true };
const any = { type: 'object', properties: { spec: { type: 'object', properties: { any: { type: 'object', ...preserve } } } } };
const unknown = (id, about, steps) => scenario(`apply-sound-unknown-${id}`, withWidgets('2.9', about), [
  ...widgets(any),
  ...steps.map(([manager, value, o]) => (o === 'post' ? POST(WIDGETS, widget('w', { spec: { any: value } }), by(manager, told)) : APPLY(`${WIDGETS}/w`, manager, widget('w', { spec: { any: value } }), o))),
]);
const unknowns = [
  unknown('scalar-over-object', 'a number over an object that another owns', [['creator', { a: { b: 1 } }, 'post'], ['m', { a: 1 }], ['m', { a: 1 }, { force: true }]]),
  unknown('scalar-over-applied', 'the same of an applied one', [['one', { a: { b: 1 } }], ['m', { a: 1 }], ['m', { a: 1 }, { force: true }], ['one', { a: { b: 1 } }]]),
  unknown('scalar-over-empty', 'a number over an empty object', [['creator', { a: {} }, 'post'], ['m', { a: 1 }], ['m', { a: {} }], ['m', { a: { b: 2 } }]]),
  unknown('scalar-over-list', 'a number over a list, a list over a number', [['creator', { a: [1], b: 1 }, 'post'], ['m', { a: 1 }], ['m', { b: [1] }], ['m', { a: [] }], ['m', { a: [2] }]]),
  unknown('scalar-over-deep', 'a number over an object with many fields', [['creator', { a: { b: { c: 1, d: 2 }, e: [1] } }, 'post'], ['m', { a: { b: 3 } }], ['m', { a: 3 }], ['m', { a: { b: 3 } }, { force: true }]]),
  unknown('null-over-object', 'null over an object', [['creator', { a: { b: 1 } }, 'post'], ['m', { a: null }], ['m', { a: { b: null } }], ['m', { a: null }, { force: true }]]),
  unknown('object-over-null', 'an object over null', [['creator', { a: null }, 'post'], ['m', { a: { b: [] } }], ['n', { a: { b: 1 } }], ['m', { a: { b: 1 } }]]),
  unknown('object-over-null-scalar', 'a number over null, and null over a number', [['creator', { a: null, b: 1 }, 'post'], ['m', { a: 1 }], ['m', { b: null }]]),
  unknown('list-over-null', 'a list over null', [['creator', { a: null }, 'post'], ['m', { a: [1] }], ['n', { a: [] }]]),
  unknown('object-over-scalar', 'an object over a number', [['creator', { a: 1 }, 'post'], ['m', { a: { b: 1 } }], ['m', { a: {} }], ['m', { a: { b: 1 } }, { force: true }]]),
  unknown('list-over-object', 'a list over an object, an object over a list', [['creator', { a: { b: 1 }, c: [1] }, 'post'], ['m', { a: [1] }], ['m', { c: { d: 1 } }], ['m', { a: [1], c: { d: 1 } }, { force: true }]]),
];

const H1 = `${HPA('v1')}/h`, H2 = `${HPA('v2')}/h`;
const v1 = (spec, o) => ({ apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, ...(spec ? { spec } : {}), ...o });
const v2 = (spec, o) => ({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, ...(spec ? { spec } : {}), ...o });
const base = { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'x' } };
const metric = (name, target) => ({ type: 'Resource', resource: { name, target } });
const memory = metric('memory', { type: 'AverageValue', averageValue: '1Gi' });
const versions = [
  one('versions-nothing', 'applied in v1, then in v2 without a spec by the same manager', [APPLY(H1, 'm', v1(base)), APPLY(H2, 'm', v2()), APPLY(H1, 'm', v1())]),
  one('versions-nothing-back', 'applied in v2, then in v1 without a spec', [APPLY(H2, 'm', v2({ ...base, metrics: [memory] })), APPLY(H1, 'm', v1()), APPLY(H2, 'm', v2(base))]),
  one('versions-less', 'applied in v1, then less of it in v2', [APPLY(H1, 'm', v1({ ...base, minReplicas: 2, targetCPUUtilizationPercentage: 50 })), APPLY(H2, 'm', v2(base)), APPLY(H1, 'm', v1(base))]),
  one('versions-metrics', 'metrics that one version keeps in annotations', [APPLY(H2, 'm', v2({ ...base, metrics: [memory] })), APPLY(H1, 'm', v1(base)), APPLY(H1, 'm', v1({ ...base, targetCPUUtilizationPercentage: 70 })), GET(H2)]),
  one('versions-second', 'a field that a second manager owns in another version is removed by the first', [
    APPLY(H1, 'one', v1({ ...base, minReplicas: 2 })), APPLY(H2, 'two', v2({ minReplicas: 2 })), APPLY(H1, 'one', v1(base)), APPLY(H2, 'two', v2({})), GET(H1),
  ]),
  one('versions-second-metrics', 'the same of a field that the versions write in different places', [
    APPLY(H1, 'one', v1({ ...base, targetCPUUtilizationPercentage: 50 })), APPLY(H2, 'two', v2({ metrics: [metric('cpu', { type: 'Utilization', averageUtilization: 50 })] })), APPLY(H1, 'one', v1(base)), APPLY(H2, 'two', v2({})), GET(H1),
  ]),
  one('versions-second-update', 'the same of who updates', [APPLY(H1, 'one', v1({ ...base, minReplicas: 2 })), PATCH(H2, 'merge', { spec: { minReplicas: 3 } }, by('two')), APPLY(H1, 'one', v1(base)), APPLY(H1, 'one', v1({ ...base, minReplicas: 2 }))]),
  scenario('apply-sound-versions-custom', withWidgets('2.9', 'a custom kind: a field that a second manager owns in another version is removed by the first'), [
    ...widgets(undefined, { versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } } } } } })) }),
    APPLY(`${WIDGETS}/w`, 'one', widget('w', { spec: { a: '1', b: '1' } })), APPLY(`${WIDGETS.replace('/v1/', '/v2/')}/w`, 'two', widget('w', { spec: { a: '1' } }, 'v2')), APPLY(`${WIDGETS}/w`, 'one', widget('w', { spec: { b: '1' } })), APPLY(`${WIDGETS.replace('/v1/', '/v2/')}/w`, 'two', widget('w', {}, 'v2')), APPLY(`${WIDGETS.replace('/v1/', '/v2/')}/w`, 'one', widget('w', {}, 'v2')),
  ]),
];

const REV = group('apps/v1', 'controllerrevisions');
const revision = (data, o) => ({ apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'x' }, revision: 1, data, ...o });
const data = [
  one('revision-data', 'the data of a controller revision is one owned field', [APPLY(`${REV}/x`, 'm', revision({ a: { b: 1 } })), APPLY(`${REV}/x`, 'n', revision({ a: { b: 1 } }, { revision: undefined })), APPLY(`${REV}/x`, 'n', revision({ c: 1 }, { revision: undefined }))]),
  one('revision-data-update', 'the same by create and patch', [POST(REV, revision({ a: { b: 1 }, l: [1] }), by('c')), PATCH(`${REV}/x`, 'merge', { metadata: { labels: { a: 'b' } } }, by('p'))]),
  one('revision-data-scalar', 'data that is no object', [APPLY(`${REV}/x`, 'm', revision('text')), APPLY(`${REV}/x`, 'm', revision([1, 2])), APPLY(`${REV}/x`, 'm', revision(null))]),
];

const gatedSpec = { resources: { limits: { cpu: '1' } }, resourceClaims: [{ name: 'x', resourceClaimName: 'y' }], containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'x' }] }, lifecycle: { stopSignal: 'SIGTERM' }, volumeMounts: [{ name: 'v', mountPath: '/v' }] }], volumes: [{ name: 'v', image: { reference: 'r' } }, { name: 'w', emptyDir: {} }], os: { name: 'linux' } };
const gates = [
  one('gated-create', 'fields of gates that are off are dropped and stay owned', [POST(POD, pod('p', gatedSpec)), PATCH(`${POD}/p`, 'merge', { metadata: { labels: { a: 'b' } } }), GET(`${POD}/p`)]),
  one('gated-apply', 'the same of an apply', [APPLY(`${POD}/p`, 'm', pod('p', gatedSpec)), APPLY(`${POD}/p`, 'm', pod('p', gatedSpec)), APPLY(`${POD}/p`, 'n', pod('p', { containers: [{ name: 'c', image: 'i' }] }))]),
  one('gated-template', 'the same of a template', [APPLY(`${DEP}/d`, 'm', deployment('d', {}, gatedSpec)), PATCH(`${DEP}/d`, 'merge', { spec: { template: { spec: { resourceClaims: [{ name: 'z', resourceClaimName: 'y' }] } } } })]),
  one('gated-bundle', 'a projected trust bundle', [POST(POD, pod('p', { volumes: [{ name: 't', projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'p' } }] } }] }))]),
  one('gated-status', 'fields of the status', [POST(POD, pod('p'), quiet), PATCH(`${POD}/p/status`, 'merge', { status: { observedGeneration: 2, conditions: [{ type: 'Ready', status: 'True', observedGeneration: 2 }], resourceClaimStatuses: [{ name: 'x' }], containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0, allocatedResourcesStatus: [{ name: 'x', resources: [] }] }] } })]),
  one('gated-lease', 'a lease with fields of leader election', [APPLY(`${group('coordination.k8s.io/v1', 'leases')}/l`, 'm', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: { holderIdentity: 'h', strategy: 'OldestEmulationVersion', preferredHolder: 'p' } })]),
  one('dropped-traffic-policy', 'a traffic policy of an external name is dropped and stays owned', [POST(SVC, { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: { type: 'ExternalName', externalName: 'a', internalTrafficPolicy: 'Local' } }), APPLY(`${SVC}/y`, 'm', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'y' }, spec: { type: 'ExternalName', externalName: 'a', internalTrafficPolicy: 'Local' } })]),
];

const parts = [
  one('status-creates-service', 'apply to /status of a Service that is not there creates it', [
    APPLY(`${SVC}/x/status`, 'm', service('x', { ports: [{ port: 80 }] })), GET(`${SVC}/x`), APPLY(`${SVC}/y/status`, 'm', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'y' } }), APPLY(`${SVC}/z/status`, 'm', { ...service('z', { ports: [{ port: 80 }] }), status: { loadBalancer: { ingress: [{ ip: '10.1.1.1' }] } } }),
    ...['v', 'w'].map((name, at) => (at === 0 ? APPLY : (p, _, b) => PUT(p, b))(`${SVC}/${name}/status`, 'm', { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] }, status: { loadBalancer: { ingress: [{ ip: '10.1.1.1' }] } } })),
    PATCH(`${SVC}/u/status`, 'merge', { spec: { ports: [{ port: 80 }] } }), PUT(`${SVC}/u/status`, service('u', { ports: [{ port: 80 }] })),
  ]),
  ...[['range', '/api/v1/namespaces/$ns/limitranges/x/status'], ['endpoints', '/api/v1/namespaces/$ns/endpoints/x/status'], ['quota', '/api/v1/namespaces/$ns/resourcequotas/x/status'], ['lease', `${group('coordination.k8s.io/v1', 'leases')}/x/status`], ['deployment', `${DEP}/x/status`]].map(([id, at]) => one(`status-creates-${id}`, 'whether /status of another kind creates', [APPLY(at, 'm', { apiVersion: id === 'lease' ? 'coordination.k8s.io/v1' : id === 'deployment' ? 'apps/v1' : 'v1', kind: { range: 'LimitRange', endpoints: 'Endpoints', quota: 'ResourceQuota', lease: 'Lease', deployment: 'Deployment' }[id], metadata: { name: 'x' } })])),
  one('status-pod-deletion', 'a deletion timestamp through /status of a pod is passed over', [
    POST(POD, pod('p'), { id: 'p', ...quiet }), APPLY(`${POD}/p/status`, 'm', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', deletionTimestamp: '2020-01-01T00:00:00Z', ownerReferences: [] }, status: { phase: 'Running' } }, told),
    PATCH(`${POD}/p/status`, 'merge', { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' }, status: { phase: 'Running' } }, told),
    PATCH(`${DEP}/d/status`, 'merge', { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }), POST(DEP, deployment('d'), quiet), PATCH(`${DEP}/d/status`, 'merge', { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }),
    PATCH(`${POD}/p`, 'merge', { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }),
  ]),
];

const QUOTA = '/api/v1/namespaces/$ns/resourcequotas';
const hard = (cpu) => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'x' }, spec: { hard: { cpu } } });
const shown = { query: { dryRun: 'All' }, pick: (b) => (b.kind === 'Status' ? b : b.spec.hard.cpu) };
const amounts = (id, texts) => one(`amounts-${id}`, `amounts: ${id}`, texts.map((text) => POST(QUOTA, hard(text), shown)));
const quantities = [
  amounts('without-digits', ['k', 'm', '.', '-', '+', '', 'Ki', 'e3', 'E3', '-k', '+.m', '.k', 'n', 'E', 'e', '-.', '..', 'kk', 'i']),
  amounts('dots', ['5.k', '5.', '.5', '.5k', '5.0k', '05', '005.50', '5.00', '-5.k', '+5.k', '5.Ki', '5.e3', '5.E', '0.', '0.k', '00.00']),
  amounts('large', ['9223372036854775807', '9223372036854775808', '9223372036854775807k', '99999999999999999999', '999999999999999999999999999999', '9E', '10E', '8Ei', '16Ei', '1e18', '1e19', '1e30', '-9223372036854775808', '-9223372036854775809', '10000000000000000000Ki', '9223372036854775807Ki', '123456789012345678901234567890m']),
  amounts('small', ['1n', '0.1n', '1u', '1.5u', '0.0001m', '1e-3', '1e-9', '1e-10', '0.0000000001', '0.5m', '1.23456789m', '100m', '0.1', '1500m', '0.1Ki', '0.5Ki', '1.5Gi', '0.001Ki', '1e-3k', '12345678.123456789']),
  amounts('signs', ['-0', '+0', '-1', '+1', '-1m', '-1.5', '-0.5m', '-1Ki', '--1', '+-1', '1-', ' 1', '1 ', '1k ', '1_000', '1,0', '0x1', '1K', '1ki', '1mi', '1e', '1e+3', '1e-', '1e03', '1E+3', '1Eim', '1.5.5']),
  amounts('numbers', [1, 1.5, -1, 0, 1e3, 1e21, 123456789012345680000, 0.1, 1e-7, true, null, [], {}]),
];

const typed = [
  ...[['merge', 'application/merge-patch+json'], ['strategic', 'application/strategic-merge-patch+json']].map(([kind]) => one(`patch-null-version-${kind}`, 'a patch takes the apiVersion away', [
    POST(CM, cm('c', { a: 'b' }), quiet), ...['Strict', 'Warn', 'Ignore'].map((fieldValidation) => PATCH(`${CM}/c`, kind, { apiVersion: null }, { query: { fieldValidation }, compareHeaders: ['warning'] })), PATCH(`${CM}/c`, kind, { apiVersion: null, unknown: 1 }, { query: { fieldValidation: 'Strict' } }), PATCH(`${CM}/c`, kind, { kind: null }, { query: { fieldValidation: 'Strict' } }), PATCH(`${CM}/c`, kind, { kind: null, apiVersion: null }, { query: { fieldValidation: 'Strict' } }),
  ])),
  one('patch-null-version-kinds', 'of kinds with other fields', [
    POST('/api/v1/namespaces/$ns/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }, quiet), PATCH('/api/v1/namespaces/$ns/secrets/s', 'merge', { apiVersion: null }, { compareHeaders: ['warning'] }), POST(DEP, deployment('d'), quiet), PATCH(`${DEP}/d`, 'merge', { apiVersion: null }, { compareHeaders: ['warning'] }), PATCH(`${DEP}/d/status`, 'merge', { apiVersion: null }, { compareHeaders: ['warning'] }), PATCH(`${DEP}/d`, 'merge', { apiVersion: '' }, { compareHeaders: ['warning'] }), PATCH(`${DEP}/d`, 'json-patch', [{ op: 'remove', path: '/apiVersion' }], { compareHeaders: ['warning'] }), PATCH(`${DEP}/d`, 'json-patch', [{ op: 'remove', path: '/apiVersion' }], { query: { fieldValidation: 'Strict' } }), PATCH(`${DEP}/d/scale`, 'merge', { apiVersion: null }, { compareHeaders: ['warning'] }),
    PATCH(`${DEP}/d`, 'merge', { apiVersion: 'v1' }), PATCH(`${DEP}/d`, 'merge', { apiVersion: 'apps/v1beta1' }), PATCH(`${DEP}/d`, 'merge', { kind: 'DaemonSet' }), PATCH(`${DEP}/d`, 'merge', { kind: null }, { compareHeaders: ['warning'] }),
  ]),
  scenario('apply-sound-patch-null-version-custom', withWidgets('2.9', 'of a custom kind'), [...widgets(any), POST(WIDGETS, widget('w'), quiet), ...['Strict', 'Warn'].map((fieldValidation) => PATCH(`${WIDGETS}/w`, 'merge', { apiVersion: null }, { query: { fieldValidation }, compareHeaders: ['warning'] })), PATCH(`${WIDGETS}/w`, 'merge', { kind: null }), PATCH(`${WIDGETS}/w`, 'merge', { metadata: { name: 'q', namespace: 'r' } })]),
  one('patch-name-and-namespace', 'a patch that changes name and namespace', [
    POST(CM, cm('c', { a: 'b' }), quiet), ...['merge', 'strategic'].flatMap((kind) => [PATCH(`${CM}/c`, kind, { metadata: { name: 'q', namespace: 'r' } }), PATCH(`${CM}/c`, kind, { metadata: { namespace: 'r' } }), PATCH(`${CM}/c`, kind, { metadata: { name: 'q' } }), PATCH(`${CM}/c`, kind, { metadata: { name: null, namespace: 'r' } }), PATCH(`${CM}/c`, kind, { metadata: { name: null, namespace: null } }), PATCH(`${CM}/c`, kind, { metadata: { name: 'q', uid: 'u', resourceVersion: '1' } })]),
    PUT(`${CM}/c`, cm({ name: 'q', namespace: 'r' }, {})), PUT(`${CM}/c`, cm({ name: 'c', namespace: 'r' }, {})), APPLY(`${CM}/c`, 'm', cm({ name: 'q', namespace: 'r' }, {})), APPLY(`${CM}/c`, 'm', cm({ name: 'c', namespace: 'r' }, {})), PUT(`${POD}/p/status`, pod({ name: 'q', namespace: 'r' })), PATCH('/api/v1/nodes/$ns', 'merge', { metadata: { name: 'q' } }),
  ]),
];

const withStatus = (name) => ({ name, served: true, storage: name === 'v1', subresources: { status: {} }, schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } }, status: { type: 'object', properties: { s: { type: 'string' } } } } } } });
const statuses = [
  scenario('apply-sound-status-other-version', withWidgets('2.9', 'a spec applied through /status conflicts with its owner in another version'), [
    ...widgets(undefined, { versions: ['v1', 'v2'].map(withStatus) }),
    APPLY(`${WIDGETS.replace('/v1/', '/v2/')}/w`, 'two', widget('w', { spec: { a: '1' } }, 'v2')), APPLY(`${WIDGETS}/w/status`, 'one', widget('w', { spec: { a: '2' }, status: { s: '1' } })), APPLY(`${WIDGETS}/w/status`, 'one', widget('w', { spec: { a: '1' }, status: { s: '1' } })), APPLY(`${WIDGETS}/w/status`, 'one', widget('w', { spec: { a: '2' }, status: { s: '2' } }), { force: true }),
    PATCH(`${WIDGETS}/w/status`, 'merge', { spec: { a: '3' }, status: { s: '3' } }, by('three')), APPLY(`${WIDGETS}/w`, 'one', widget('w', { spec: { a: '1' }, status: { s: '9' } })),
  ]),
];
const SA = '/api/v1/namespaces/$ns/serviceaccounts';
const account = (o) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'x' }, ...o });
const others = [
  one('other-version-unknown', 'a body of another version is read as such before it is refused', [
    POST(HPA('v1'), v1(base), quiet), ...['Strict', 'Warn', 'Ignore'].flatMap((fieldValidation) => [PUT(H1, v2({ ...base, targetCPUUtilizationPercentage: 5 }, { other: 1 }), { query: { fieldValidation }, compareHeaders: ['warning'] }), PUT(H1, v2({ ...base, maxReplicas: 'x' }), { query: { fieldValidation }, compareHeaders: ['warning'] })]),
    POST(HPA('v2'), v1({ ...base, metrics: [] }), { compareHeaders: ['warning'] }), POST(DEP, { ...deployment('d'), apiVersion: 'apps/v1beta1', unknown: 1 }, { compareHeaders: ['warning'] }), POST(DEP, { ...deployment('d', { rollbackTo: {} }), apiVersion: 'extensions/v1beta1' }, { compareHeaders: ['warning'] }),
  ]),
  one('keys-optional', 'items whose key is not always written', [
    APPLY(`${SA}/x`, 'm', account({ secrets: [{}] })), APPLY(`${SA}/x`, 'm', account({ imagePullSecrets: [{}] })), APPLY(`${SA}/y`, 'm', { ...account({ secrets: [{ name: 'a' }, { namespace: 'b' }] }), metadata: { name: 'y' } }), APPLY(`${POD}/p`, 'm', pod('p', { imagePullSecrets: [{}] }), told),
    APPLY(`${POD}/q`, 'm', pod('q', { hostAliases: [{ hostnames: ['h'] }] }), told), APPLY(`${SVC}/s`, 'm', service('s', { ports: [{ name: 'a' }] })),
  ]),
];

export default [...statuses, ...others, ...emptyLists, ...unknowns, ...versions, ...data, ...gates, ...parts, ...quantities, ...typed];
