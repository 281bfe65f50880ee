// Health endpoints, metrics, debugging, and the paths that publish the token issuer.
import { scenario, GET, POST } from '../steps.ts';

const none = { namespace: false };
const text = ['content-type', 'x-content-type-options', 'cache-control'];
const endpoints = ['healthz', 'livez', 'readyz'];
const names = (t) => t.split('\n').filter((l) => /^\[[+-]\]/.test(l)).map((l) => l.replace(/^\[[+-]\]| (excluded: )?ok$/g, ''));
/** The lines any server has: no post-start hooks, no checks of other parts. */
const common = (t) => t.split('\n').filter((l) => !/^\[[+-]\]/.test(l) || /\](ping|log|etcd) /.test(l));

const health = endpoints.flatMap((e) => [
  scenario(`health-${e}`, { section: '4.10', about: `/${e} answers ok`, ...none }, [GET(`/${e}`, { compareHeaders: text }), GET(`/${e}/`, { compareHeaders: text })]),
  scenario(`health-${e}-verbose`, { section: '4.10', about: `/${e}?verbose: the layout`, ...none }, [GET(`/${e}?verbose`, { compareHeaders: text, pick: common })]),
  scenario(`health-${e}-verbose-value`, { section: '4.10', about: 'verbose counts by presence, whatever its value', ...none }, [GET(`/${e}?verbose=false`, { pick: common }), GET(`/${e}?verbose=`, { pick: common })]),
  scenario(`health-${e}-checks`, { section: '4.10', about: `Every check of /${e}, in order`, ...none }, [GET(`/${e}?verbose`, { pick: names })]),
  scenario(`health-${e}-exclude`, { section: '4.10', about: 'An excluded check is shown as such', ...none }, [GET(`/${e}?verbose&exclude=etcd`, { pick: common }), GET(`/${e}?exclude=etcd`)]),
  scenario(`health-${e}-exclude-two`, { section: '4.10', about: 'exclude may repeat', ...none }, [GET(`/${e}?verbose&exclude=etcd&exclude=log`, { pick: common })]),
  scenario(`health-${e}-exclude-comma`, { section: '4.10', about: 'A comma does not separate names', ...none }, [GET(`/${e}?verbose&exclude=etcd,log`, { pick: common })]),
  scenario(`health-${e}-exclude-unknown`, { section: '4.10', about: 'Unknown names are warned about', ...none }, [GET(`/${e}?verbose&exclude=nope`, { pick: common }), GET(`/${e}?verbose&exclude=nope&exclude=other&exclude=etcd`, { pick: common }), GET(`/${e}?exclude=nope`), GET(`/${e}?verbose&exclude=`, { pick: common })]),
  scenario(`health-${e}-single`, { section: '4.10', about: 'One check on its own', ...none }, [GET(`/${e}/ping`, { compareHeaders: text }), GET(`/${e}/etcd`, { compareHeaders: text }), GET(`/${e}/log`), GET(`/${e}/poststarthook/rbac/bootstrap-roles`), GET(`/${e}/ping?verbose`), GET(`/${e}/ping/`)]),
  scenario(`health-${e}-single-unknown`, { section: '4.10', about: 'A check that does not exist', ...none }, [GET(`/${e}/nope`, { compareHeaders: text }), GET(`/${e}/poststarthook`, { compareHeaders: text })]),
  scenario(`health-${e}-single-exclude`, { section: '4.10', about: 'exclude and verbose on a single check', ...none }, [GET(`/${e}/etcd?exclude=etcd`), GET(`/${e}/etcd?verbose&exclude=etcd`)]),
  scenario(`health-${e}-anonymous`, { section: '4.10', about: `/${e} is open to all, single checks are not`, ...none }, [GET(`/${e}`, { as: null }), GET(`/${e}?verbose`, { as: null, pick: (t) => common(t).at(-1) || common(t).at(-2) }), GET(`/${e}/`, { as: null }), GET(`/${e}/ping`, { as: null }), GET(`/${e}/ping`, { as: 'bob' })]),
  scenario(`health-${e}-methods`, { section: '4.10', about: 'Methods other than GET', ...none }, [GET(`/${e}`, { method: 'HEAD', compareHeaders: text }), POST(`/${e}`, undefined, { compareHeaders: text }), GET(`/${e}`, { method: 'DELETE', compareHeaders: text }), GET(`/${e}`, { method: 'HEAD', as: null, compare: 'status' }), GET(`/${e}`, { method: 'OPTIONS', compare: 'status' })]),
  scenario(`health-${e}-any-accept`, { section: '4.10', about: 'Health does not negotiate', ...none }, [GET(`/${e}`, { headers: { accept: 'application/xml' }, compareHeaders: text })]),
]);
const onlyReady = [
  scenario('health-readyz-own-checks', { section: '4.10', about: 'Checks that only readiness has', ...none }, ['informer-sync', 'shutdown', 'etcd-readiness'].flatMap((c) => endpoints.map((e) => GET(`/${e}/${c}`)))),
];

const metricNames = ['apiserver_request_total', 'apiserver_request_duration_seconds_bucket', 'apiserver_current_inflight_requests', 'apiserver_storage_objects', 'apiserver_longrunning_requests', 'apiserver_response_sizes_bucket', 'process_start_time_seconds', 'etcd_request_duration_seconds_bucket', 'apiserver_flowcontrol_dispatched_requests_total', 'apiserver_audit_event_total'];
const has = (t) => Object.fromEntries(metricNames.map((n) => [n, new RegExp(`^${n}[{ ]`, 'm').test(t)]));
const series = (name) => (t) => [...new Set(t.split('\n').filter((l) => l.startsWith(`${name}{`)).map((l) => [...l.matchAll(/(\w+)="/g)].map((m) => m[1]).join(',')))];
const metrics = [
  scenario('metrics-text', { section: '6.2', about: '/metrics is Prometheus text with the well-known names', ...none }, [GET('/api/v1/namespaces/default', { compare: 'status' }), GET('/metrics', { headers: { accept: '*/*' }, pick: has, pickHeaders: (h) => ({ 'content-type': h['content-type'].split(';').slice(0, 3).join(';') }) })]),
  scenario('metrics-help-and-type', { section: '6.2', about: 'HELP names the stability, TYPE the kind', ...none }, [GET('/metrics', { pick: (t) => ({ help: /^# HELP apiserver_request_total \[STABLE\] /m.test(t), type: t.split('\n').find((l) => l.startsWith('# TYPE apiserver_request_total')) }) })]),
  ...['apiserver_request_total', 'apiserver_request_duration_seconds_bucket', 'apiserver_storage_objects', 'apiserver_current_inflight_requests', 'apiserver_response_sizes_bucket', 'etcd_request_duration_seconds_bucket'].map((n) => scenario(`metrics-labels-${n.replaceAll('_', '-')}`, { section: '6.2', about: `The labels of ${n}`, ...none }, [GET('/metrics', { pick: series(n) })])),
  scenario('metrics-slis', { section: '6.2', about: '/metrics/slis counts health checks', ...none }, [...endpoints.map((e) => GET(`/${e}`, { compare: 'status' })), GET('/metrics/slis', { pick: (t) => ({ ping: t.split('\n').filter((l) => /^kubernetes_healthcheck\{name="ping"/.test(l)).sort(), totals: /^kubernetes_healthchecks_total\{name="ping",status="success",type="\w+"\} \d/m.test(t) }) })]),
  scenario('metrics-access', { section: '6.2', about: 'Metrics need a permission', ...none }, [GET('/metrics', { as: null }), GET('/metrics', { as: 'bob' }), GET('/metrics/slis', { as: 'bob' })]),
  scenario('metrics-other-paths', { section: '6.2', about: 'Below and beside /metrics', ...none }, [GET('/metrics/', { compareHeaders: ['content-type'], pick: (t) => t.slice(0, 20) }), GET('/metrics/nope', { compareHeaders: ['content-type'], pick: (t) => t.slice(0, 20) })]),
];

const debug = [
  scenario('debug-pprof', { section: '4.1', about: 'Profiles are served by default', ...none }, [GET('/debug/pprof', { compareHeaders: ['location', 'content-type'] }), GET('/debug/pprof/', { compareHeaders: ['content-type'], pick: (t) => t.slice(0, 13) }), GET('/debug/pprof/cmdline', { compare: 'status' })]),
  scenario('debug-other', { section: '4.1', about: 'Paths under /debug that answer, and that do not', ...none }, ['/debug', '/debug/', '/debug/flags', '/debug/flags/', '/debug/flags/v', '/debug/api_priority_and_fairness/', '/debug/nope'].map((p) => GET(p, { compareHeaders: ['content-type'], pick: (t) => t.slice(0, 24) }))),
  scenario('debug-flow-control', { section: '4.1', about: 'Dumps of priority and fairness', ...none }, ['dump_priority_levels', 'dump_queues', 'dump_requests', 'nope'].map((p) => GET(`/debug/api_priority_and_fairness/${p}`, { compareHeaders: ['content-type'], pick: (t) => t.split('\n', 1)[0].replaceAll(/\s+/g, ' ') }))),
  scenario('debug-access', { section: '4.1', about: 'Debugging needs a permission', ...none }, [GET('/debug/pprof/', { as: 'bob' }), GET('/debug/pprof/', { as: null })]),
  scenario('debug-absent', { section: '4.1', about: 'What a default server does not have', ...none }, ['/logs', '/logs/', '/statusz', '/flagz', '/configz', '/swagger.json', '/swaggerapi', '/ui', '/favicon.ico', '/robots.txt'].map((p) => GET(p, { compareHeaders: ['content-type'] }))),
];

const keys = (b) => b.keys.map((k) => ({ ...k, kid: typeof k.kid, n: typeof k.n }));
const status = (b) => (b?.kind === 'Status' ? b : typeof b === 'string' ? b.slice(0, 60) : Object.keys(b));
const issuer = [
  scenario('issuer-configuration', { section: '5', about: 'The OpenID configuration of the token issuer', ...none }, [GET('/.well-known/openid-configuration', { compareHeaders: ['content-type', 'cache-control'], pick: (b) => ({ ...b, jwks_uri: b.jwks_uri.replace(/https:\/\/[^/]+/, 'https://<host:port>') }) })]),
  scenario('issuer-keys', { section: '5', about: 'The keys of the token issuer', ...none }, [GET('/openid/v1/jwks', { headers: { accept: 'application/jwk-set+json' }, compareHeaders: ['content-type', 'cache-control'], pick: keys })]),
  scenario('issuer-accept', { section: '5', about: 'Both issuer documents negotiate; the keys are not plain JSON', ...none }, [
    ...['text/html', '*/*', 'application/*', 'application/yaml', null].map((a) => GET('/.well-known/openid-configuration', { headers: { accept: a }, note: `accept ${a}`, compareHeaders: ['content-type'], pick: status })),
    ...['text/html', 'application/json', '*/*', 'application/*', 'application/json, application/jwk-set+json', null].map((a) => GET('/openid/v1/jwks', { headers: { accept: a }, note: `accept ${a}`, compareHeaders: ['content-type'], pick: status })),
  ]),
  scenario('issuer-access', { section: '5', about: 'Who may read the issuer documents', ...none }, ['/.well-known/openid-configuration', '/.well-known/openid-configuration/', '/openid/v1/jwks', '/openid/v1/jwks/'].flatMap((p) => [GET(p, { as: null, headers: { accept: '*/*' } }), GET(p, { as: 'bob', headers: { accept: '*/*' }, pick: status })])),
  scenario('issuer-methods', { section: '5', about: 'Methods and neighbours of the issuer documents', ...none }, [GET('/.well-known/openid-configuration', { method: 'HEAD', compare: 'status' }), POST('/openid/v1/jwks', {}), GET('/.well-known/'), GET('/.well-known/nope'), GET('/openid/v1/'), GET('/openid/v1/nope')]),
];

export default [...health, ...onlyReady, ...metrics, ...debug, ...issuer];
