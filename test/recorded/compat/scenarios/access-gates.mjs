// Gates of authorization, set to what they are not by default: no selectors, and kubelets that read the accounts of their pods (§5).
import { GET, HOOKED, POLL, POST, scenario } from '../steps.ts';
import { as, nodeHeaders, refusal, sarObject, sarPath, selfSar, user } from './kit/access.mjs';
import { allow } from './kit/hooks.mjs';

const s = (id, about, steps, o = {}) => scenario(`access-gates-${id}`, { section: '5', about, needs: 'access-gates', ...o }, steps);
const core = '/api/v1/namespaces/$ns';
const quiet = { compare: 'status' };
const shown = { pick: (b) => (b.kind === 'Status' ? b : { spec: b.spec, status: b.status }) };
const selectors = { fieldSelector: { rawSelector: 'spec.nodeName=n' }, labelSelector: { rawSelector: 'a=b' } };
const refused = { fieldSelector: { requirements: [{ key: '', operator: 'In' }] }, labelSelector: {} };
const resource = { namespace: '$ns', verb: 'list', resource: 'pods' };
const asNode = { headers: nodeHeaders(), ...refusal };
const account = (name) => POST(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }, quiet);
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { nodeName: '$ns-n', serviceAccountName: 'a', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] } };

export default [
  s('reviews', 'selectors are taken out of reviews, even those that would be refused', [
    ...[selectors, refused].map((more) => POST(sarPath, sarObject({ user, groups: ['g'], resourceAttributes: { ...resource, ...more } }), shown)),
    selfSar({ resourceAttributes: { ...resource, ...selectors } }, shown),
    POST('/apis/authorization.k8s.io/v1/namespaces/$ns/localsubjectaccessreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview', metadata: { namespace: '$ns' }, spec: { user, resourceAttributes: { ...resource, ...selectors } } }, shown),
    POST(sarPath, sarObject({ user, nonResourceAttributes: { path: '/x', verb: 'get' } }), shown),
  ]),
  s('webhook', 'a webhook is told of none', [GET(`${core}/configmaps?labelSelector=a%3Db&fieldSelector=metadata.name%3Dm`, { headers: as(user), ...quiet }), GET(`${core}/configmaps?labelSelector=a%3D(`, { headers: as(user), ...quiet }), HOOKED('access', { calls: 2, pick: (calls) => calls.map((c) => c.body.spec) })], { hooks: { access: allow } }),
  s('node-role', 'the role of nodes may get service accounts', [GET('/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node', { pick: (b) => b.rules })], { namespace: false }),
  s('node-account', 'a kubelet gets the accounts of its pods', [account('a'), account('b'), POST(`${core}/pods`, pod, quiet), POLL(`${core}/serviceaccounts/a`, (_, status) => status === 200, { ...asNode, ms: 15000 }), GET(`${core}/serviceaccounts/b`, asNode), GET(`${core}/serviceaccounts`, asNode)]),
];
