// Audit events of every verb at RequestResponse, the level of admin: request and response objects, references and statuses (§12).
import { scenario, APPLY, AUDITED, DELETE, GET, PATCH, POST, PUT } from '../steps.ts';

const s = (id, about, steps, o = {}) => scenario(`audit-verbs-${id}`, { section: '12', about, needs: 'audit', ...o }, steps);
const maps = '/api/v1/namespaces/$ns/configmaps';
const map = (name, more = {}) => ({ metadata: { name }, data: { a: '1' }, ...more });
const quiet = { compare: 'status' };
/** Steps whose events do not matter, two for each. */
const before = (...steps) => [...steps, AUDITED(2 * steps.length, quiet)];
const made = before(POST(maps, map('m'), { ...quiet, id: 'm' }));
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const partial = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
const partials = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
const deployment = {
  metadata: { name: 'd' },
  spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
};
const deployments = '/apis/apps/v1/namespaces/$ns/deployments';

export default [
  s('get', 'a get', [...made, GET(`${maps}/m`), AUDITED(2)]),
  s('get-missing', 'a 404 is a Status in the event', [GET(`${maps}/none`), AUDITED(2)]),
  s('get-yaml', 'the response is JSON in the event though the client gets YAML', [...made, GET(`${maps}/m`, { headers: { accept: 'application/yaml' }, text: true, ...quiet }), AUDITED(2)]),
  s('get-protobuf', 'and though it gets protobuf', [...made, GET(`${maps}/m`, { headers: { accept: 'application/vnd.kubernetes.protobuf' }, text: true, ...quiet }), AUDITED(2)]),
  s('get-pretty', 'an indented response stands on one line', [...made, GET(`${maps}/m?pretty=true`), AUDITED(2)]),
  s('get-table', 'a table is recorded as a table', [...made, GET(`${maps}/m`, { headers: table, ...quiet }), AUDITED(2, { ignore: ['*.responseObject.rows', '*.responseObject.columnDefinitions.*.description'] })]),
  s('get-partial', 'metadata alone is recorded as that', [...made, GET(`${maps}/m`, { headers: partial }), AUDITED(2)]),
  s('get-not-acceptable', 'a media type that nobody knows', [...made, GET(`${maps}/m`, { headers: { accept: 'application/x' } }), AUDITED(2)]),
  s('list', 'a list', [...made, GET(maps), AUDITED(2)]),
  s('list-empty', 'an empty list', [GET(`${maps}?labelSelector=none%3Dx`), AUDITED(2)]),
  s('list-limit', 'a page of a list', [...before(POST(maps, map('m1'), quiet), POST(maps, map('m2'), quiet)), GET(`${maps}?limit=1`, { ignore: ['metadata.continue'] }), AUDITED(2)]),
  s('list-name', 'a field selector that names an object gives the reference a name', [...made, GET(`${maps}?fieldSelector=metadata.name%3Dm`), AUDITED(2)]),
  s('list-protobuf', 'a list in protobuf is JSON in the event', [...made, GET(maps, { headers: { accept: 'application/vnd.kubernetes.protobuf' }, text: true, ...quiet }), AUDITED(2)]),
  s('list-table', 'a table of a list', [...made, GET(maps, { headers: table, ...quiet }), AUDITED(2, { ignore: ['*.responseObject.rows', '*.responseObject.columnDefinitions.*.description'] })]),
  s('list-partial', 'metadata of a list', [...made, GET(maps, { headers: partials, ...quiet }), AUDITED(2)]),
  s('list-bad-selector', 'a selector that cannot be parsed', [GET(`${maps}?labelSelector=%21%21`), AUDITED(2)]),
  s('create', 'a create names its object by its body', [POST(maps, map('m')), AUDITED(2)]),
  s('create-defaults', 'the request object has defaults', [POST(deployments, deployment, quiet), AUDITED(2)]),
  s('create-generate-name', 'a generated name is not in the reference', [POST(maps, { metadata: { generateName: 'g-' } }, { ignore: ['metadata.name'] }), AUDITED(2, { ignore: ['*.responseObject.metadata.name'] })]),
  s('create-with-namespace', 'a namespace in the body', [POST(maps, { metadata: { name: 'm', namespace: '$ns' } }), AUDITED(2)]),
  s('create-other-namespace', 'another namespace than that of the path', [POST(maps, { metadata: { name: 'm', namespace: 'other' } }), AUDITED(2)]),
  s('create-cluster', 'of a cluster-scoped kind', [POST('/api/v1/namespaces', { metadata: { name: '$ns-2' } }), AUDITED(2)], { cleanup: ['/api/v1/namespaces/$ns-2'] }),
  s('create-dry-run', 'a dry run is recorded like a create', [POST(`${maps}?dryRun=All`, map('m')), AUDITED(2)]),
  s('create-exists', 'a 409', [...made, POST(maps, map('m')), AUDITED(2)]),
  s('create-invalid', 'a 422 has its causes', [POST(maps, map('M_M')), AUDITED(2)]),
  s('create-with-uid', 'uid and version of the body are in the reference', [POST(maps, { metadata: { name: 'm', uid: '11111111-2222-3333-4444-555555555555', resourceVersion: '' } }), AUDITED(2)]),
  s('create-with-version', 'a version is refused', [POST(maps, { metadata: { name: 'm', resourceVersion: '5' } }), AUDITED(2)]),
  s('create-bad-json', 'a body that cannot be decoded is not recorded', [POST(maps, '{"metadata":', { type: 'application/json' }), AUDITED(2)]),
  s('create-other-kind', 'a body of another kind', [POST(maps, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'm' } }), AUDITED(2)]),
  s('create-unknown-field', 'an unknown field is dropped from the request object', [POST(maps, { ...map('m'), nope: 1 }), AUDITED(2)]),
  s('create-strict', 'or refused', [POST(`${maps}?fieldValidation=Strict`, { ...map('m'), nope: 1 }), AUDITED(2)]),
  s('create-yaml', 'a YAML body is recorded as JSON', [POST(maps, 'metadata:\n  name: m\ndata:\n  a: "1"\n', { type: 'application/yaml' }), AUDITED(2)]),
  s('create-secret', 'secrets are not hidden', [POST('/api/v1/namespaces/$ns/secrets', { metadata: { name: 's' }, stringData: { k: 'v' } }), AUDITED(2)]),
  s('create-unsupported-type', 'a content type that nobody knows', [POST(maps, 'x', { type: 'text/plain' }), AUDITED(2)]),
  s('create-no-kind', 'a resource that does not exist', [POST('/api/v1/namespaces/$ns/nopes', {}), AUDITED(2)]),
  s('create-method', 'a method that there is not', [POST(`${maps}/m`, map('m')), AUDITED(2)]),
  s('update', 'an update', [...made, PUT(`${maps}/m`, map('m', { data: { a: '2' } })), AUDITED(2)]),
  s('update-version', 'with uid and version', [...made, PUT(`${maps}/m`, { metadata: { name: 'm', uid: '${m.metadata.uid}', resourceVersion: '${m.metadata.resourceVersion}' } }), AUDITED(2)]),
  s('update-conflict', 'a conflict', [...made, PUT(`${maps}/m`, { metadata: { name: 'm', resourceVersion: '1' } }), AUDITED(2)]),
  s('update-missing', 'of an object that is not there', [PUT(`${maps}/m`, map('m')), AUDITED(2)]),
  s('update-other-name', 'with another name than that of the path', [...made, PUT(`${maps}/m`, map('n')), AUDITED(2)]),
  s('patch-merge', 'a merge patch is recorded as it was sent', [...made, PATCH(`${maps}/m`, 'merge', { data: { b: '2' } }), AUDITED(2)]),
  s('patch-json', 'a JSON patch', [...made, PATCH(`${maps}/m`, 'json', [{ op: 'replace', path: '/data/a', value: '3' }]), AUDITED(2)]),
  s('patch-strategic', 'a strategic merge patch', [...made, PATCH(`${maps}/m`, 'strategic', { data: { b: '2' } }), AUDITED(2)]),
  s('patch-version', 'a version in a patch is not in the reference', [...made, PATCH(`${maps}/m`, 'merge', { metadata: { resourceVersion: '${m.metadata.resourceVersion}' }, data: { b: '2' } }), AUDITED(2)]),
  s('patch-missing', 'of an object that is not there', [PATCH(`${maps}/m`, 'merge', { data: { b: '2' } }), AUDITED(2)]),
  s('patch-invalid', 'that makes an invalid object', [...made, PATCH(`${maps}/m`, 'merge', { data: { '!': 'x' } }), AUDITED(2)]),
  s('patch-failing', 'a test that fails', [...made, PATCH(`${maps}/m`, 'json', [{ op: 'test', path: '/data/a', value: '9' }]), AUDITED(2)]),
  s('patch-dry-run', 'a dry run', [...made, PATCH(`${maps}/m?dryRun=All`, 'merge', { data: { b: '2' } }), AUDITED(2)]),
  s('patch-type', 'a type of patch that there is not', [...made, PATCH(`${maps}/m`, 'application/x-patch', {}), AUDITED(2)]),
  s('patch-indented', 'a patch on several lines', [...made, PATCH(`${maps}/m`, 'merge', '{\n  "data": {"b": "<2>"}\n}\n'), AUDITED(2)]),
  s('apply', 'an apply in JSON that creates', [APPLY(`${maps}/m`, 'me', { apiVersion: 'v1', kind: 'ConfigMap', ...map('m') }), AUDITED(2)]),
  s('apply-again', 'an apply that changes', [...made, APPLY(`${maps}/m`, 'me', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { b: '2' } }), AUDITED(2)]),
  s('apply-conflict', 'a conflict of managers', [...made, APPLY(`${maps}/m`, 'me', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { a: '2' } }), AUDITED(2)]),
  s('apply-force', 'a forced apply', [...made, APPLY(`${maps}/m`, 'me', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { a: '2' } }, { force: true }), AUDITED(2)]),
  s('delete', 'a delete answers with a Status', [...made, DELETE(`${maps}/m`), AUDITED(2)]),
  s('delete-options', 'options in the body are the request object', [...made, DELETE(`${maps}/m`, { propagationPolicy: 'Background', gracePeriodSeconds: 0 }), AUDITED(2)]),
  s('delete-options-kind', 'with their kind', [...made, DELETE(`${maps}/m`, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: '${m.metadata.uid}' } }), AUDITED(2)]),
  s('delete-query', 'options in the query are not', [...made, DELETE(`${maps}/m?propagationPolicy=Foreground`), AUDITED(2)]),
  s('delete-dry-run', 'a dry run', [...made, DELETE(`${maps}/m`, { dryRun: ['All'] }), AUDITED(2)]),
  s('delete-precondition', 'a precondition that does not hold', [...made, DELETE(`${maps}/m`, { preconditions: { uid: 'x' } }), AUDITED(2)]),
  s('delete-missing', 'of an object that is not there', [DELETE(`${maps}/m`), AUDITED(2)]),
  s('delete-finalizer', 'that only marks', [...before(POST(maps, { metadata: { name: 'm', finalizers: ['example.com/x'] } }, quiet)), DELETE(`${maps}/m`), AUDITED(2), PATCH(`${maps}/m`, 'merge', { metadata: { finalizers: null } }, quiet), AUDITED(2)]),
  s('delete-bad-options', 'options that contradict each other', [...made, DELETE(`${maps}/m`, { propagationPolicy: 'Nope' }), AUDITED(2)]),
  s('delete-collection', 'of a collection', [...before(POST(maps, map('m1'), quiet), POST(maps, map('m2'), quiet)), DELETE(maps), AUDITED(2)]),
  s('delete-collection-options', 'with options and a selector', [...made, DELETE(`${maps}?labelSelector=none%3Dx`, { gracePeriodSeconds: 0 }), AUDITED(2)]),
];
