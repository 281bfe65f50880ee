// The set-ups of audit themselves: events reach the runner by the log and by the webhook (§12).
import { scenario, AUDITED, DELETE, GET, POST, WATCH, WATCHED } from '../steps.ts';
import { grantAll } from './kit/audit.mjs';

const s = (id, needs, about, steps, o = {}) => scenario(`setups-audit-${id}`, { section: '12', about, needs, ...o }, steps);
const maps = '/api/v1/namespaces/$ns/configmaps';
const map = (name, data = { a: '1' }) => ({ metadata: { name }, data });
const levels = ['none', 'metadata', 'request', 'response', 'response-bare', 'complete-only', 'received-only'];
const events = { none: 0, 'complete-only': 2, 'received-only': 2 };

export default [
  ...levels.map((level) => {
    const who = { as: { cert: { cn: '$ns-u', o: [`audit-${level}`, '$ns-all'] } } };
    return s(level, 'audit', `a create and a get at ${level}`, [...grantAll, AUDITED(2 * grantAll.length, { compare: 'status' }), POST(maps, map('m'), who), GET(`${maps}/m`, who), AUDITED(events[level] ?? 4)]);
  }),
  s('refused', 'audit', 'requests that are refused', [
    GET(maps, { as: 'alice' }), GET(`${maps}?who=$ns`, { as: { token: '$ns-token' } }), GET('/version', { as: null, compare: 'status' }), AUDITED(5),
  ]),
  s('watch', 'audit', 'a watch has three stages', [
    GET(maps, { as: 'admin', id: 'list', query: { limit: 1 } }), WATCH('w', maps, { query: { watch: 1, resourceVersion: '${list.metadata.resourceVersion}', timeoutSeconds: 1 } }), POST(maps, map('m')), WATCHED('w', { quiet: 1500 }), DELETE(`${maps}/m`), AUDITED(9),
  ]),
  s('legacy', 'audit-legacy', 'the legacy format', [POST(maps, map('m')), GET(`${maps}/nope`, { as: 'alice' }), AUDITED(4)]),
  s('webhook', 'audit-webhook', 'a webhook gets the events, the large ones truncated', [POST(maps, map('m')), POST(maps, map('large', { a: 'x'.repeat(5000) })), AUDITED(4, { source: 'webhook' })]),
];
