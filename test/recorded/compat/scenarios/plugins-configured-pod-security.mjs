// PodSecurity with a configuration: levels by default (enforce baseline v1.28, audit and warn restricted), and what is exempt.
import { scenario, GET, POST, PUT, PATCH, AUDITED } from '../steps.ts';
import { PODS, DEPLOYMENTS, pod, deployment, quiet, dry, warned } from './kit/admission.mjs';

const NAMESPACES = '/api/v1/namespaces';
const namespaceOf = (name, labels = {}) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: Object.fromEntries(Object.entries(labels).map(([k, v]) => [`pod-security.kubernetes.io/${k}`, v])) } });
const within = (id, about, steps, o = {}) => scenario(`plugins-configured-pod-security-${id}`, { section: '8', about, needs: 'pod-security-configured', ...o }, steps);
const made = (labels) => POST(NAMESPACES, namespaceOf('$ns', labels), quiet);
const labelled = (id, about, labels, steps) => within(id, about, [made(labels), ...steps], { namespace: false, cleanup: ['/api/v1/namespaces/$ns'] });
const fixed = (id, about, name, steps) => within(id, about, steps, { namespace: false, cleanup: [`/api/v1/namespaces/${name}`] });
const told = { ...warned, pick: (b) => (b.kind === 'Status' ? b : 'accepted') };
const host = (name = 'p', more = {}) => pod(name, { hostNetwork: true, ...more });
const careful = { securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }, containers: [{ name: 'c', image: 'img', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }] };
const mayAll = (user) => [
  POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles', { metadata: { name: 'all' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }, quiet),
  POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings', { metadata: { name: 'all' }, subjects: [{ kind: 'User', name: user }], roleRef: { kind: 'Role', name: 'all' } }, quiet),
];
const annotations = { pick: (events) => events.map((e) => e.annotations ?? null) };

export default [
  within('default-refuses', 'the level by default refuses in a namespace without labels', [POST(PODS, host(), told), POST(PODS, pod('q', careful), told)]),
  within('default-warns', 'and warns below restricted', [POST(PODS, pod('p'), told), POST(DEPLOYMENTS, deployment('d', { template: { metadata: { labels: { app: 'a' } }, spec: { hostNetwork: true, containers: [{ name: 'c', image: 'img' }] } } }), told)]),
  within('dry-run', 'also in a dry run', [POST(PODS, host(), { ...told, ...dry }), POST(PODS, pod(), { ...told, ...dry })]),
  within('update', 'an image is changed: evaluated again; a label is not', [POST(PODS, pod('p'), quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, told), PATCH(`${PODS}/p`, 'strategic', { spec: { containers: [{ name: 'c', image: 'other' }] } }, told)]),
  labelled('label-privileged', 'labels count rather than the defaults', { enforce: 'privileged', warn: 'privileged' }, [POST(PODS, host(), told)]),
  labelled('label-enforce-privileged', 'of one mode alone', { enforce: 'privileged' }, [POST(PODS, host(), told)]),
  labelled('label-version', 'a version without a level', { 'enforce-version': 'latest', 'warn-version': 'v1.20' }, [POST(PODS, host(), told), POST(PODS, pod('q'), told)]),
  labelled('label-stricter', 'a stricter level has the version of the default', { enforce: 'restricted' }, [POST(PODS, pod(), told), POST(PODS, pod('q', careful), told)]),
  labelled('label-audit', 'audit by label', { audit: 'privileged', warn: 'baseline' }, [POST(PODS, pod(), told)]),
  within('user', 'an exempt user', [...mayAll('alice'), POST(PODS, host(), { ...told, as: 'alice' })]),
  within('user-other', 'another user is not', [...mayAll('bob'), POST(PODS, host(), { ...told, as: 'bob' })]),
  within('user-deployment', 'an exempt user is not warned', [...mayAll('alice'), POST(DEPLOYMENTS, deployment(), { ...told, as: 'alice' })]),
  within('runtime-class', 'an exempt runtime class', [POST('/apis/node.k8s.io/v1/runtimeclasses', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'exempt-class' }, handler: 'h' }, quiet), POST(PODS, host('p', { runtimeClassName: 'exempt-class' }), told), POST(DEPLOYMENTS, deployment('d', { template: { metadata: { labels: { app: 'a' } }, spec: { runtimeClassName: 'exempt-class', hostNetwork: true, containers: [{ name: 'c', image: 'img' }] } } }), told)], { cleanup: ['/apis/node.k8s.io/v1/runtimeclasses/exempt-class'] }),
  fixed('namespace', 'an exempt namespace', 'exempt-pods', [POST(NAMESPACES, namespaceOf('exempt-pods'), told), POST('/api/v1/namespaces/exempt-pods/pods', host(), told), POST('/apis/apps/v1/namespaces/exempt-pods/deployments', deployment(), told)]),
  fixed('namespace-labels', 'labels of an exempt namespace are told to be ignored', 'exempt-labels', [POST(NAMESPACES, namespaceOf('exempt-labels', { enforce: 'restricted', 'audit-version': 'v1.20' }), told), PUT(`${NAMESPACES}/exempt-labels`, namespaceOf('exempt-labels', { enforce: 'restricted', 'enforce-version': 'v1.20', warn: 'baseline' }), told), PUT(`${NAMESPACES}/exempt-labels`, namespaceOf('exempt-labels', { enforce: 'privileged' }), told), PUT(`${NAMESPACES}/exempt-labels`, namespaceOf('exempt-labels', { audit: 'baseline', enforce: 'restricted' }), told)]),
  fixed('namespace-same', 'unless they say what counts by default', 'exempt-plain', [POST(NAMESPACES, namespaceOf('exempt-plain', { enforce: 'baseline', 'enforce-version': 'v1.28', warn: 'restricted' }), told)]),
  within('tighten', 'labels that are stricter than the defaults: pods that violate them', [POST(PODS, pod('a'), quiet), POST(PODS, pod('b'), quiet), { ...GET(`${PODS}/b`, quiet), kind: 'poll', ms: 5000, until: (_, s) => s === 200 }, PUT(`${NAMESPACES}/$ns`, namespaceOf('$ns', { enforce: 'restricted' }), { ...told, id: 'up' })]),
  within('remove-label', 'a label that is removed makes the default count', [PUT(`${NAMESPACES}/$ns`, namespaceOf('$ns', { enforce: 'privileged', warn: 'privileged' }), told), PUT(`${NAMESPACES}/$ns`, namespaceOf('$ns'), told), POST(PODS, host(), { ...told, compareHeaders: [] })]),
  labelled('label-invalid', 'labels that are invalid', { enforce: 'baseline' }, [PUT(`${NAMESPACES}/$ns`, namespaceOf('$ns', { enforce: 'b', 'warn-version': 'x' }), told)]),
  within('audit', 'audit annotations', [POST(PODS, pod(), quiet), POST(PODS, host('q'), quiet), POST(DEPLOYMENTS, deployment(), quiet), AUDITED(4, annotations)]),
  within('audit-exempt', 'audit annotations of what is exempt', [...mayAll('alice'), POST(PODS, host(), { ...quiet, as: 'alice' }), POST(DEPLOYMENTS, deployment(), { ...quiet, as: 'alice' }), AUDITED(4, annotations)]),
];
