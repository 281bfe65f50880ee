// certificatesigningrequests: approval and status endpoints (§4.2).
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';
import { on } from './kit/meta.mjs';
import { personRequest, nodeRequest, mastersRequest, certificate } from './kit/csr.mjs';

const all = on('certificates.k8s.io/v1/certificatesigningrequests'), one = (sub) => on('certificates.k8s.io/v1/certificatesigningrequests', '$ns-c', sub);
const s = (id, about, steps) => scenario(`meta-csr-${id}`, { section: '4.2', about, namespace: false, cleanup: [one()] }, steps);
const csr = (spec = {}, rest = {}) => ({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-c' }, spec: { request: personRequest, signerName: 'example.com/signer', usages: ['client auth'], ...spec }, ...rest });
const made = POST(all, csr(), { compare: 'status' });
const conditions = { pick: (b) => (b.kind === 'Status' ? b : { status: b.status ?? null, labels: b.metadata.labels ?? null, signer: b.spec.signerName }) };
const approved = (o = {}) => ({ type: 'Approved', status: 'True', reason: 'Good', message: 'm', ...o });
const approve = (...c) => PATCH(one('approval'), 'merge', { status: { conditions: c } }, conditions);
const brief = { pick: (b) => (b.kind === 'Status' ? b : { spec: { ...b.spec, request: undefined }, status: b.status ?? null }) };

export default [
  s('create', 'the server fills in who asked', [POST(all, csr({ username: 'other', uid: 'u', groups: ['g'], extra: { k: ['v'] } }), brief)]),
  s('create-status', 'a status sent with the create', [POST(all, csr({}, { status: { conditions: [approved()], certificate } }), brief)]),
  ...[['no-request', { request: '' }], ['bad-request', { request: 'eA==' }], ['no-signer', { signerName: '' }], ['bad-signer', { signerName: 'plain' }], ['no-usages', { usages: [] }], ['bad-usage', { usages: ['nope'] }], ['duplicate-usage', { usages: ['client auth', 'client auth'] }], ['legacy-signer', { signerName: 'kubernetes.io/legacy-unknown' }], ['expiration-short', { expirationSeconds: 599 }], ['expiration', { expirationSeconds: 600 }], ['not-base64', { request: '***' }]].map(([id, spec]) => s(`invalid-${id}`, `spec ${id}`, [POST(all, csr(spec), brief)])),
  s('spec-immutable', 'the spec cannot change', [made, PATCH(one(), 'merge', { spec: { usages: ['server auth'], signerName: 'other.example.com/x' } }, brief), PATCH(one(), 'merge', { metadata: { labels: { a: 'b' } }, status: { certificate } }, conditions)]),
  s('approve', 'an approval, with its times filled in', [made, approve(approved())]),
  s('approve-main', 'the main endpoint does not approve', [made, PATCH(one(), 'merge', { status: { conditions: [approved()] } }, conditions)]),
  s('approve-status', 'the status endpoint does not approve', [made, PATCH(one('status'), 'merge', { status: { conditions: [approved()] } }, conditions)]),
  s('deny', 'a denial cannot be taken back or joined with an approval', [made, approve(approved({ type: 'Denied' })), approve(), approve(approved({ type: 'Denied' }), approved())]),
  s('approve-taken-back', 'an approval cannot be removed', [made, approve(approved()), approve()]),
  s('approve-false', 'an approval must be True', [made, approve(approved({ status: 'False' })), approve(approved({ status: undefined }))]),
  s('approve-twice', 'the same condition twice', [made, approve(approved(), approved())]),
  s('approve-unknown', 'other condition types', [made, approve({ type: 'Other', status: 'True', reason: 'R' }), approve({ type: '', status: 'True' })]),
  s('approve-changed', 'a changed reason of an approval', [made, approve(approved()), approve(approved({ reason: 'Better' }))]),
  s('approve-failed', 'Failed is for the status endpoint', [made, approve({ type: 'Failed', status: 'True', reason: 'R' }), PATCH(one('status'), 'merge', { status: { conditions: [{ type: 'Failed', status: 'True', reason: 'R' }] } }, conditions)]),
  s('approve-certificate', 'the certificate is not for the approval endpoint', [made, PATCH(one('approval'), 'merge', { metadata: { labels: { a: 'b' } }, spec: { usages: [] }, status: { certificate, conditions: [approved()] } }, conditions)]),
  s('approve-put', 'GET and PUT on approval', [made, GET(one('approval'), conditions), PUT(one('approval'), csr({}, { status: { conditions: [approved()] } }), conditions)]),
  s('issue', 'a certificate through status', [made, approve(approved()), PATCH(one('status'), 'merge', { status: { certificate } }, conditions)]),
  s('issue-unapproved', 'a certificate without an approval', [made, PATCH(one('status'), 'merge', { status: { certificate } }, conditions)]),
  s('issue-invalid', 'certificates that are none', [made, ...['eA==', 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCmVBPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo='].map((c) => PATCH(one('status'), 'merge', { status: { certificate: c } }, conditions))]),
  s('issue-changed', 'a certificate cannot be changed', [made, approve(approved()), PATCH(one('status'), 'merge', { status: { certificate } }, { compare: 'status' }), PATCH(one('status'), 'merge', { status: { certificate: null } }, conditions), approve(approved(), { type: 'Denied', status: 'True', reason: 'R' })]),
  s('kubelet-signer', 'a node request for the kubelet signer', [POST(all, csr({ request: nodeRequest, signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['digital signature', 'client auth'] }), brief)]),
  s('masters-request', 'a request for system:masters is stored for some signers only', [POST(all, csr({ request: mastersRequest, signerName: 'kubernetes.io/kube-apiserver-client' }), brief), POST(all, csr({ request: mastersRequest }), brief)]),
  s('kubelet-signer-wrong', 'a person asking the kubelet signer', [POST(all, csr({ signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['client auth'] }), brief)]),
  s('missing', 'approval and status of a missing request', [GET(one('approval')), PATCH(one('approval'), 'merge', {}), PATCH(one('status'), 'merge', {})]),
  s('delete', 'the answer to a delete', [made, DELETE(one())]),
  s('field-selector', 'lists by signer', [made, GET(all, { query: { fieldSelector: 'spec.signerName=example.com/signer,metadata.name=$ns-c' }, pick: (b) => b.items?.map((x) => x.metadata.name) ?? b }), GET(all, { query: { fieldSelector: 'spec.username=x' } })]),
  s('forbidden', 'approval needs a right on the signer', [made, PATCH(one('approval'), 'merge', { status: { conditions: [approved()] } }, { as: 'alice' })]),
];
