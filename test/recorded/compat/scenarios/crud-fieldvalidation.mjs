// fieldValidation: unknown and duplicate fields under Ignore, Warn, Strict and without the parameter.
import { scenario, GET, POST, PUT, PATCH, APPLY } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const cms = `${core}/configmaps`;
const deployments = '/apis/apps/v1/namespaces/$ns/deployments';
const about = (text) => ({ section: '4.9', about: text });
const warn = { compareHeaders: ['warning'] };
const brief = (b) => (b.kind === 'Status' ? b : { kind: b.kind, name: b.metadata.name, data: b.data, labels: b.metadata.labels, replicas: b.spec?.replicas });
const modes = { none: undefined, ignore: 'Ignore', warn: 'Warn', strict: 'Strict' };
const query = (mode) => (mode === undefined ? {} : { query: { fieldValidation: mode } });
const made = POST(cms, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1' } }, { compare: 'status' });
const cmHead = '"apiVersion":"v1","kind":"ConfigMap"';
const template = '{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}';
const deployment = (spec, meta = '"name":"d"') => `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{${meta}},"spec":{"selector":{"matchLabels":{"app":"x"}},"template":${template}${spec}}}`;

/** JSON bodies of a ConfigMap named x, each with something to complain about. */
const bodies = {
  'unknown-top': `{${cmHead},"metadata":{"name":"x"},"foo":1}`,
  'unknown-nested': `{${cmHead},"metadata":{"name":"x","foo":1,"bar":{"baz":2}}}`,
  'unknown-many': `{${cmHead},"metadata":{"name":"x"},"zeta":1,"alpha":[1,{"b":2}],"mid":{"x":{"y":1}}}`,
  'duplicate-top': `{${cmHead},"metadata":{"name":"x"},"data":{"a":"1"},"data":{"b":"2"}}`,
  'duplicate-nested': `{${cmHead},"metadata":{"name":"first","name":"x"},"data":{"a":"1","a":"2"}}`,
  'duplicate-kind': `{${cmHead},"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"}}`,
  'duplicate-kind-differs': `{"kind":"Secret",${cmHead},"metadata":{"name":"x"}}`,
  'duplicate-three-times': `{${cmHead},"metadata":{"name":"x","labels":{"k":"1","k":"2","k":"3"}}}`,
  'unknown-and-duplicate': `{${cmHead},"metadata":{"name":"x"},"foo":1,"data":{"a":"1","a":"2"},"foo":2}`,
  'case-top': `{${cmHead},"metadata":{"name":"x"},"Data":{"a":"1"}}`,
  'case-nested': `{${cmHead},"metadata":{"name":"x","Labels":{"a":"b"},"NAME":"y"}}`,
  'case-kind': `{"ApiVersion":"v1","Kind":"ConfigMap","metadata":{"name":"x"}}`,
  'case-both': `{${cmHead},"metadata":{"name":"x"},"data":{"a":"1"},"DATA":{"b":"2"}}`,
  'unknown-duplicated': `{${cmHead},"metadata":{"name":"x"},"foo":{"a":1,"a":2}}`,
  'map-keys-are-free': `{${cmHead},"metadata":{"name":"x","labels":{"foo":"1"},"annotations":{"bar":"2"}},"data":{"anything":"3"}}`,
  'unknown-empty-name': `{${cmHead},"metadata":{"name":"x"},"":1}`,
  'unknown-strange-names': `{${cmHead},"metadata":{"name":"x"},"a.b":1,"c\\"d":2,"e[0]":3,"é":4,"f\\ng":5}`,
  'unknown-in-managed-fields': `{${cmHead},"metadata":{"name":"x","managedFields":[{"manager":"m","foo":1}],"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","foo":1}]}}`,
};
const specs = {
  'unknown-in-list': deployment(',"strategy":{"type":"Recreate","foo":1}').replace('"image":"i"', '"image":"i","foo":1,"ports":[{"containerPort":80},{"containerPort":81,"bar":2}]'),
  'duplicate-in-list': deployment(',"replicas":1,"replicas":2').replace('"image":"i"', '"image":"i","image":"j"'),
  'unknown-in-status': deployment('').replace(/}$/, ',"status":{"foo":1}}'),
  'unknown-in-int-or-string': deployment(',"strategy":{"rollingUpdate":{"maxSurge":"1","foo":1}}'),
  'unknown-in-quantity-map': deployment('').replace('"image":"i"', '"image":"i","resources":{"limits":{"foo.example.com/x":"1"},"foo":1}'),
};

/** Bodies with more to warn of than headers have room for: 4,096 characters in all, and then 256 of each. */
const numbered = (count, entry) => Array.from({ length: count }, (_, at) => entry(String(at).padStart(3, '0'))).join(',');
const inData = (entries) => `{${cmHead},"metadata":{"name":"x"},"data":{${entries}}}`;
const onTop = (entries) => `{${cmHead},"metadata":{"name":"x"},${entries}}`;
const floods = {
  'repeated-keys': inData(numbered(400, (at) => `"k${at}":"1","k${at}":"2"`)),
  'repeated-long-keys': inData(numbered(60, (at) => `"k${at}${'n'.repeat(90)}":"1","k${at}${'n'.repeat(90)}":"2"`)),
  'unknown-fields': onTop(numbered(400, (at) => `"u${at}":1`)),
  'unknown-long-fields': onTop(numbered(40, (at) => `"u${at}${'n'.repeat(140)}":1`)),
  'one-long-last': onTop(`${numbered(90, (at) => `"u${at}${'n'.repeat(20)}":1`)},"z${'n'.repeat(900)}":1`),
  'one-long-first': onTop(`"a${'n'.repeat(4000)}":1,${numbered(90, (at) => `"u${at}${'n'.repeat(20)}":1`)}`),
  'control-characters': onTop(`"a\u0085":1,"b\u007f":1,"c\u009f":1,"d\u00a0":1,"e\u2028":1,"f":1,"f":2`),
};

export default [
  ...Object.entries(bodies).flatMap(([id, body]) => [scenario(`crud-fieldvalidation-post-${id}`, about(`POST of a ConfigMap with ${id.replaceAll('-', ' ')}, in every mode`), Object.values(modes).map((m) => POST(cms, body, { type: 'application/json', ...query(m), ...warn, pick: brief })).flatMap((s, i) => [s, ...(i < 3 ? [{ kind: 'request', method: 'DELETE', path: `${cms}/x`, compare: 'status' }] : [])]))]),
  ...Object.entries(specs).map(([id, body]) => scenario(`crud-fieldvalidation-post-deployment-${id}`, about(`POST of a Deployment with ${id.replaceAll('-', ' ')}`), [
    POST(deployments, body, { type: 'application/json', query: { fieldValidation: 'Strict' } }),
    POST(deployments, body, { type: 'application/json', ...warn, pick: brief }),
  ])),
  scenario('crud-fieldvalidation-duplicate-merges', about('a duplicated object merges with the first, the elements of a duplicated list merge by position, null clears, a scalar takes the last'), [
    POST(cms, `{${cmHead},"metadata":{"name":"x","labels":{"a":"1"}},"metadata":{"labels":{"b":"2"}},"data":{"k":"1"},"data":{"l":"2"}}`, { ...warn, pick: brief }),
    POST(deployments, deployment('').replace('"containers":[{"name":"c","image":"i"}]', '"containers":[{"name":"c","image":"i","workingDir":"/w"},{"name":"d","image":"j"}],"containers":[{"name":"e"}]'), { type: 'application/json', ...warn, pick: (b) => (b.kind === 'Status' ? b : b.spec.template.spec.containers) }),
    POST(deployments, deployment('', '"name":"e"').replace('"containers":[{"name":"c","image":"i"}]', '"containers":[{"name":"c","image":"i"}],"containers":null,"containers":[{"name":"e","image":"k"}]'), { type: 'application/json', ...warn, pick: (b) => (b.kind === 'Status' ? b : b.spec.template.spec.containers) }),
    POST(cms, `{${cmHead},"metadata":{"name":"z"},"data":{"k":"1"},"data":null}`, { ...warn, pick: brief }),
  ]),
  scenario('crud-fieldvalidation-put', about('PUT: unknown and duplicate fields in every mode'), [
    made,
    ...Object.values(modes).map((m) => PUT(`${cms}/c`, `{${cmHead},"metadata":{"name":"c"},"foo":1,"data":{"a":"1","a":"2"}}`, { type: 'application/json', ...query(m), ...warn, pick: brief })),
  ]),
  scenario('crud-fieldvalidation-merge-patch', about('merge patch: unknown and duplicate fields in every mode'), [
    made,
    ...Object.values(modes).map((m) => PATCH(`${cms}/c`, 'merge', '{"foo":1,"data":{"b":"1","b":"2"},"metadata":{"bar":1}}', { ...query(m), ...warn, pick: brief })),
  ]),
  scenario('crud-fieldvalidation-strategic-patch', about('strategic merge patch: unknown and duplicate fields in every mode'), [
    made,
    ...Object.values(modes).map((m) => PATCH(`${cms}/c`, 'strategic', '{"foo":1,"data":{"b":"1","b":"2"},"metadata":{"bar":1}}', { ...query(m), ...warn, pick: brief })),
  ]),
  scenario('crud-fieldvalidation-json-patch', about('JSON patch: unknown fields of the result and duplicate keys of the operations, in every mode'), [
    made,
    ...Object.values(modes).map((m) => PATCH(`${cms}/c`, 'json-patch', '[{"op":"add","path":"/foo","value":1},{"op":"add","path":"/data/b","value":"2"}]', { ...query(m), ...warn, pick: brief })),
    ...Object.values(modes).map((m) => PATCH(`${cms}/c`, 'json-patch', '[{"op":"add","path":"/data/z","path":"/data/b","value":"3","extra":1}]', { ...query(m), ...warn, pick: brief })),
  ]),
  scenario('crud-fieldvalidation-apply', about('apply: unknown and duplicate fields in every mode'), [
    ...Object.values(modes).map((m) => APPLY(`${cms}/x`, 'm', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\nbar: 2\ndata:\n  a: "1"\n', { query: { fieldManager: 'm', ...query(m).query }, ...warn, pick: brief })),
    ...Object.values(modes).map((m) => APPLY(`${cms}/y`, 'm', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "y"\ndata:\n  a: "1"\n  a: "2"\n', { query: { fieldManager: 'm', ...query(m).query }, ...warn, pick: brief })),
  ]),
  scenario('crud-fieldvalidation-yaml', about('YAML bodies: unknown and duplicate fields in every mode'), [
    ...Object.values(modes).flatMap((m, i) => [POST(cms, `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x${i}\n  foo: 1\nbar: 2\ndata:\n  a: "1"\n`, { type: 'application/yaml', ...query(m), ...warn, pick: brief }),
      POST(cms, `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: first\n  name: z${i}\ndata:\n  a: "1"\n  b: "1"\n  a: "2"\n`, { type: 'application/yaml', ...query(m), ...warn, pick: brief }),
      POST(cms, `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: w${i}\nfoo: 1\nfoo: 2\ndata:\n  a: "1"\n  a: "2"\n`, { type: 'application/yaml', ...query(m), ...warn, pick: brief })]),
  ]),
  scenario('crud-fieldvalidation-yaml-merge-key', about('a YAML merge key that sets what is there already'), [
    POST(cms, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  labels: &l\n    k: v\ndata:\n  <<: *l\n  k: w\n', { type: 'application/yaml', query: { fieldValidation: 'Strict' }, ...warn, pick: brief }),
  ]),
  scenario('crud-fieldvalidation-value', about('only Ignore, Warn, Strict and the empty value are accepted'), [
    made,
    ...['Nope', 'strict', 'STRICT', ''].map((v) => POST(cms, `{${cmHead},"metadata":{"name":"x"},"foo":1}`, { query: { fieldValidation: v }, ...warn, pick: brief })),
    PUT(`${cms}/c`, `{${cmHead},"metadata":{"name":"c"}}`, { query: { fieldValidation: 'Nope' } }),
    PATCH(`${cms}/c`, 'merge', '{}', { query: { fieldValidation: 'Nope' } }),
    APPLY(`${cms}/c`, 'm', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }, { query: { fieldManager: 'm', fieldValidation: 'Nope' } }),
  ]),
  scenario('crud-fieldvalidation-value-repeated', about('fieldValidation given twice: the first counts'), [
    POST(`${cms}?fieldValidation=Strict&fieldValidation=Ignore`, `{${cmHead},"metadata":{"name":"x"},"foo":1}`, { ...warn, pick: brief }),
    POST(`${cms}?fieldValidation=Ignore&fieldValidation=Strict`, `{${cmHead},"metadata":{"name":"x"},"foo":1}`, { ...warn, pick: brief }),
    POST(`${cms}?fieldvalidation=Strict`, `{${cmHead},"metadata":{"name":"y"},"foo":1}`, { ...warn, pick: brief }),
  ]),
  scenario('crud-fieldvalidation-delete-ignores', about('DELETE knows no fieldValidation'), [
    made,
    { kind: 'request', method: 'DELETE', path: `${cms}/c`, query: { fieldValidation: 'Nope' }, body: { kind: 'DeleteOptions', apiVersion: 'v1', foo: 1 }, ...warn },
  ]),
  scenario('crud-fieldvalidation-strict-and-invalid', about('Strict decoding errors come before validation, type errors before strict ones'), [
    POST(cms, `{${cmHead},"metadata":{"name":"Bad_"},"foo":1}`, { query: { fieldValidation: 'Strict' } }),
    POST(cms, `{${cmHead},"metadata":{"name":"Bad_"},"foo":1}`, { ...warn }),
    POST(cms, `{${cmHead},"metadata":{"name":"x"},"foo":1,"data":{"a":5}}`, { query: { fieldValidation: 'Strict' } }),
    POST(cms, `{${cmHead},"metadata":{"name":"x"},"foo":1,"data":{"a":5}}`, { ...warn }),
    POST(cms, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"foo":1}`, { query: { fieldValidation: 'Strict' } }),
    PUT(`${cms}/x`, `{${cmHead},"metadata":{"name":"other"},"foo":1}`, { query: { fieldValidation: 'Strict' } }),
  ]),
  scenario('crud-fieldvalidation-many', about('a hundred unknown fields: how many are listed'), [
    POST(cms, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, ...Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`u${i}`, i])) }), { query: { fieldValidation: 'Strict' } }),
    POST(cms, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, ...Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`u${i}`, i])) }), { ...warn, pick: brief }),
  ]),
  scenario('crud-fieldvalidation-long-warning', about('very long field names in warnings are cut'), [
    POST(cms, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, ['l'.repeat(5000)]: 1, short: 2 }), { ...warn, pick: brief }),
    POST(cms, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'z' }, ...Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}${'n'.repeat(300)}`, i])) }), { ...warn, pick: brief }),
  ]),
  scenario('crud-fieldvalidation-subresource', about('fieldValidation on subresources'), [
    POST(deployments, deployment(''), { type: 'application/json', compare: 'status' }),
    PUT(`${deployments}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 2, foo: 1 } }, { query: { fieldValidation: 'Strict' } }),
    PATCH(`${deployments}/d/scale`, 'merge', { spec: { replicas: 2, foo: 1 } }, { query: { fieldValidation: 'Strict' } }),
    PUT(`${deployments}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 2, foo: 1 } }, { ...warn, pick: brief }),
    PATCH(`${deployments}/d/status`, 'merge', { status: { foo: 1 } }, { ...warn, pick: brief }),
  ]),
  scenario('crud-fieldvalidation-strategic-list', about('strategic merge patch: unknown fields inside merged lists'), [
    POST(deployments, deployment(''), { type: 'application/json', compare: 'status' }),
    PATCH(`${deployments}/d`, 'strategic', '{"spec":{"template":{"spec":{"containers":[{"name":"c","foo":1}]}}}}', { query: { fieldValidation: 'Strict' } }),
    PATCH(`${deployments}/d`, 'strategic', '{"spec":{"template":{"spec":{"containers":[{"name":"c","foo":1}]}}}}', { ...warn, pick: brief }),
  ]),
  ...Object.entries(floods).map(([id, body]) => scenario(`crud-fieldvalidation-flood-${id}`, about(`which of very many warnings are sent: ${id.replaceAll('-', ' ')}`), [
    POST(cms, body, { type: 'application/json', ...warn, pick: brief }),
    PUT(`${cms}/x`, body, { type: 'application/json', ...warn, pick: brief }),
    PATCH(`${cms}/x`, 'merge', body, { ...warn, pick: brief }),
    ...(id.startsWith('repeated') ? [APPLY(`${cms}/x`, 'm', body, { force: true, ...warn, pick: brief })] : []),
  ])),
  scenario('crud-fieldvalidation-not-stored', about('unknown fields are not stored'), [
    POST(cms, `{${cmHead},"metadata":{"name":"x","foo":1},"bar":2}`, warn),
    GET(`${cms}/x`),
  ]),
];
