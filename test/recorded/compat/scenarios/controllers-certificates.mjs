// Who approves certificates of kubelets: the certificatesigningrequest-approving-controller.
import { GET, POLL, POST, scenario, SLEEP } from '../steps.ts';
import { mastersRequest, nodeRequest, personRequest } from './kit/csr.mjs';
import { on } from './kit/meta.mjs';
import { WAIT } from './kit/controllers.mjs';

const csrs = on('certificates.k8s.io/v1/certificatesigningrequests');
const csr = on('certificates.k8s.io/v1/certificatesigningrequests', '$ns-c');
const s = (id, about, steps, o = {}) => scenario(`controllers-certificates-${id}`, { section: 'certificates', about, needs: 'controllers-certificates', cleanup: [csr], ...o }, steps);
const quiet = { compare: 'status' };
const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet';
const client = ['digital signature', 'key encipherment', 'client auth'];
const ask = (request, { signerName = kubelet, usages = client, ...o } = {}) => POST(csrs, { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-c' }, spec: { request, signerName, usages } }, { ...quiet, ...o });
const shown = { pick: (b) => (b.kind === 'Status' ? b : (b.status.conditions ?? null)) };
const approved = POLL(csr, (b) => b.status?.conditions !== undefined, { ...WAIT, ...shown });
const pending = [SLEEP(2_000), GET(csr, shown)];
const rule = (resource) => ({ apiGroups: ['certificates.k8s.io'], resources: [resource], verbs: ['create'] });
/** A user of this scenario alone, with these rights. */
const user = { cert: { cn: '$ns-u', o: ['dev'] } };
const may = (...resources) => [
  POST(on('rbac.authorization.k8s.io/v1/clusterroles'), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '$ns-r' }, rules: resources.map(rule) }, quiet),
  POST(on('rbac.authorization.k8s.io/v1/clusterrolebindings'), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: '$ns-b' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: '$ns-r' }, subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: '$ns-u' }] }, quiet),
];
const roles = { cleanup: [csr, on('rbac.authorization.k8s.io/v1/clusterroles', '$ns-r'), on('rbac.authorization.k8s.io/v1/clusterrolebindings', '$ns-b')] };

export default [
  s('node', 'a client certificate of a node, for who may', [ask(nodeRequest), approved]),
  s('node-few-usages', 'without key encipherment', [ask(nodeRequest, { usages: ['digital signature', 'client auth'] }), approved]),
  s('node-managed', 'who approves', [ask(nodeRequest), POLL(csr, (b) => b.status?.conditions !== undefined, { ...WAIT, pick: (b) => b.metadata.managedFields.map(({ manager, operation, subresource }) => ({ manager, operation, subresource })).toSorted((x, y) => (x.manager < y.manager ? -1 : 1)) })]),
  s('server-usage', 'one that is for a server, too', [ask(nodeRequest, { usages: [...client, 'server auth'] }), ...pending]),
  s('other-signer', 'one of another signer', [ask(nodeRequest, { signerName: 'kubernetes.io/kube-apiserver-client' }), ...pending]),
  s('custom-signer', "one of somebody's own signer", [ask(nodeRequest, { signerName: 'example.com/signer' }), ...pending]),
  s('person', 'one of a person', [ask(personRequest), ...pending]),
  s('masters', 'one of an administrator', [ask(mastersRequest), ...pending]),
  s('not-allowed', 'for who may only ask', [...may('certificatesigningrequests'), ask(nodeRequest, { as: user }), ...pending], roles),
  s('allowed', 'for who may have it', [...may('certificatesigningrequests', 'certificatesigningrequests/nodeclient'), ask(nodeRequest, { as: user }), approved], roles),
  s('self-only', 'the right to renew is not one to have', [...may('certificatesigningrequests', 'certificatesigningrequests/selfnodeclient'), ask(nodeRequest, { as: user }), ...pending], roles),
];
