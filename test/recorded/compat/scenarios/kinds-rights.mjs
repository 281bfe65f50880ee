// Rights that a kind asks for beyond the verb on itself: params of policies, signers of certificate requests, roles to bind.
// The caller is an impersonated user with a name of the scenario's own, so that nobody else is touched.
import { scenario, POST, PATCH, POLL } from '../steps.ts';
import { tidy } from './kit/kinds-groups.mjs';

const rbac = 'rbac.authorization.k8s.io/v1';
const as = { 'impersonate-user': '$ns-u' };
const grants = (...rules) => [
  POST(`/apis/${rbac}/clusterroles`, { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: '$ns-r' }, rules }, { compare: 'status' }),
  POST(`/apis/${rbac}/clusterrolebindings`, { apiVersion: rbac, kind: 'ClusterRoleBinding', metadata: { name: '$ns-r' }, roleRef: { kind: 'ClusterRole', name: '$ns-r' }, subjects: [{ kind: 'User', name: '$ns-u' }] }, { compare: 'status' }),
];
const granted = (path) => POLL(path, (b, status) => status !== 403, { headers: as, compare: 'status' });
const cleanup = (...more) => [`/apis/${rbac}/clusterroles/$ns-r`, `/apis/${rbac}/clusterrolebindings/$ns-r`, ...more];
const dry = { headers: as, query: { dryRun: 'All' }, pick: tidy };

const admission = '/apis/admissionregistration.k8s.io/v1';
const rule = { operations: ['CREATE'], apiGroups: ['$ns.example.com'], apiVersions: ['v1'], resources: ['widgets'] };
const policy = (paramKind) => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy', metadata: { name: '$ns-p' }, spec: { paramKind, matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] } });
const binding = (paramRef) => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding', metadata: { name: '$ns-p' }, spec: { policyName: '$ns-p', validationActions: ['Deny'], paramRef } });
const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const request = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYk1JR0JBZ0VBTUI4eEREQUtCZ05WQkFvTUEyUmxkakVQTUEwR0ExVUVBd3dHYjNKaFkyeGxNRmt3RXdZSApLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFOGdvZ0pRSkQzMTVtQ1lKYUFZUnhpOVMyVzFVeG5VRlhnN2dEClVlRXE0cks5dFZOa3A4VU1ncUNZTWtFdWZEZk1ZbEtRalFKamM0MDNpZjlCcW9SNjI2QUFNQW9HQ0NxR1NNNDkKQkFNQ0Ewa0FNRVlDSVFDbjBwU2FpeXliOW11SGIvdHlocDhsaDMvQWxjU0JMTzhVSnlZTG5mSVpzZ0loQU04QwpDWXZ5MkFnWVcxMzZSZFozc2NnTmU3UHhLZmJiRzVJaThaWHNSSitCCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';
const csr = (signerName) => POST(csrs, { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-x' }, spec: { request, signerName, usages: ['any'] } }, { compare: 'status' });
const approve = PATCH(`${csrs}/$ns-x/approval`, 'merge', { status: { conditions: [{ type: 'Approved', status: 'True' }] } }, dry);
const onRequests = { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests', 'certificatesigningrequests/approval', 'certificatesigningrequests/status'], verbs: ['get', 'list', 'patch'] };
const signers = (verbs, resourceNames) => ({ apiGroups: ['certificates.k8s.io'], resources: ['signers'], verbs, resourceNames });

export default [
  scenario('rights-vap-param-kind', { section: '5', about: 'ValidatingAdmissionPolicy: who names a kind of params must be able to read it', namespace: false, cleanup: cleanup() }, [
    ...grants({ apiGroups: ['admissionregistration.k8s.io'], resources: ['validatingadmissionpolicies'], verbs: ['create', 'list'] }, { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }), granted(`${admission}/validatingadmissionpolicies`),
    ...[undefined, { apiVersion: 'v1', kind: 'ConfigMap' }, { apiVersion: 'v1', kind: 'Secret' }, { apiVersion: 'unknown.example.com/v1', kind: 'Params' }].map((k) => POST(`${admission}/validatingadmissionpolicies`, policy(k), dry)),
  ]),
  scenario('rights-vapbinding-param-ref', { section: '5', about: 'ValidatingAdmissionPolicyBinding: who names params must be able to read them', namespace: false, cleanup: cleanup(`${admission}/validatingadmissionpolicies/$ns-p`) }, [
    ...grants({ apiGroups: ['admissionregistration.k8s.io'], resources: ['validatingadmissionpolicybindings'], verbs: ['create', 'list'] }, { apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'], verbs: ['get'] }),
    POST(`${admission}/validatingadmissionpolicies`, policy({ apiVersion: 'v1', kind: 'ConfigMap' }), { compare: 'status' }), granted(`${admission}/validatingadmissionpolicybindings`),
    ...[undefined, { name: 'mine', namespace: 'default', parameterNotFoundAction: 'Deny' }, { name: 'other', namespace: 'default', parameterNotFoundAction: 'Deny' }, { selector: {}, parameterNotFoundAction: 'Deny' }].map((r) => POST(`${admission}/validatingadmissionpolicybindings`, binding(r), dry)),
  ]),
  scenario('rights-csr-approve', { section: '5', about: 'CertificateSigningRequest: approving needs the right to approve for its signer', namespace: false, cleanup: cleanup(`${csrs}/$ns-x`) }, [
    ...grants(onRequests, signers(['approve'], ['other.com/s'])), csr('example.com/s'), granted(csrs), approve,
    PATCH(`${csrs}/$ns-x/status`, 'merge', { status: { conditions: [{ type: 'Custom', status: 'True' }] } }, dry),
  ]),
  ...[['by-name', 'example.com/s'], ['by-domain', 'example.com/*']].map(([id, name]) => scenario(`rights-csr-approve-${id}`, { section: '5', about: `CertificateSigningRequest: the right to approve for ${name}`, namespace: false, cleanup: cleanup(`${csrs}/$ns-x`) }, [
    ...grants(onRequests, signers(['approve'], [name])), csr('example.com/s'), granted(csrs), { ...approve, compare: 'status' },
  ])),
  scenario('rights-csr-sign', { section: '5', about: 'CertificateSigningRequest: setting the certificate or a failure needs the right to sign', namespace: false, cleanup: cleanup(`${csrs}/$ns-x`) }, [
    ...grants(onRequests, signers(['approve'], ['example.com/s'])), csr('example.com/s'), granted(csrs),
    PATCH(`${csrs}/$ns-x/status`, 'merge', { status: { certificate: 'AAAA' } }, dry),
    PATCH(`${csrs}/$ns-x/status`, 'merge', { status: { conditions: [{ type: 'Failed', status: 'True' }] } }, dry),
    PATCH(`${csrs}/$ns-x/status`, 'merge', { metadata: { labels: { a: 'b' } } }, { ...dry, compare: 'status' }),
  ]),
  scenario('rights-rbac-escalate-and-bind', { section: '5', about: 'RBAC: the verbs escalate and bind lift the check of rights', namespace: false, cleanup: cleanup() }, [
    ...grants({ apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles', 'clusterrolebindings'], verbs: ['create', 'list'] }, { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['view'] }, { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['escalate', 'create'] }), granted(`/apis/${rbac}/clusterroles?limit=1`),
    POST(`/apis/${rbac}/clusterroles`, { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: '$ns-s' }, rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }, { apiGroups: [''], resources: ['pods'], resourceNames: ['n'], verbs: ['get'] }] }, dry),
    POST(`/apis/${rbac}/clusterrolebindings`, { apiVersion: rbac, kind: 'ClusterRoleBinding', metadata: { name: '$ns-s' }, roleRef: { kind: 'ClusterRole', name: 'view' } }, { ...dry, compare: 'status' }),
    POST(`/apis/${rbac}/clusterrolebindings`, { apiVersion: rbac, kind: 'ClusterRoleBinding', metadata: { name: '$ns-s' }, roleRef: { kind: 'ClusterRole', name: 'cluster-admin' } }, dry),
    POST(`/apis/${rbac}/namespaces/default/roles`, { apiVersion: rbac, kind: 'Role', metadata: { name: '$ns-s' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }, { ...dry, compare: 'status' }),
  ]),
];
