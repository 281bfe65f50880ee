// How scalar values are read and written back: numbers, quantities, int-or-string, times, base64, strings.
import { scenario, APPLY, GET, PATCH, POST, PUT } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const cms = `${core}/configmaps`;
const deployments = '/apis/apps/v1/namespaces/$ns/deployments';
const leases = '/apis/coordination.k8s.io/v1/namespaces/$ns/leases';
const revisions = '/apis/apps/v1/namespaces/$ns/controllerrevisions';
/** A Status whole; of an object its data, cut where it is long. */
const revisionData = (t) => (t.includes('"kind":"Status"') ? t : (/,"data":(.*),"revision"/.exec(t)?.[1].replaceAll(/(\[{20,}|\]{20,}|0{20,})/g, (run) => `${run[0]}*${run.length}`) ?? t));
const about = (text) => ({ section: '4.9', about: text });
const ask = (path, body, pick) => POST(path, body, { type: 'application/json', compareHeaders: ['warning'], pick: (b) => (b.kind === 'Status' ? b : pick(b)) });
const deployment = (name, spec, container = '') => `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"},"spec":{"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"${container}}]}}${spec}}}`;
const cm = (name, rest) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}${rest}}`;
const service = (name, port) => `{"apiVersion":"v1","kind":"Service","metadata":{"name":"${name}"},"spec":{"clusterIP":"None","ports":[${port}]}}`;

const ints = ['0', '1', '-1', '-0', '1.0', '1e3', '1E2', '1.5e1', '1e-1', '100e-2', '2147483647', '2147483648', '-2147483649', '9223372036854775808', '1e400', '"1"', '1.0000000000000000001', '0.0'];
const longs = ['9007199254740993', '9223372036854775807', '9223372036854775808', '-1', '1.0', '1e3', '3.7'];
const quantities = ['1', '"1"', '1.5', '"1.5"', '"500m"', '0.5', '"0.5"', '1e3', '"1e3"', '"1E3"', '"1Ki"', '"1024Mi"', '"1000"', '"1000m"', '"1k"', '"1K"', '"1.5Gi"', '"0.1m"', '"1u"', '"+1"', '"-1"', '" 1"', '"1 "', '""', '"abc"', '"1Xi"', '"1e"', 'null', 'true', '{}', '"9223372036854775808"', '"123456789012345678901234567890"', '"01"', '".5"', '"5."', '"0"', '"1n"', '"1Ei"', '"1E"', '"12e6"'];
const intOrString = ['"25%"', '1', '"1"', '1.0', '1.5', '"abc"', '"101%"', '"-1%"', '-1', 'true', 'null', '{}', '2147483648', '"%"', '"0%"', '1e1'];
const times = ['"2020-01-02T03:04:05Z"', '"2020-01-02T03:04:05+02:00"', '"2020-01-02T03:04:05.999Z"', '"2020-01-02"', '"2020-01-02 03:04:05"', '"2020-01-02T03:04:05"', '"2020-13-02T03:04:05Z"', '"2020-02-30T03:04:05Z"', '"2020-01-02T25:04:05Z"', '""', '"now"', '1577934245', 'null', 'true', '{}', '"2020-01-02t03:04:05z"', '"0001-01-01T00:00:00Z"', '"10000-01-01T00:00:00Z"', '"2020-01-02T03:04:60Z"', '"1969-12-31T23:59:59Z"'];
const microTimes = ['"2020-01-02T03:04:05.123456Z"', '"2020-01-02T03:04:05.000000Z"', '"2020-01-02T03:04:05Z"', '"2020-01-02T03:04:05.5Z"', '"2020-01-02T03:04:05.123456789Z"', '"2020-01-02T03:04:05.123456+01:00"', '""', 'null', '5'];
const base64 = ['""', '"YQ=="', '"YQ"', '"YQ="', '"Y Q=="', '"YQ==\\n"', '"!!!!"', '"__-_"', '"//8="', 'null', '5', '[97]', '"YWI=YWI="', '"YR=="'];
const strings = ['"<a>&\'"', '"\\u2028\\u2029"', '"tab\\tnew\\nline"', '"\\u0000\\u001f\\u007f"', '"\\ud83d\\ude00"', '"é"', '"\\/"', '""'];

/** One scenario for every six values, so that a failing one shows few others. */
const table = (id, text, values, step) => Array.from({ length: Math.ceil(values.length / 6) }, (_, n) => scenario(`crud-values-${id}-${n + 1}`, about(text), values.slice(n * 6, n * 6 + 6).map((v, i) => step(v, n * 6 + i))));

/** Go tells null from empty bytes until they are stored: what is written over and over is seen by versions and owners. */
const bytes = (kind, field) => (values, more = {}) => ({ apiVersion: 'v1', kind, metadata: { name: 'x' }, [field]: values, ...more });
const secret = bytes('Secret', 'data'), binary = bytes('ConfigMap', 'binaryData');
const nulls = (id, text, steps, path = `${core}/secrets`) => scenario(`crud-values-null-bytes-${id}`, about(`a null for bytes: ${text}`), [...steps.flatMap(([method, body, o = {}]) => [
  method === 'POST' ? POST(path, body, o) : method === 'PUT' ? PUT(`${path}/x`, body, o) : method === 'APPLY' ? APPLY(`${path}/x`, o.manager, body, o) : PATCH(`${path}/x`, method, body, o),
]), GET(`${path}/x`)]);
const by = (manager, force = false) => ({ manager, force });
const nullBytes = [
  nulls('create', 'in a new object, written again, as empty, as null', [['POST', secret({ a: null })], ['PUT', secret({ a: null })], ['PUT', secret({ a: '' })], ['PUT', secret({ a: '' })], ['PUT', secret({ a: null })]]),
  nulls('update', 'in the place of a value, beside another', [['POST', secret({ a: 'eA==' })], ['PUT', secret({ a: null })], ['PUT', secret({ a: null, b: 'eA==' })], ['PUT', secret({ a: '', b: 'eA==' })], ['PUT', secret({ a: '', b: 'eA==' })]]),
  nulls('dry-run', 'of a dry run', [['POST', secret({ a: '' })], ['PUT', secret({ a: null }), { query: { dryRun: 'All' } }]]),
  nulls('json-patch', 'by patches', [['POST', secret({ b: 'eA==' })], ['json-patch', [{ op: 'add', path: '/data/a', value: null }]], ['json-patch', [{ op: 'replace', path: '/data/a', value: null }]], ['strategic', { data: { b: null } }], ['strategic', { stringData: { q: null } }], ['merge', { metadata: { labels: { a: null } } }]]),
  nulls('immutable', 'in what cannot change any more', [['POST', secret({ a: '' }, { immutable: true })], ['PUT', secret({ a: null }, { immutable: true })], ['PUT', secret({ a: '' }, { immutable: true })]]),
  nulls('string-data', 'beside stringData', [['POST', secret({ a: null }, { stringData: { a: null, b: null } })], ['PUT', secret({ a: null }, { stringData: { a: 'x' } })]]),
  nulls('apply', 'applied twice, then as empty', [['APPLY', secret({ a: null }), by('m')], ['APPLY', secret({ a: null }), by('m')], ['merge', { data: { b: null } }], ['APPLY', secret({ a: '' }), by('m')], ['APPLY', secret({ a: '' }), by('m')], ['PUT', secret({ a: null })]]),
  nulls('apply-conflict', 'conflicts with an empty value', [['APPLY', secret({ a: '' }), by('m')], ['APPLY', secret({ a: null }), by('n')], ['APPLY', secret({ a: null }), by('n', true)], ['APPLY', secret({}), by('n')]]),
  nulls('config-map', 'in a ConfigMap', [['POST', binary({ a: null })], ['PUT', binary({ a: null })], ['PUT', binary({ a: '' })], ['PUT', binary({ a: '' })]], cms),
];

export default [
  ...table('int32', 'forms of an int32', ints, (v, i) => ask(deployments, deployment(`d${i}`, `,"replicas":${v}`), (b) => b.spec.replicas)),
  scenario('crud-values-int64', about('forms of an int64'), longs.map((v, i) => ask(deployments, deployment(`d${i}`, '', '').replace('"spec":{"containers"', `"spec":{"terminationGracePeriodSeconds":${v},"containers"`), (b) => b.spec.template.spec.terminationGracePeriodSeconds))),
  scenario('crud-values-int64-text', { ...about('large int64 values are written back digit by digit'), section: '4.9' }, [
    POST(deployments, deployment('d', '').replace('"spec":{"containers"', '"spec":{"terminationGracePeriodSeconds":9007199254740993,"containers"'), { type: 'application/json', compare: 'status' }),
    GET(`${deployments}/d`, { text: true, pick: (t) => /"terminationGracePeriodSeconds":\s*[^,}]*/.exec(t)?.[0] }),
  ]),
  scenario('crud-values-bool', about('forms of a boolean'), ['true', 'false', '"true"', '1', '0', 'null', '"yes"', '[]'].map((v, i) => ask(cms, cm(`c${i}`, `,"immutable":${v}`), (b) => ({ immutable: b.immutable })))),
  ...table('quantity', 'forms of a quantity and how they are written back', quantities, (v, i) => ask(`${core}/resourcequotas`, `{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q${i}"},"spec":{"hard":{"requests.memory":${v}}}}`, (b) => b.spec.hard)),
  scenario('crud-values-quantity-cpu', about('quantities of cpu in a container'), ['1', '"0.1"', '0.1', '"100m"', '"1.0"', '"1.0005"', '"1500m"', '"2e3"'].map((v, i) => ask(deployments, deployment(`d${i}`, '', `,"resources":{"limits":{"cpu":${v}}}`), (b) => b.spec.template.spec.containers[0].resources))),
  scenario('crud-values-quantity-kept', about('a quantity is stored as it canonically reads; an equal one is no change'), [
    POST(`${core}/resourcequotas`, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { cpu: '1000m', memory: '1024Mi' } } }, { pick: (b) => [b.spec.hard, b.metadata.resourceVersion] }),
    PUT(`${core}/resourcequotas/q`, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { cpu: '1', memory: '1Gi' } } }, { pick: (b) => [b.spec.hard, b.metadata.resourceVersion] }),
  ]),
  ...table('int-or-string', 'forms of an int-or-string', intOrString, (v, i) => ask(deployments, deployment(`d${i}`, `,"strategy":{"rollingUpdate":{"maxSurge":${v}}}`), (b) => b.spec.strategy.rollingUpdate)),
  scenario('crud-values-target-port', about('a target port as number and as name'), ['80', '"80"', '"http"', '"bad_name"', '"waytoolongportname"', '70000', '0', '1.0'].map((v, i) => ask(`${core}/services`, service(`s${i}`, `{"port":80,"targetPort":${v}}`), (b) => b.spec.ports))),
  scenario('crud-values-port', about('port numbers and protocols'), ['{"port":80}', '{"port":0}', '{"port":65536}', '{"port":"80"}', '{"port":80,"protocol":"tcp"}', '{"port":80,"protocol":"SCTP"}', '{}', '{"port":80},{"port":80}', '{"name":"a","port":80},{"name":"b","port":80}'].map((v, i) => ask(`${core}/services`, service(`s${i}`, v), (b) => b.spec.ports))),
  ...table('time', 'forms of a time', times, (v, i) => ask(`${core}/events`, `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e${i}"},"involvedObject":{"namespace":"$ns"},"firstTimestamp":${v}}`, (b) => b.firstTimestamp)),
  ...table('micro-time', 'forms of a microsecond time', microTimes, (v, i) => ask(leases, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l${i}"},"spec":{"renewTime":${v}}}`, (b) => b.spec)),
  ...table('base64-secret', 'forms of base64 in Secret data', base64, (v, i) => ask(`${core}/secrets`, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s${i}"},"data":{"k":${v}}}`, (b) => ({ data: b.data }))),
  ...table('base64-configmap', 'forms of base64 in ConfigMap binaryData', base64.slice(0, 9), (v, i) => ask(cms, cm(`c${i}`, `,"binaryData":{"k":${v}}`), (b) => ({ binaryData: b.binaryData }))),
  scenario('crud-values-strings', about('strings with characters that JSON escapes'), strings.map((v, i) => ask(cms, cm(`c${i}`, `,"data":{"k":${v}}`), (b) => b.data))),
  scenario('crud-values-strings-text', about('what is escaped on the wire: <, >, & and the line separators'), strings.flatMap((v, i) => [POST(cms, cm(`c${i}`, `,"data":{"k":${v}}`), { type: 'application/json', text: true, pick: (t) => /"data":\{.*?\}/.exec(t)?.[0] })])),
  scenario('crud-values-numbers-in-free-form', about('numbers inside a free-form field keep integer and float apart'), [
    POST('/apis/apps/v1/namespaces/$ns/controllerrevisions', '{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"},"revision":1,"data":{"i":1,"f":1.0,"e":1e3,"big":12345678901234567890,"l":9007199254740993,"neg":-0.0,"s":"x","n":null,"list":[1,2.5]}}', { type: 'application/json', text: true, pick: (t) => /"data":\{.*?\}/.exec(t)?.[0] }),
    GET('/apis/apps/v1/namespaces/$ns/controllerrevisions/r', { text: true, pick: (t) => /"data":\{.*?\}/.exec(t)?.[0] }),
  ]),
  ...Object.entries({
    tiny: '{"a":1e-999}', null: 'null', list: '[1]', text: '"x"', number: '1', absent: undefined,
    'depth-1500': `{"a":${'['.repeat(1500)}${']'.repeat(1500)}}`, 'depth-9000': `{"a":${'['.repeat(9000)}${']'.repeat(9000)}}`, 'depth-10001': `{"a":${'['.repeat(10_001)}${']'.repeat(10_001)}}`,
  }).map(([id, data]) => scenario(`crud-values-revision-data-${id}`, about(`the data of a ControllerRevision: ${id.replaceAll('-', ' ')}`), [
    POST(revisions, `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r"},"revision":1${data === undefined ? '' : `,"data":${data}`}}`, { type: 'application/json', text: true, pick: revisionData }),
    GET(`${revisions}/r`, { text: true, pick: revisionData }),
    PUT(`${revisions}/r`, `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"r","labels":{"a":"b"}},"revision":1${data === undefined ? '' : `,"data":${data}`}}`, { type: 'application/json', text: true, pick: revisionData }),
  ])),
  scenario('crud-values-enum', about('values outside an enumeration'), [
    ask(deployments, deployment('a', ',"strategy":{"type":"Nope"}'), (b) => b.spec.strategy),
    ask(deployments, deployment('b', '', ',"imagePullPolicy":"sometimes"'), (b) => b.spec),
    ask(`${core}/services`, '{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},"spec":{"type":"Nope"}}', (b) => b.spec),
    ask(`${core}/pods`, '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Maybe","dnsPolicy":"Other","containers":[{"name":"c","image":"i"}]}}', (b) => b.spec),
  ]),
  scenario('crud-values-null-and-empty', about('null, empty lists and empty maps in typed fields'), [
    POST(cms, cm('a', ',"data":{},"binaryData":null'), { type: 'application/json' }),
    POST(`${core}/pods`, '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{},"annotations":null,"finalizers":[]},"spec":{"volumes":[],"nodeSelector":{},"tolerations":null,"containers":[{"name":"c","image":"i","env":[],"command":null,"args":[],"resources":{"limits":{}}}]}}', { type: 'application/json' }),
  ]),
  ...nullBytes,
];
