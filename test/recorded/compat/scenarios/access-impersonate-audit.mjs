// What is audited of impersonation (§5, §12).
import { scenario, AUDITED, GET, POST, WATCH, WATCHED } from '../steps.ts';
import { as, granted, may, user } from './kit/access.mjs';

const s = (id, about, steps, o = {}) => scenario(`impersonate-audit-${id}`, { section: '12', about, needs: 'audit', ...o }, steps);
const maps = '/api/v1/namespaces/$ns/configmaps';
const quiet = { compare: 'status' };
/** A path that one binding alone allows: of several, the reference names any. */
const get = (headers, o = {}) => GET('/apis/apps', { headers, ...quiet, ...o });
const cluster = { namespace: false };
const u = '$ns-i';
/** Takes away what came before. */
const fresh = (events) => AUDITED(events, { compare: 'status', quiet: 500 });

export default [
  s('user', 'a user: his name and the groups that were added', [get(as(u)), AUDITED(2)], cluster),
  s('groups', 'groups', [get(as(u, { groups: ['b', 'a'] })), AUDITED(2)], cluster),
  s('uid', 'a uid', [get(as(u, { uid: 'x-1' })), AUDITED(2)], cluster),
  s('extra', 'extra fields', [get(as(u, { extra: { Scopes: ['view', 'edit'], 'example.com/A': ['1'] } })), AUDITED(2)], cluster),
  s('account', 'a service account', [get(as('system:serviceaccount:$ns:sa')), AUDITED(2)], cluster),
  s('anonymous', 'system:anonymous', [GET('/version', { headers: as('system:anonymous'), ...quiet }), AUDITED(2)], cluster),
  s('oneself', 'oneself', [get(as('admin')), AUDITED(2)], cluster),
  s('certificate', 'by a certificate, whose group decides the level', [get(as(u), { as: { cert: { cn: '$ns-c', o: ['system:masters', 'audit-complete-only'] } } }), AUDITED(1)], cluster),
  s('level-is-the-callers', 'the level is that of the caller, not of whom he impersonates', [get(as(u, { groups: ['audit-none'] })), AUDITED(2)], cluster),
  s('refused', 'one who may not impersonate', [get(as(u), { as: 'alice' }), get(as(u, { groups: ['g'] }), { as: 'alice' }), AUDITED(4)], cluster),
  s('refused-group', 'one who may impersonate the user, not the group', [...granted(may('get', 'configmaps')), fresh(12), GET(maps, { headers: as(user, { groups: ['g'] }), as: 'alice', ...quiet }), AUDITED(2)]),
  s('refused-as', 'the impersonated user may not', [GET(maps, { headers: as(u), ...quiet }), POST(maps, { metadata: { name: 'm' } }, { headers: as(u), ...quiet }), AUDITED(4)]),
  s('malformed', 'a group, a uid and an extra field without a user', [get({ 'impersonate-group': 'g' }), get({ 'impersonate-uid': 'x' }), get({ 'impersonate-extra-k': 'v' }), AUDITED(6)], cluster),
  s('write', 'a write by an impersonated user', [POST(maps, { metadata: { name: 'm' } }, { headers: as(u, { groups: ['system:masters'] }), ...quiet }), AUDITED(2)]),
  s('watch', 'a watch by an impersonated user', [WATCH('w', maps, { query: { watch: 1, timeoutSeconds: 1 }, headers: as(u, { groups: ['system:masters'] }) }), WATCHED('w', { events: 1, ms: 3000, ...quiet }), AUDITED(3)]),
  s('nobody', 'nobody impersonates', [get(as(u), { as: null }), AUDITED(2)], cluster),
];
