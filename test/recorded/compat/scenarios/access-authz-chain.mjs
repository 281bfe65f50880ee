// Chains of webhooks with conditions, failure policies and times (§6). Who asks says by its groups which webhooks it wants.
import { GET, HOOKED, POST, scenario, SLEEP } from '../steps.ts';
import { as, granted, may, message, sar, user } from './kit/access.mjs';
import { allow, cuts, deny, fails, garbage, hangs, inTurn, noOpinion } from './kit/hooks.mjs';

const s = (id, about, hooks, steps, o = {}) => scenario(`authz-chain-${id}`, { section: '6', about, needs: 'authorization-chain', hooks, ...o }, steps);
const maps = '/api/v1/namespaces/$ns/configmaps', pods = '/api/v1/namespaces/$ns/pods';
const stable = (text) => (typeof text === 'string' ? text.replace(/https:\/\/[^/"]*\/set-up/g, 'https://hook').replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>').replace(/(?:net\/http: request canceled|context deadline exceeded)(?: \(Client[^)]*\))?/, 'it was too late') : text);
const outcome = (b) => (typeof b === 'string' ? stable(b) : b?.kind === 'Status' ? { message: b.message, code: b.code } : b?.kind);
const of = (...groups) => ({ headers: as(user, { groups }), pick: outcome });
const extra = (level, ...groups) => ({ headers: as(user, { groups, extra: { level: [level] } }), pick: outcome });
const count = (name, calls) => HOOKED(name, { calls, pick: (all) => all.length });
const reviewStatus = (b) => (b?.status && b.kind !== 'Status' ? { ...b.status, ...(b.status.evaluationError ? { evaluationError: stable(b.status.evaluationError) } : {}) } : b);

export default [
  s('first', 'a webhook that is wanted decides', { first: allow }, [GET(maps, of('first')), GET(maps, of('other')), count('first', 1)]),
  s('beta', 'a review of v1beta1', { beta: allow }, [GET(`${maps}?labelSelector=a%3Db`, { ...of('beta'), headers: as(user, { groups: ['beta'], uid: '7', extra: { k: ['v'] } }) }), HOOKED('beta', { pick: (calls) => calls.map((c) => c.body) })]),
  s('beta-v1', 'v1beta1 is asked, v1 is answered', { beta: () => ({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', status: { allowed: true } }) }, [GET(maps, of('beta')), count('beta', 1)]),
  s('order', 'the first opinion counts', { first: deny, strict: allow }, [GET(maps, of('first', 'strict')), count('first', 1), count('strict', 0)]),
  s('no-opinion', 'without an opinion the next is asked', { first: noOpinion, strict: allow }, [GET(maps, of('first', 'strict')), count('first', 1), count('strict', 1)]),
  s('reasons', 'the reasons of all who had no opinion', { first: noOpinion, beta: noOpinion }, [GET(maps, of('first', 'beta')), sar(['get', 'pods'], { user, groups: ['first', 'beta'] })]),
  s('rbac-last', 'RBAC allows what nobody denied', { first: noOpinion }, [...granted(may('list', 'configmaps')), GET(maps, of('first'))]),
  s('deny-rbac', 'RBAC is not asked about what was denied', { first: deny }, [...granted(may('list', 'configmaps')), GET(maps, of('first')), sar(['list', 'configmaps'], { user, groups: ['first'] })]),
  s('fails-open', 'an error is no opinion: the next one decides', { first: fails(403), strict: allow }, [GET(maps, of('first', 'strict')), count('first', 1)]),
  s('fails-open-alone', 'an error that nobody overrules', { first: fails(403, 'no') }, [GET(maps, of('first')), sar(['get', 'pods'], { user, groups: ['first'] }, { pick: reviewStatus })]),
  s('fails-twice', 'two errors', { first: fails(403, 'one'), beta: fails(404, 'two') }, [GET(maps, of('first', 'beta')), sar(['get', 'pods'], { user, groups: ['first', 'beta'] }, { pick: reviewStatus })]),
  s('fails-same', 'the same error twice', { first: fails(404), beta: fails(404) }, [GET(maps, of('first', 'beta'))]),
  s('fails-with-reason', 'an error and a reason', { first: noOpinion, beta: fails(404) }, [GET(maps, of('first', 'beta')), sar(['get', 'pods'], { user, groups: ['first', 'beta'] }, { pick: reviewStatus })]),
  s('fails-rbac', 'RBAC allows although a webhook failed', { first: fails(403) }, [...granted(may('list', 'configmaps')), GET(maps, of('first'))]),
  s('fails-closed', 'with failurePolicy Deny an error denies', { strict: fails(403, 'no') }, [...granted(may('list', 'configmaps')), GET(maps, of('strict')), sar(['list', 'configmaps'], { user, groups: ['strict'] }, { pick: reviewStatus })]),
  s('garbage-closed', 'so does an answer that cannot be read', { strict: garbage }, [GET(maps, { ...of('strict'), compare: 'status' }), sar(['list', 'configmaps'], { user, groups: ['strict'] }, { pick: (b) => ({ denied: b.status.denied, allowed: b.status.allowed }) })]),
  s('timeout', 'a webhook that does not answer in its time', { first: hangs }, [GET(maps, of('first')), count('first', 1)]),
  s('timeout-open', 'the next one is asked then', { first: hangs, strict: allow }, [GET(maps, of('first', 'strict')), count('first', 1)]),
  s('timeout-closed', 'with failurePolicy Deny nobody is', { strict: hangs }, [...granted(may('list', 'configmaps')), GET(maps, of('strict')), sar(['list', 'configmaps'], { user, groups: ['strict'] }, { pick: reviewStatus })]),
  s('cut-closed', 'a connection that is cut, with failurePolicy Deny', { strict: cuts }, [...granted(may('list', 'configmaps')), GET(maps, { ...of('strict'), compare: 'status' })]),
  s('condition-matches', 'all conditions are true', { pods: deny }, [GET(pods, of('pods')), GET(`${pods}/p`, of('pods')), count('pods', 2)]),
  s('condition-excludes', 'one of the conditions is false', { pods: deny }, [GET(maps, of('pods')), GET('/api/v1/pods', of('pods')), GET('/version', of('pods')), count('pods', 0)]),
  s('condition-selector', 'a condition on a label selector', { pods: allow }, [GET(`${pods}?labelSelector=team%3Da`, of('pods')), GET(`${pods}?labelSelector=team%3Db`, of('pods')), GET(`${pods}?labelSelector=team%20in%20(a,b)`, of('pods')), HOOKED('pods', { calls: 1, pick: (all) => all.map((c) => c.body.spec.resourceAttributes.labelSelector) })]),
  s('condition-fails', 'a condition that cannot be evaluated: no opinion', { broken: allow }, [GET(maps, of('broken')), GET(maps, extra('high', 'broken')), GET(maps, extra('low', 'broken')), GET(maps, of('other')), count('broken', 1)]),
  s('condition-fails-rbac', 'RBAC still allows then', { broken: deny }, [...granted(may('list', 'configmaps')), GET(maps, of('broken'))]),
  s('condition-fatal', 'a condition that cannot be evaluated, with failurePolicy Deny', { fatal: allow }, [...granted(may('list', 'configmaps')), GET(maps, of('fatal')), GET(maps, extra('high', 'fatal')), GET(maps, extra('low', 'fatal')), sar(['list', 'configmaps'], { user, groups: ['fatal'] }, { pick: reviewStatus }), count('fatal', 1)]),
  s('condition-review', 'the same in a review', { broken: allow }, [sar(['get', 'pods'], { user, groups: ['broken'] }, { pick: reviewStatus }), sar(['get', 'pods'], { user, groups: ['broken'], extra: { level: ['high'] } }, { pick: reviewStatus })]),
  s('cache-allowed', 'an answer that allows is kept for two seconds', { first: inTurn(allow, deny) }, [GET(maps, of('first')), SLEEP(1300), GET(maps, of('first')), SLEEP(1300), GET(maps, of('first')), count('first', 2)]),
  s('cache-others', 'any other for one second', { first: inTurn(noOpinion, deny, allow) }, [GET(maps, of('first')), GET(maps, of('first')), SLEEP(1300), GET(maps, of('first')), SLEEP(1300), GET(maps, of('first')), count('first', 3)]),
  s('rules', 'rules of all who can list them', { first: allow }, [POST('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: '$ns' } }, { ...of('first'), pick: (b) => ({ incomplete: b.status?.incomplete, evaluationError: b.status?.evaluationError }) })]),
  s('masters', 'nobody asks about system:masters', { first: deny, strict: deny }, [GET(maps, of('system:masters', 'first', 'strict')), count('first', 0), count('strict', 0)]),
];
