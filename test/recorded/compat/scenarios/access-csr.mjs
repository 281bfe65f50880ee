// Certificate requests: whose they are, and which rights on signers an approval, a denial or a signature needs (§5). Shapes are in meta-csr and kinds-certificates.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';
import { as, mine, may, grantedEverywhere, clusterCleanup, refusal } from './kit/access.mjs';
import { personRequest, nodeRequest, mastersRequest, certificate } from './kit/csr.mjs';

const all = '/apis/certificates.k8s.io/v1/certificatesigningrequests', one = (sub) => `${all}/$ns-c${sub ? `/${sub}` : ''}`;
const onCsr = { apiGroups: ['certificates.k8s.io'] };
const handler = may('get,patch,update', 'certificatesigningrequests,certificatesigningrequests/approval,certificatesigningrequests/status', onCsr);
const signers = (verbs, ...resourceNames) => may(verbs, 'signers', { ...onCsr, ...(resourceNames.length ? { resourceNames } : {}) });
const s = (id, about, steps, o = {}) => scenario(`csraccess-${id}`, { section: '5', about, namespace: false, cleanup: [one(), ...clusterCleanup], ...o }, steps);
const csr = (spec = {}) => ({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-c' }, spec: { request: personRequest, signerName: 'example.com/s', usages: ['client auth'], ...spec } });
const made = (spec) => POST(all, csr(spec), { compare: 'status' });
const who = { pick: (b) => (b.kind === 'Status' ? b : { ...b.spec, request: 'the request' }) };
const condition = (type) => ({ status: { conditions: [{ type, status: 'True', reason: 'R' }] } });
const asMine = { ...mine, ...refusal };
const approve = PATCH(one('approval'), 'merge', condition('Approved'), asMine), deny = PATCH(one('approval'), 'merge', condition('Denied'), asMine);
const sign = PATCH(one('status'), 'merge', { status: { certificate } }, asMine), fail = PATCH(one('status'), 'merge', condition('Failed'), asMine);

export default [
  s('requester-create', 'a right to create is all it takes to ask, for any signer', [...grantedEverywhere(may('create', 'certificatesigningrequests', onCsr)), POST(all, csr({ signerName: 'kubernetes.io/kube-apiserver-client' }), { ...mine, ...who }), GET(one(), mine)]),
  s('requester-refused', 'without it', [POST(all, csr(), { as: 'bob' }), POST(all, csr(), { as: null })]),
  s('requester-fields', 'user, groups, uid and extra are those of the caller', [...grantedEverywhere(may('create', 'certificatesigningrequests', onCsr)), POST(all, csr({ username: 'x', uid: 'y', groups: ['z'], extra: { a: ['b'] } }), { headers: as('$ns-u', { groups: ['g', 'h'], uid: 'i', extra: { 'example.com/k': ['v', 'w'] } }), ...who })]),
  s('requester-account', 'a request by the token of a service account', [POST('/api/v1/namespaces/$ns/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }, { compare: 'status' }), POST('/api/v1/namespaces/$ns/serviceaccounts/sa/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }, { id: 't', compare: 'status' }), ...grantedEverywhere(may('create', 'certificatesigningrequests', onCsr)).map((x) => (x.body?.kind === 'ClusterRoleBinding' && x.body.metadata.name === '$ns-granted' ? { ...x, body: { ...x.body, subjects: [{ kind: 'ServiceAccount', name: 'sa', namespace: '$ns' }] } } : x)),
    POST(all, csr(), { headers: { authorization: 'Bearer ${t.status.token}' }, pick: (b) => (b.kind === 'Status' ? b : { ...b.spec, request: 'the request', extra: Object.keys(b.spec.extra ?? {}) }) })], { namespace: true }),
  s('requester-kept', 'an update by somebody else does not change whose it is', [made(), PUT(one(), csr({ username: 'x' }), { headers: as('other', { groups: ['system:masters'] }), ...who })]),
  s('approve-all-signers', 'approve on signers without names is for all of them', [...grantedEverywhere(handler, signers('approve')), made(), approve]),
  s('approve-star', 'the resource * covers signers', [...grantedEverywhere(handler, may('approve', '*', onCsr)), made(), approve]),
  s('approve-domain', 'a name ending in /* is for all signers of a domain', [...grantedEverywhere(handler, signers('approve', 'example.com/*')), made({ signerName: 'example.com/any.thing' }), approve]),
  s('approve-domain-of-other', 'not for those of another domain', [...grantedEverywhere(handler, signers('approve', 'example.com/*')), made({ signerName: 'sub.example.com/s' }), approve, deny]),
  s('approve-prefix', 'other patterns do not count', [...grantedEverywhere(handler, signers('approve', 'example.com/s*', '*', '*/*')), made(), approve]),
  s('approve-without', 'without a right on the signer, by patch and by update', [...grantedEverywhere(handler), made(), approve, deny, PUT(one('approval'), { ...csr(), ...condition('Approved') }, asMine), PATCH(one('approval'), 'merge', { metadata: { labels: { a: 'b' } } }, asMine), PATCH(one('approval'), 'merge', {}, asMine)]),
  s('approve-needs-subresource', 'the right on the signer alone does not do', [...grantedEverywhere(signers('approve', 'example.com/s')), made(), approve]),
  s('deny', 'a denial needs the same right', [...grantedEverywhere(handler, signers('approve', 'example.com/s')), made(), deny]),
  s('sign-not-approve', 'the right to sign does not approve, nor the other way round', [...grantedEverywhere(handler, signers('sign', 'example.com/s')), made(), approve, sign, fail]),
  s('approve-not-sign', 'the right to approve does not sign', [...grantedEverywhere(handler, signers('approve', 'example.com/s')), made(), fail, approve, sign]),
  s('sign-domain', 'signing for a domain', [...grantedEverywhere(handler, signers('sign', 'example.com/*')), made(), sign]),
  s('sign-without', 'any change of certificate or conditions in the status needs the right to sign, other changes do not', [...grantedEverywhere(handler), made(), PATCH(one('status'), 'merge', condition('Custom'), asMine), PATCH(one('status'), 'merge', { metadata: { labels: { a: 'b' } } }, asMine), sign, fail]),
  s('sign-changed', 'a changed certificate is refused by validation for one who may sign', [...grantedEverywhere(handler, signers('sign', 'example.com/s')), made(), sign, PATCH(one('status'), 'merge', { status: { certificate: null } }, { ...mine, pick: (b) => (b.kind === 'Status' ? { ...b, message: b.message.split('\n')[0].slice(0, 90), details: { ...b.details, causes: b.details?.causes?.map((c) => ({ ...c, message: c.message.slice(0, 30) })) } } : { kind: b.kind }) })]),
  s('masters', 'a request for system:masters: refused for the client signer of the server, for nobody else', [...['kubernetes.io/kube-apiserver-client', 'kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving', 'kubernetes.io/legacy', 'example.com/s'].map((signerName) => POST(all, csr({ request: mastersRequest, signerName }), { ...who, query: { dryRun: 'All' }, note: signerName }))]),
  s('masters-by-user', 'the same for one with few rights', [...grantedEverywhere(may('create', 'certificatesigningrequests', onCsr)), POST(all, csr({ request: mastersRequest, signerName: 'kubernetes.io/kube-apiserver-client' }), asMine)]),
  s('system-signers', 'requests to the signers of the system are stored without a look at their content', [...['kubernetes.io/kube-apiserver-client', 'kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving'].map((signerName) => POST(all, csr({ request: nodeRequest, signerName, usages: ['code signing'] }), { ...who, query: { dryRun: 'All' }, note: signerName }))]),
];
