// What is signed and what is not: the certificatesigningrequest-signing-controller.
import { GET, POLL, POST, PUT, scenario, SLEEP } from '../steps.ts';
import { certificateOf } from './kit/certificates.mjs';
import { namelessRequest, nodeRequest, personRequest, richRequest, servingMailRequest, servingPersonRequest, servingRequest, servingUriRequest } from './kit/csr.mjs';
import { on } from './kit/meta.mjs';
import { WAIT } from './kit/controllers.mjs';

const csrs = on('certificates.k8s.io/v1/certificatesigningrequests');
const csr = on('certificates.k8s.io/v1/certificatesigningrequests', '$ns-c');
const s = (id, about, steps, o = {}) => scenario(`controllers-signing-${id}`, { section: 'certificates', about, needs: 'controllers-signing', cleanup: [csr], ...o }, steps);
const quiet = { compare: 'status' };
const client = 'kubernetes.io/kube-apiserver-client';
const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet';
const serving = 'kubernetes.io/kubelet-serving';
const forClient = ['digital signature', 'key encipherment', 'client auth'];
const forServer = ['digital signature', 'key encipherment', 'server auth'];
const ask = (request, { signerName = client, usages = forClient, ...spec } = {}) => POST(csrs, { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-c' }, spec: { request, signerName, usages, ...spec } }, { ...quiet, id: 'made' });
const decide = (...types) => PUT(`${csr}/approval`, { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-c', resourceVersion: '${made.metadata.resourceVersion}' }, status: { conditions: types.map((type) => ({ type, status: 'True', reason: 'Test' })) } }, quiet);
const approve = decide('Approved');
const signed = POLL(csr, (b) => b.status?.certificate !== undefined, { ...WAIT, pick: certificateOf });
const conditions = { pick: (b) => ({ conditions: b.status?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message ?? null]) ?? null, hasCertificate: b.status?.certificate !== undefined }) };
const failed = POLL(csr, (b) => b.status?.conditions?.some(({ type }) => type === 'Failed'), { ...WAIT, ...conditions });
const unsigned = [SLEEP(2_000), GET(csr, conditions)];

export default [
  s('client', 'a client certificate', [ask(personRequest), approve, signed]),
  s('client-only', 'with one usage alone', [ask(personRequest, { usages: ['client auth'] }), approve, signed]),
  s('client-hour', 'a short one is not made shorter', [ask(personRequest, { expirationSeconds: 3_600 }), approve, signed]),
  s('client-minimum', 'the shortest that can be asked for', [ask(personRequest, { expirationSeconds: 600 }), approve, signed]),
  s('client-eight-hours', 'one that is long enough to be dated back', [ask(personRequest, { expirationSeconds: 28_800 }), approve, signed]),
  s('client-longer', 'longer than the longest', [ask(personRequest, { expirationSeconds: 864_000 }), approve, signed]),
  s('client-rich', 'a subject with all parts, and names of all types', [ask(richRequest), approve, signed]),
  s('client-nameless', 'no subject at all', [ask(namelessRequest), approve, signed]),
  s('client-server', 'a usage that it does not sign', [ask(personRequest, { usages: ['client auth', 'server auth'] }), approve, failed]),
  s('client-no-auth', 'without the usage that it needs', [ask(personRequest, { usages: ['digital signature'] }), approve, failed]),
  s('kubelet', 'a client certificate of a node', [ask(nodeRequest, { signerName: kubelet }), approve, signed]),
  s('kubelet-few', 'without key encipherment', [ask(nodeRequest, { signerName: kubelet, usages: ['digital signature', 'client auth'] }), approve, signed]),
  s('kubelet-person', 'one of a person', [ask(personRequest, { signerName: kubelet }), approve, failed]),
  s('kubelet-names', 'one with names', [ask(servingRequest, { signerName: kubelet }), approve, failed]),
  s('kubelet-usages', 'one for a server', [ask(nodeRequest, { signerName: kubelet, usages: forServer }), approve, failed]),
  s('serving', 'a serving certificate of a node', [ask(servingRequest, { signerName: serving, usages: forServer }), approve, signed]),
  s('serving-nameless', 'without names', [ask(nodeRequest, { signerName: serving, usages: forServer }), approve, failed]),
  s('serving-mail', 'with an address of mail', [ask(servingMailRequest, { signerName: serving, usages: forServer }), approve, failed]),
  s('serving-uri', 'with a URI', [ask(servingUriRequest, { signerName: serving, usages: forServer }), approve, failed]),
  s('serving-usages', 'for a client', [ask(servingRequest, { signerName: serving }), approve, failed]),
  s('serving-person', 'of somebody else', [ask(servingPersonRequest, { signerName: serving, usages: forServer }), approve, failed]),
  s('pending', 'one that nobody has decided on', [ask(personRequest), ...unsigned]),
  s('denied', 'one that was denied', [ask(personRequest), decide('Denied'), ...unsigned]),
  s('custom', "one of somebody's own signer", [ask(personRequest, { signerName: 'example.com/signer' }), approve, ...unsigned]),
];
