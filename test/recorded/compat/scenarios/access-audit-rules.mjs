// Policies that decide by resources, names, namespaces, verbs and paths, and the modes of the backends (§12).
import { scenario, AUDITED, DELETE, GET, PATCH, POST } from '../steps.ts';

const s = (id, needs, about, steps, o = {}) => scenario(`audit-rules-${id}`, { section: '12', about, needs, ...o }, steps);
const ns = '/api/v1/namespaces/$ns';
const maps = `${ns}/configmaps`;
const map = (name, data = { a: '1' }) => ({ metadata: { name }, data });
const quiet = { compare: 'status' };
const account = POST(`${ns}/serviceaccounts`, { metadata: { name: 'default' } }, quiet);
const pod = { metadata: { name: 'p' }, spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] } };
const sets = '/apis/apps/v1/namespaces/$ns/replicasets';
const selector = { matchLabels: { a: 'b' } };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const ua = { 'user-agent': 'oracle/1.0 ($ns)' };

export default [
  s('verbs', 'audit-rules', 'rules by verb come first', [POST(maps, map('m'), quiet), GET(`${maps}/m`, quiet), GET(maps, quiet), DELETE(`${maps}/m`, undefined, quiet), AUDITED(6)]),
  s('names', 'audit-rules', 'a create has no name when the policy is asked; a patch has', [POST(maps, map('named'), quiet), PATCH(`${maps}/named`, 'merge', { data: { b: '2' } }, quiet), DELETE(`${maps}/named`, undefined, quiet), AUDITED(5)]),
  s('subresources', 'audit-rules', 'subresources of any name, and the resource itself', [account, POST(`${ns}/pods`, pod, quiet), PATCH(`${ns}/pods/p/status`, 'merge', { status: { phase: 'Running' } }, quiet), POST(`${ns}/serviceaccounts/default/token`, {}, quiet), AUDITED(6)]),
  s('groups', 'audit-rules', 'a group with an exception', [POST(sets, { metadata: { name: 'r' }, spec: { selector, template } }, quiet), POST('/apis/apps/v1/namespaces/$ns/deployments', { metadata: { name: 'd' }, spec: { selector, template } }, quiet), AUDITED(2)]),
  s('cluster', 'audit-rules', 'cluster-scoped kinds', [GET('/apis/rbac.authorization.k8s.io/v1/clusterroles/$ns', quiet), GET('/api/v1/namespaces/$ns', quiet), AUDITED(2)]),
  s('paths', 'audit-rules', 'paths', [GET('/healthz/ping?$ns', { text: true, ...quiet }), GET('/readyz?$ns', { text: true, ...quiet }), GET('/version?$ns', quiet), GET('/apis/batch?$ns', quiet), GET('/openapi/v3?$ns', quiet), AUDITED(4)]),
  s('user-groups', 'audit-rules', 'groups of users', [GET(`${ns}/services`, { as: 'alice', ...quiet }), GET(`${ns}/services`, { as: 'bob', ...quiet }), AUDITED(2)]),
  s('impersonated', 'audit-rules', 'the policy is asked about who impersonates', [GET(`${ns}/services`, { headers: { ...ua, 'impersonate-user': 'alice', 'impersonate-group': 'dev' }, ...quiet }), AUDITED(0)]),
  s('started', 'audit-rules', 'the policy leaves a stage out', [GET(`${ns}/services?watch=1&timeoutSeconds=1`, { as: 'alice', ...quiet }), AUDITED(2)]),
  s('batch', 'audit-batch', 'in batches', [POST(maps, map('m'), quiet), GET(`${maps}/m`, quiet), AUDITED(4)]),
  s('truncated', 'audit-batch', 'large objects are left out', [POST(maps, map('m', { a: 'x'.repeat(3000) }), quiet), AUDITED(2)]),
  s('truncated-patch', 'audit-batch', 'of patches, too', [POST(maps, map('m'), quiet), AUDITED(2, quiet), PATCH(`${maps}/m`, 'merge', { data: { a: 'x'.repeat(3000) } }, quiet), AUDITED(2)]),
  s('lost', 'audit-batch', 'an event that is too large without them is lost', [GET(`${maps}?x=${'y'.repeat(3000)}`, quiet), GET(maps, quiet), AUDITED(2)]),
  s('strict', 'audit-strict', 'strict', [POST(maps, map('m'), quiet), GET(`${maps}/none`, quiet), AUDITED(4)]),
  s('blocking-webhook', 'audit-strict', 'a webhook that requests wait for', [POST(maps, map('m'), quiet), GET(`${maps}/m`, quiet), AUDITED(4, { source: 'webhook', ms: 1 })]),
  s('legacy-watch', 'audit-legacy', 'a watch in the old format', [GET(`${maps}?watch=1&timeoutSeconds=1`, { as: 'alice', ...quiet }), AUDITED(3)]),
  s('legacy-impersonate', 'audit-legacy', 'impersonation', [GET(maps, { headers: { ...ua, 'impersonate-user': 'bob', 'impersonate-group': 'g"1' }, ...quiet }), GET('/api/v1/nodes?$ns', { headers: { ...ua, 'impersonate-user': 'bob' }, ...quiet }), AUDITED(4)]),
  s('legacy-refused', 'audit-legacy', 'nobody', [GET(maps, { as: { token: '$ns-token' }, ...quiet }), GET('/version?$ns', { as: null, ...quiet }), AUDITED(3)]),
];
