// Audit events of subresources, reviews, custom resources, paths, and the annotations of the layers (§12).
import { scenario, APPLY, AUDITED, DELETE, GET, PATCH, POLL, POST, PUT } from '../steps.ts';
import { crd, CRDS, GROUP, string, object } from './kit/crd.mjs';

const s = (id, about, steps, o = {}) => scenario(`audit-subresources-${id}`, { section: '12', about, needs: 'audit', ...o }, steps);
const ns = '/api/v1/namespaces/$ns';
const maps = `${ns}/configmaps`;
const quiet = { compare: 'status' };
const before = (...steps) => [...steps, AUDITED(2 * steps.length, quiet)];
const pod = (name, more = {}) => ({ metadata: { name }, spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], ...more } });
const account = POST(`${ns}/serviceaccounts`, { metadata: { name: 'default' } }, quiet);
const withPod = before(account, POST(`${ns}/pods`, pod('p'), quiet));
const deployments = '/apis/apps/v1/namespaces/$ns/deployments';
const deployment = {
  metadata: { name: 'd' },
  spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
};
const withDeployment = before(POST(deployments, deployment, quiet));
const access = '/apis/authorization.k8s.io/v1';
const widgets = `/apis/${GROUP}/v1/namespaces/$ns/widgets`;
const label = (labels) => before(PATCH(`/api/v1/namespaces/$ns`, 'merge', { metadata: { labels } }, quiet));
const served = (path) => POLL(path, (_body, status) => status === 200, { ...quiet, headers: { 'user-agent': null } });

export default [
  s('pod', 'a pod, with what the policy of its namespace says', [...before(account), POST(`${ns}/pods`, pod('p'), quiet), AUDITED(2)]),
  s('pod-violates', 'a pod that violates what is audited', [
    ...label({ 'pod-security.kubernetes.io/audit': 'restricted', 'pod-security.kubernetes.io/enforce': 'baseline' }), ...before(account), POST(`${ns}/pods`, pod('p'), quiet), AUDITED(2),
  ]),
  s('pod-refused', 'a pod that is refused', [...label({ 'pod-security.kubernetes.io/enforce': 'restricted' }), ...before(account), POST(`${ns}/pods`, pod('p')), AUDITED(2)]),
  s('pod-delete', 'a delete that returns the object', [...withPod, DELETE(`${ns}/pods/p`, { gracePeriodSeconds: 0 }, quiet), AUDITED(2)]),
  s('pod-status', 'a status', [...withPod, PATCH(`${ns}/pods/p/status`, 'merge', { status: { phase: 'Running' } }, quiet), AUDITED(2)]),
  s('pod-binding', 'a binding is another kind', [...withPod, POST(`${ns}/pods/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }), AUDITED(2)]),
  s('pod-eviction', 'an eviction', [...withPod, POST(`${ns}/pods/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }), AUDITED(2)]),
  s('pod-log', 'logs of a pod that has no node', [...withPod, GET(`${ns}/pods/p/log`), AUDITED(3)]),
  s('pod-log-missing', 'logs of no pod', [GET(`${ns}/pods/p/log`), AUDITED(3)]),
  s('pod-exec', 'exec into a pod that has no node', [...withPod, POST(`${ns}/pods/p/exec?command=x&container=c`, undefined), AUDITED(3)]),
  s('pod-exec-get', 'by GET', [...withPod, GET(`${ns}/pods/p/exec?command=x&container=c&stdout=1`), AUDITED(3)]),
  s('pod-portforward', 'portforward to no pod', [POST(`${ns}/pods/p/portforward`, undefined), AUDITED(3)]),
  s('pod-proxy', 'proxy to a pod that has no address', [...withPod, GET(`${ns}/pods/p/proxy/x?y=1`, quiet), AUDITED(3, { ignore: ['*.responseStatus.message', '*.responseObject.message'] })]),
  s('pod-none', 'a subresource that there is not', [...withPod, GET(`${ns}/pods/p/nope`), AUDITED(2)]),
  s('scale', 'a scale', [...withDeployment, GET(`${deployments}/d/scale`), PUT(`${deployments}/d/scale`, { metadata: { name: 'd', namespace: '$ns' }, spec: { replicas: 3 } }), AUDITED(4)]),
  s('scale-patch', 'a patch of a scale', [...withDeployment, PATCH(`${deployments}/d/scale`, 'merge', { spec: { replicas: 2 } }), AUDITED(2)]),
  s('token', 'a token is in the response', [
    ...before(POST(`${ns}/serviceaccounts`, { metadata: { name: 'sa' } }, quiet)), POST(`${ns}/serviceaccounts/sa/token`, { spec: { expirationSeconds: 600 } }, quiet), AUDITED(2, { ignore: ['*.responseObject.status'] }),
  ]),
  s('finalize', 'finalize of a namespace', [...before(POST('/api/v1/namespaces', { metadata: { name: '$ns-2' } }, quiet)), PUT('/api/v1/namespaces/$ns-2/finalize', { metadata: { name: '$ns-2' }, spec: {} }, quiet), AUDITED(2)], { cleanup: ['/api/v1/namespaces/$ns-2'] }),
  s('self-access', 'a SelfSubjectAccessReview', [POST(`${access}/selfsubjectaccessreviews`, { spec: { resourceAttributes: { verb: 'get', resource: 'pods', namespace: '$ns' } } }), AUDITED(2)]),
  s('access', 'a SubjectAccessReview', [POST(`${access}/subjectaccessreviews`, { spec: { user: '$ns-u', resourceAttributes: { verb: 'get', resource: 'pods' } } }), AUDITED(2)]),
  s('local-access', 'a LocalSubjectAccessReview', [POST(`${access}/namespaces/$ns/localsubjectaccessreviews`, { metadata: { namespace: '$ns' }, spec: { user: '$ns-u', resourceAttributes: { verb: 'get', resource: 'pods', namespace: '$ns' } } }), AUDITED(2)]),
  s('token-review', 'a TokenReview with its token', [POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'alice-token' } }), AUDITED(2)]),
  s('self', 'a SelfSubjectReview', [POST('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { as: 'alice' }), AUDITED(2)]),
  s('deprecated', 'a deprecated kind', [GET(`${ns}/endpoints`), POST(`${ns}/endpoints`, { metadata: { name: 'e' } }), AUDITED(4)]),
  s('deprecated-watch', 'is told at the end of a watch', [GET(`${ns}/endpoints?watch=1&timeoutSeconds=1`, { text: true, ...quiet }), AUDITED(3)]),
  s('custom', 'a custom resource', [
    ...before(POST(CRDS, crd({ spec: object({ a: string() }) }), quiet)), served(widgets),
    POST(widgets, { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'w' }, spec: { a: 'x', dropped: 1 } }), PATCH(`${widgets}/w`, 'merge', { spec: { a: 'y' } }), GET(widgets), DELETE(`${widgets}/w`), AUDITED(8),
  ], { cleanup: [`${CRDS}/widgets.${GROUP}`] }),
  s('custom-apply', 'an apply of one', [
    ...before(POST(CRDS, crd({ spec: object({ a: string() }) }), quiet)), served(widgets),
    APPLY(`${widgets}/w`, 'me', { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'w' }, spec: { a: 'x' } }), AUDITED(2),
  ], { cleanup: [`${CRDS}/widgets.${GROUP}`] }),
  s('path-healthz', 'a path', [GET('/healthz?$ns', { text: true }), AUDITED(2)]),
  s('path-none', 'a path that there is not', [GET('/$ns', { text: true }), AUDITED(2)]),
  s('path-post', 'another method on a path', [POST('/version?$ns', {}, quiet), AUDITED(2)]),
  s('path-group', 'documents about a group are recorded', [GET('/apis/scheduling.k8s.io?$ns'), GET('/apis/scheduling.k8s.io/v1?$ns'), AUDITED(4)]),
  s('path-openapi', 'those of OpenAPI are not', [GET('/openapi/v3?$ns', quiet), AUDITED(2)]),
  s('path-resources', 'a group that there is not', [GET('/apis/$ns.example.com/v1/things', { text: true }), AUDITED(2)]),
  s('path-head', 'HEAD', [GET(`${maps}`, { method: 'HEAD', text: true, ...quiet }), AUDITED(2)]),
  s('path-options', 'OPTIONS', [GET(`${maps}`, { method: 'OPTIONS', text: true, ...quiet }), AUDITED(2)]),
];
