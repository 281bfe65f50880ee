// metadata.managedFields on creates, updates and patches: manager names, resets, invalid entries (§2.3).
// Entries sort by time before name, so later writers here have names that sort later too.
import { scenario, GET, POST, PUT, PATCH, DELETE, POLL } from '../steps.ts';
import { at, on, only, configMap, deployment, pod, service, crd, crdPath, widget, widgets } from './kit/meta.mjs';

const s = (id, about, steps, o = {}) => scenario(`meta-managed-${id}`, { section: '2.3', about, ...o }, steps);
const cms = at('configmaps'), cm = at('configmaps', 'c');
const managed = { pick: (b) => (b.kind === 'Status' ? b : b.metadata.managedFields ?? null) };
const managers = { pick: (b) => (b.kind === 'Status' ? b : (b.metadata.managedFields ?? []).map((m) => `${m.manager} ${m.operation} ${m.subresource ?? ''}`.trim())) };
const agent = (ua) => ({ headers: { 'user-agent': ua } });

const agents = [
  ['plain', 'kubectl/v1.33.5 (linux/amd64) kubernetes/abc'], ['browser', 'Mozilla/5.0 (X11; Linux x86_64)'], ['no-slash', 'just-a-name'], ['spaces', 'two words/1.0'], ['leading-slash', '/1.0'], ['empty', ''], ['absent', null],
  ['long', `${'x'.repeat(200)}/1.0`], ['non-ascii', 'caf\u00e9/1.0'], ['tab', 'a\tb/1.0'],
].map(([id, ua]) => s(`agent-${id}`, `the manager named after the User-Agent: ${String(ua).slice(0, 40)}`, [POST(cms, configMap(), { ...agent(ua), ...managed })]));

const names = [
  ['plain', 'me'], ['128', 'm'.repeat(128)], ['129', 'm'.repeat(129)], ['empty', ''], ['spaces', 'a b'], ['newline', 'a\nb'], ['umlaut', '\u00fcber'], ['multibyte-129', '\u00fc'.repeat(65)], ['control', 'a\u0007'], ['zero-width', 'a\u200bb'], ['slash', 'a/b'],
];
const nameScenarios = [
  ...names.map(([id, fieldManager]) => s(`name-${id}`, `fieldManager=${JSON.stringify(fieldManager).slice(0, 30)} on a POST`, [POST(cms, configMap(), { query: { fieldManager }, ...managed })])),
  s('name-invalid-put-patch', 'an invalid fieldManager on PUT, PATCH and DELETE', [
    POST(cms, configMap(), managers), PUT(cm, configMap(), { query: { fieldManager: 'a\nb' } }), PATCH(cm, 'merge', {}, { query: { fieldManager: 'a\nb' } }), PATCH(cm, 'merge', {}, { query: { fieldManager: 'm'.repeat(129) } }), DELETE(cm, undefined, { query: { fieldManager: 'a\nb' } })]),
];

const entry = (o = {}) => ({ manager: 'other', operation: 'Update', apiVersion: 'v1', time: '2001-02-03T04:05:06Z', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:k': {} } }, ...o });
const written = [
  ['empty-list', []], ['empty-entry', [{}]], ['null', null], ['valid', [entry()]], ['valid-apply', [entry({ operation: 'Apply' })]], ['bad-operation', [entry({ operation: 'Create' })]], ['no-operation', [entry({ operation: undefined })]], ['lower-case-operation', [entry({ operation: 'update' })]],
  ['no-manager', [entry({ manager: undefined })]], ['long-manager', [entry({ manager: 'm'.repeat(129) })]], ['bad-manager', [entry({ manager: 'a\nb' })]], ['no-api-version', [entry({ apiVersion: undefined })]], ['unknown-api-version', [entry({ apiVersion: 'nope/v9' })]],
  ['no-time', [entry({ time: undefined })]], ['no-fields-type', [entry({ fieldsType: undefined })]], ['bad-fields-type', [entry({ fieldsType: 'FieldsV2' })]], ['no-fields', [entry({ fieldsV1: undefined })]], ['empty-fields', [entry({ fieldsV1: {} })]], ['bad-fields', [entry({ fieldsV1: { nonsense: {} } })]],
  ['unknown-field', [entry({ fieldsV1: { 'f:nothing': {} } })]], ['metadata-name', [entry({ fieldsV1: { 'f:metadata': { 'f:name': {}, 'f:labels': { 'f:a': {} } } } })]], ['duplicate', [entry(), entry()]], ['duplicate-merge', [entry(), entry({ fieldsV1: { 'f:data': { 'f:z': {} } } })]],
  ['subresource', [entry({ subresource: 'status' })]], ['long-subresource', [entry({ subresource: 's'.repeat(257) })]], ['two-empty', [{}, {}]], ['empty-and-valid', [{}, entry()]], ['unknown-key', [entry({ colour: 'red' })]],
];
const onPost = written.map(([id, managedFields]) => s(`post-${id}`, `managedFields sent with a POST: ${id}`, [POST(cms, configMap('c', { managedFields }), { compareHeaders: ['warning'], ...managed })]));
const onPut = written.map(([id, managedFields]) => s(`put-${id}`, `managedFields sent with a PUT that changes nothing else: ${id}`, [POST(cms, configMap(), managers), PUT(cm, configMap('c', { managedFields }), { query: { fieldManager: 'second' }, ...managed })]));

const rest = [
  s('put-omitted', 'a PUT without managedFields keeps the entries and adds what it changes', [POST(cms, configMap(), managed), PUT(cm, configMap('c', { labels: { a: 'b' } }, { k: 'v', n: '1' }), { query: { fieldManager: 'second' }, ...managed })]),
  s('put-steals', 'a PUT that changes a value takes it from its owner', [POST(cms, configMap('c', {}, { a: '1', b: '2' }), managed), PUT(cm, configMap('c', {}, { a: '1', b: '3' }), { query: { fieldManager: 'second' }, ...managed })]),
  s('put-removes', 'a PUT that drops a value drops it from every owner', [POST(cms, configMap('c', {}, { a: '1', b: '2' }), managed), PUT(cm, configMap('c', {}, { a: '1' }), { query: { fieldManager: 'second' }, ...managed }), PUT(cm, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }, { query: { fieldManager: 'third' }, ...managed })]),
  s('same-manager-two-agents', 'the version part of the User-Agent does not count', [POST(cms, configMap(), { ...agent('tool/1.0'), ...managed }), PATCH(cm, 'merge', { data: { n: '1' } }, { ...agent('tool/2.0'), ...managed })]),
  s('field-manager-over-agent', 'fieldManager wins over the User-Agent', [POST(cms, configMap(), { ...agent('tool/1.0'), query: { fieldManager: 'named' }, ...managed })]),
  ...['merge', 'strategic', 'json-patch'].map((type) => s(`patch-reset-${type}`, `managedFields [{}] in a ${type} patch strips all entries`, [
    POST(cms, configMap(), managed), PATCH(cm, type, type === 'json-patch' ? [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }] : { metadata: { managedFields: [{}] } }, managed), GET(cm, managed)])),
  ...['merge', 'strategic', 'json-patch'].map((type) => s(`patch-empty-list-${type}`, `managedFields [] in a ${type} patch`, [
    POST(cms, configMap(), managed), PATCH(cm, type, type === 'json-patch' ? [{ op: 'replace', path: '/metadata/managedFields', value: [] }] : { metadata: { managedFields: [] } }, managed)])),
  s('patch-null', 'managedFields null in a merge patch', [POST(cms, configMap(), managed), PATCH(cm, 'merge', { metadata: { managedFields: null } }, managed)]),
  s('patch-remove', 'managedFields removed by a JSON patch', [POST(cms, configMap(), managed), PATCH(cm, 'json-patch', [{ op: 'remove', path: '/metadata/managedFields' }], managed), PATCH(cm, 'json-patch', [{ op: 'remove', path: '/metadata/managedFields/0' }], managed)]),
  s('reset-and-change', 'a reset together with a change: the change is owned afterwards', [POST(cms, configMap(), managed), PATCH(cm, 'merge', { metadata: { managedFields: [{}] }, data: { n: '1' } }, { query: { fieldManager: 'second' }, ...managed })]),
  s('reset-then-update', 'an object without entries: the next update owns only what it changes', [POST(cms, configMap(), managed), PATCH(cm, 'merge', { metadata: { managedFields: [{}] } }, managed), PATCH(cm, 'merge', { data: { n: '1' } }, { query: { fieldManager: 'second' }, ...managed })]),
  s('reset-then-apply', 'apply on an object without entries records the rest as before-first-apply', [
    POST(cms, configMap(), managed), PATCH(cm, 'merge', { metadata: { managedFields: [{}] } }, managed), PATCH(cm, 'apply-yaml', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { n: '1' } }, { query: { fieldManager: 'applier' }, ...managed })]),
  s('edit-entry', 'an entry rewritten by a patch of managedFields', [POST(cms, configMap('c', {}, { a: '1', b: '2' }), managed), PATCH(cm, 'json-patch', [{ op: 'replace', path: '/metadata/managedFields/0/manager', value: 'renamed' }], managed), PATCH(cm, 'json-patch', [{ op: 'remove', path: '/metadata/managedFields/0/fieldsV1/f:data/f:a' }], managed)]),
  s('apply-body', 'managedFields in an apply body, also empty', [
    ...[[], [{}], [entry()], null].map((managedFields) => PATCH(cm, 'apply-yaml', configMap('c', { managedFields }), { query: { fieldManager: 'x' } }))]),
  s('dry-run', 'managedFields of a dry-run update', [POST(cms, configMap(), managed), PUT(cm, configMap('c', {}, { k: 'w' }), { query: { dryRun: 'All', fieldManager: 'second' }, ...managed }), GET(cm, managed)]),
  s('no-change-no-time', 'an update without a change keeps the entry and its time', [POST(cms, configMap(), managed), PATCH(cm, 'merge', { data: { k: 'v' } }, { query: { fieldManager: 'second' }, ...managed })]),
  s('status-subresource', 'a write through /status is an entry of its own', [POST(at('pods'), pod(), managed), PATCH(at('pods', 'p', 'status'), 'merge', { status: { message: 'm' } }, managed)]),
  s('status-on-main', 'a status sent to the main endpoint is not owned', [POST(at('apps/v1/deployments'), { ...deployment(), status: { replicas: 3 } }, managed)]),
  s('scale-subresource', 'a write through /scale is an entry of its own', [POST(at('apps/v1/deployments'), deployment(), managers), PATCH(at('apps/v1/deployments', 'w', 'scale'), 'merge', { spec: { replicas: 3 } }, { pick: (b) => b.metadata }), GET(at('apps/v1/deployments', 'w'), managed)]),
  s('pod-full', 'the entry of a created pod: containers by name, ports, env, defaults', [
    POST(at('pods'), pod('p', { labels: { a: 'b' } }, { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }], env: [{ name: 'E', value: 'v' }], resources: { limits: { cpu: '1' } }, volumeMounts: [{ name: 'v', mountPath: '/v' }] }], volumes: [{ name: 'v', emptyDir: {} }], tolerations: [{ operator: 'Exists' }] }), managed)]),
  s('service-full', 'the entry of a created Service: ports by key, allocated fields', [POST(at('services'), service('s', {}, { ports: [{ name: 'a', port: 80 }, { name: 'b', port: 80, protocol: 'UDP' }] }), managed)]),
  s('owners-finalizers', 'ownerReferences by uid, finalizers as a set', [
    POST(cms, configMap('c', { finalizers: ['example.com/a', 'orphan'], ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u-1' }], annotations: { 'x.y/z': '1' }, generateName: 'g-' }), managed)]),
  s('deletion', 'a delete does not touch managedFields', [POST(cms, configMap('c', { finalizers: ['example.com/a'] }), managed), DELETE(cm, undefined, managed)]),
  s('custom-resource', 'entries of a custom resource: lists atomic, created and updated', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), crd(), { compare: 'status' }), POLL(widgets(), (_, st) => st === 200, { compare: 'status' }),
    POST(widgets(), { ...widget('w', { labels: { a: 'b' } }), spec: { size: 1, list: [{ a: 1 }], map: { x: 'y', empty: {} } } }, managed), PATCH(widgets('w'), 'merge', { spec: { list: [{ a: 2 }], map: { x: 'z' } } }, { query: { fieldManager: 'second' }, ...managed })], { cleanup: [crdPath()] }),
  s('list-and-table', 'managedFields are in lists', [POST(cms, configMap(), managed), GET(cms, { pick: (b) => b.items.map((x) => x.metadata.managedFields) })]),
  s('other-version', 'entries keep the version they were written with', [
    POST(at('autoscaling/v1/horizontalpodautoscalers'), { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { maxReplicas: 2, targetCPUUtilizationPercentage: 50, scaleTargetRef: { kind: 'X', name: 'x' } } }, managed),
    PATCH(at('autoscaling/v2/horizontalpodautoscalers', 'h'), 'merge', { spec: { maxReplicas: 3 } }, managed), GET(at('autoscaling/v1/horizontalpodautoscalers', 'h'), managed)]),
];

export default [...agents, ...nameScenarios, ...onPost, ...onPut, ...rest];
