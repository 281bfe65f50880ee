// Audit events of what few clients do: several X-Forwarded-For, a legacy token that was marked, documents in other forms (§12).
import { AUDITED, GET, POST, scenario, TOKEN } from '../steps.ts';

const s = (id, about, steps) => scenario(`audit-more-${id}`, { section: '12', about, needs: 'audit' }, steps);
const core = '/api/v1/namespaces/$ns';
const quiet = { compare: 'status' };
const claim = 'kubernetes.io/serviceaccount';
const form = (path, accept) => GET(`${path}?$ns`, { headers: { accept }, ...quiet });
const marked = { 'kubernetes.io/legacy-token-invalid-since': '2024-01-01' };

export default [
  s('forwarded-twice', 'of two headers the first counts', [GET(`${core}/configmaps`, { headers: { 'user-agent': '$ns', 'x-forwarded-for': ['1.2.3.4', '5.6.7.8'] }, ...quiet }), AUDITED(2)]),
  s('real-ip-twice', 'the same of X-Real-Ip', [GET(`${core}/configmaps`, { headers: { 'user-agent': '$ns', 'x-real-ip': ['1.2.3.4', '5.6.7.8'] }, ...quiet }), AUDITED(2)]),
  s('agent-twice', 'and of the user agent', [GET(`${core}/configmaps`, { headers: { 'user-agent': ['$ns', 'other'] }, ...quiet }), AUDITED(2)]),
  s('legacy-token-invalid', 'a legacy token that was marked is refused without a word about it', [
    POST(`${core}/serviceaccounts`, { metadata: { name: 'sa' } }, { ...quiet, id: 'sa' }),
    TOKEN('t', { key: 'service-account', header: { kid: null }, claims: { iss: 'kubernetes/serviceaccount', sub: 'system:serviceaccount:$ns:sa', aud: null, exp: null, iat: null, [`${claim}/namespace`]: '$ns', [`${claim}/secret.name`]: 's', [`${claim}/service-account.name`]: 'sa', [`${claim}/service-account.uid`]: '${sa.metadata.uid}' } }),
    POST(`${core}/secrets`, { type: 'kubernetes.io/service-account-token', metadata: { name: 's', labels: marked, annotations: { 'kubernetes.io/service-account.name': 'sa' } }, stringData: { token: '${t}' } }, quiet), AUDITED(4, quiet),
    GET(`${core}/configmaps`, { as: { token: '${t}' }, ...quiet }), AUDITED(1),
  ]),
  s('document-yaml', 'a document in YAML is recorded in JSON', [form('/apis/scheduling.k8s.io', 'application/yaml'), form('/apis/scheduling.k8s.io/v1', 'application/yaml'), AUDITED(4)]),
  s('document-protobuf', 'and one in protobuf', [form('/apis/scheduling.k8s.io', 'application/vnd.kubernetes.protobuf'), form('/apis/scheduling.k8s.io/v1', 'application/vnd.kubernetes.protobuf'), AUDITED(4)]),
  s('document-aggregated', 'aggregated ones', [form('/api', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'), form('/api', 'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'), AUDITED(4)]),
];
