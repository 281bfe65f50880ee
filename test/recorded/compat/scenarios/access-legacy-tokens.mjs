// Legacy tokens of service accounts, which secrets hold: who is known by them, when they end, and that their use is noted (§5).
import { scenario, GET, POST, PATCH, DELETE, TOKEN } from '../steps.ts';
import { whoami, tokenReview } from './kit/access.mjs';

const core = '/api/v1/namespaces/$ns';
const quiet = { compare: 'status' };
const sa = (more = {}) => POST(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' }, ...more }, { id: 'sa', ...quiet });
const prefix = 'kubernetes.io/serviceaccount';
const claims = (more = {}) => ({ iss: 'kubernetes/serviceaccount', sub: 'system:serviceaccount:$ns:sa', aud: null, exp: null, iat: null, [`${prefix}/namespace`]: '$ns', [`${prefix}/secret.name`]: 's', [`${prefix}/service-account.name`]: 'sa', [`${prefix}/service-account.uid`]: '${sa.metadata.uid}', ...more });
const token = (more = {}, o = {}, id = 't') => TOKEN(id, { key: 'service-account', header: { kid: null }, claims: claims(more), ...o });
const secret = (metadata = {}, value = '${t}') => POST(`${core}/secrets`, { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/service-account-token', metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'sa' }, ...metadata }, stringData: { token: value } }, quiet);
const me = (o = {}) => whoami({ as: { token: '${t}' }, ...o });
const why = (o) => tokenReview('${t}', o);
const used = GET(`${core}/secrets/s`, { pick: (b) => ({ day: /^\d{4}-\d\d-\d\d$/.test(b.metadata.labels?.['kubernetes.io/legacy-token-last-used']), labels: Object.keys(b.metadata.labels ?? {}).toSorted(), managers: (b.metadata.managedFields ?? []).map((f) => f.manager).toSorted() }), note: 'whether its use is noted' });
const s = (id, about, steps, o = {}) => scenario(`legacy-token-${id}`, { section: '5', about, ...o }, steps);
const unlooked = { needs: 'no-account-lookup' };

export default [
  s('whoami', 'a token of a secret is its account', [sa(), token(), secret(), me(), why(), why(['https://kubernetes.default.svc']), why(['other'])]),
  s('noted', 'the day of its use is a label of the secret', [sa(), token(), secret(), used, me(), used]),
  s('noted-before', 'a day before is replaced, other labels stay', [sa(), token(), secret({ labels: { 'kubernetes.io/legacy-token-last-used': '2020-01-01', other: 'x' } }), me(), used, GET(`${core}/secrets/s`, { pick: (b) => b.metadata.labels['kubernetes.io/legacy-token-last-used'] === '2020-01-01' })]),
  s('automatic', 'one that was made for the account warns', [sa({ secrets: [{ name: 's' }] }), token(), secret(), me({ compareHeaders: ['warning'] }), me({ compareHeaders: ['warning'], note: 'also from memory' }), used]),
  s('manual', 'one that somebody made does not', [sa({ secrets: [{ name: 'other' }] }), token(), secret(), me({ compareHeaders: ['warning'] })]),
  s('invalid', 'one that was marked is refused', [sa({ secrets: [{ name: 's' }] }), token(), secret({ labels: { 'kubernetes.io/legacy-token-invalid-since': '2024-01-01' } }), me(), why(), used, PATCH(`${core}/secrets/s`, 'merge', { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': null } } }, quiet), { ...me({ note: 'until it counts again' }), kind: 'poll', ms: 15000, until: (_, status) => status === 201 }]),
  s('no-secret', 'without its secret', [sa(), token(), me(), why()]),
  s('secret-deleted', 'it ends with its secret', [sa(), token(), secret(), DELETE(`${core}/secrets/s`, undefined, quiet), me(), why()]),
  s('secret-marked', 'a secret that is being deleted', [sa(), token(), secret({ finalizers: ['example.com/x'] }), DELETE(`${core}/secrets/s`, undefined, quiet), me(), why(), PATCH(`${core}/secrets/s`, 'merge', { metadata: { finalizers: null } }, quiet)]),
  s('secret-other', 'a secret that has another token', [sa(), token(), secret({}, 'other'), me(), why()]),
  s('secret-type', 'the type of the secret does not matter', [sa(), token(), POST(`${core}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { token: '${t}' } }, quiet), me()]),
  s('account-deleted', 'without its account', [sa(), token(), secret(), DELETE(`${core}/serviceaccounts/sa`, undefined, quiet), { ...me({ note: 'until it is refused' }), kind: 'poll', ms: 15000, until: (_, status) => status === 401 }, why()]),
  s('account-recreated', 'an account of the same name is another one', [sa(), token({ [`${prefix}/service-account.uid`]: 'other' }), secret(), me(), tokenReview('${t}', undefined, { pick: (b) => b.status.error.replace(/\(.*?\)/, '(uid)') })]),
  s('account-marked', 'an account that is being deleted', [sa({ metadata: { name: 'sa', finalizers: ['example.com/x'] } }), token(), secret(), DELETE(`${core}/serviceaccounts/sa`, undefined, quiet), { ...me({ note: 'until it is refused' }), kind: 'poll', ms: 15000, until: (_, status) => status === 401 }, why(), PATCH(`${core}/serviceaccounts/sa`, 'merge', { metadata: { finalizers: null } }, quiet)]),
  s('claims', 'claims that are missing or do not fit', [sa(), ...[{ sub: null }, { sub: 'system:serviceaccount:$ns:other' }, { sub: 'x' }, { [`${prefix}/namespace`]: null }, { [`${prefix}/secret.name`]: null }, { [`${prefix}/service-account.name`]: null }, { [`${prefix}/service-account.uid`]: null }].flatMap((more) => [token(more), me(), why()])]),
  s('audience', 'one with audiences is for these', [sa(), token({ aud: ['other'] }), secret(), me(), why(), why(['other']), token({ aud: ['https://kubernetes.default.svc'] }), why()]),
  s('expired', 'its end is not looked at', [sa(), token({ exp: 1, nbf: 4102444800 }), secret(), me()]),
  s('signature', 'signed by others, or not at all', [sa(), token({}, { key: 'rsa' }), secret(), me(), why(), token({}, { alg: 'none' }), me(), why(), token({}, { alg: 'HS256' }), me(), why(), token({}, { header: { kid: 'other' } }), me(), why()]),
  s('unlooked', 'without --service-account-lookup nothing has to exist', [sa(), token(), me(), token({ [`${prefix}/service-account.uid`]: 'other' }), me(), token({ sub: 'x' }), me()], unlooked),
  s('unlooked-noted', 'and its use is not noted', [sa({ secrets: [{ name: 's' }] }), token(), secret({ labels: { 'kubernetes.io/legacy-token-invalid-since': '2024-01-01' } }), me({ compareHeaders: ['warning'] }), used], unlooked),
  s('tracked', 'since when uses are noted is in a ConfigMap', [GET('/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking', { pick: (b) => ({ keys: Object.keys(b.data), day: /^\d{4}-\d\d-\d\d$/.test(b.data.since), labels: b.metadata.labels ?? null }) })], { namespace: false }),
];
