// AlwaysDeny, on a cluster that was there before.
import { scenario, GET, POST, PUT, PATCH, APPLY, DELETE } from '../steps.ts';
import { cm, quiet, dry, only } from './kit/admission.mjs';

const within = (id, about, steps) => scenario(`plugins-deny-${id}`, { section: '7', about: `AlwaysDeny: ${about}`, needs: 'plugins-deny', namespace: false }, steps);
const CM = '/api/v1/namespaces/default/configmaps', CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses', CRITICAL = `${CLASSES}/system-cluster-critical`;
const review = (apiVersion, kind, spec = {}) => ({ apiVersion, kind, spec });
const AUTHZ = '/apis/authorization.k8s.io/v1', AUTHN = '/apis/authentication.k8s.io/v1';

export default [
  within('create', 'creates', [POST(CM, cm('$ns')), POST(CM, cm('$ns'), dry), POST(CM, { ...cm(), metadata: { generateName: '$ns-' } }), APPLY(`${CM}/$ns`, 'm', cm('$ns')), PUT('/apis/coordination.k8s.io/v1/namespaces/default/leases/$ns', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: '$ns' } })]),
  within('namespace', 'a namespace', [POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns' } })]),
  within('update', 'updates and patches of what is there', [PATCH(CRITICAL, 'merge', { metadata: { labels: { a: 'b' } } }), PATCH(CRITICAL, 'merge', {}), PATCH('/api/v1/namespaces/default/status', 'merge', {}), PUT('/api/v1/namespaces/default/finalize', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' }, spec: { finalizers: [] } })]),
  within('delete', 'deletes', [DELETE(CRITICAL), DELETE(CRITICAL, undefined, dry), DELETE('/api/v1/namespaces/default'), DELETE(CLASSES, undefined, { query: { fieldSelector: 'metadata.name=system-cluster-critical' } })]),
  within('missing', 'what is not there is missed first', [PATCH(`${CM}/$ns`, 'merge', {}), DELETE(`${CM}/$ns`), PUT(`${CM}/$ns`, cm('$ns')), DELETE(CM, undefined, quiet), POST('/api/v1/namespaces/$ns/configmaps', cm())]),
  within('body', 'and what cannot be read', [POST(CM, { ...cm('$ns'), data: [] }, only('reason')), POST(CM, { ...cm('$ns'), x: 1 }, { query: { fieldValidation: 'Strict' } }), POST(CM, cm('$ns', {}, { namespace: 'other' }))]),
  within('invalid', 'but not what is invalid', [POST(CM, cm('Bad_Name')), POST(CM, cm('$ns', { 'bad key': 'x' }))]),
  within('reviews', 'reviews', [POST(`${AUTHZ}/selfsubjectaccessreviews`, review('authorization.k8s.io/v1', 'SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods' } })), POST(`${AUTHZ}/namespaces/default/localsubjectaccessreviews`, review('authorization.k8s.io/v1', 'LocalSubjectAccessReview', { user: 'u', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } })), POST(`${AUTHN}/tokenreviews`, review('authentication.k8s.io/v1', 'TokenReview', { token: 'x' })), POST(`${AUTHN}/selfsubjectreviews`, review('authentication.k8s.io/v1', 'SelfSubjectReview'))]),
  within('subresources', 'subresources of what is not there', [POST('/api/v1/namespaces/default/pods/$ns/binding', { apiVersion: 'v1', kind: 'Binding', metadata: { name: '$ns' }, target: { kind: 'Node', name: 'n' } }), POST('/api/v1/namespaces/default/pods/$ns/eviction', { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: '$ns' } }), POST('/api/v1/namespaces/default/serviceaccounts/$ns/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })]),
  within('connect', 'connections', [GET('/api/v1/namespaces/default/services/$ns/proxy/'), GET('/api/v1/namespaces/default/pods/$ns/exec', { query: { command: 'x' } }), GET('/api/v1/nodes/$ns/proxy/')]),
  within('reads', 'reads are no matter of admission', [GET(CRITICAL, quiet), GET(CM, quiet), GET('/api/v1/namespaces/default/pods/$ns/log', quiet)]),
];
