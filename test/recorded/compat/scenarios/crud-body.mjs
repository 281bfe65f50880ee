// Request bodies that are empty, of another kind, not JSON, or of wrong types.
import { gzipSync } from 'node:zlib';
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const apps = '/apis/apps/v1/namespaces/$ns';
const cms = `${core}/configmaps`;
const deployments = `${apps}/deployments`;
const leases = '/apis/coordination.k8s.io/v1/namespaces/$ns/leases';
const cm = (name, rest = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest });
const about = (text, section = '7') => ({ section, about: text });
const made = POST(cms, cm('c'), { compare: 'status' });
const deployment = (spec = {}, name = 'd') => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }, ...spec } });
const brief = (b) => (b.kind === 'Status' ? b : { kind: b.kind, apiVersion: b.apiVersion, name: b.metadata.name });

/** Bodies that no decoder takes; each is sent by POST and by PUT. */
const broken = {
  empty: '', blank: '  \n ', 'null': 'null', array: '[]', 'array-of-object': '[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}]',
  string: '"text"', number: '5', bool: 'true', word: 'hello', 'open-brace': '{', truncated: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"',
  'no-quotes': '{apiVersion:v1}', 'single-quotes': "{'kind':'ConfigMap'}", 'trailing-comma': '{"kind":"ConfigMap","apiVersion":"v1",}',
  'trailing-text': '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}} x', 'trailing-object': '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"e"}}',
  'trailing-newlines': '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}\n\n', comment: '{"kind":"ConfigMap","apiVersion":"v1" /* no */}',
  'empty-object': '{}', bom: '\ufeff{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}', 'raw-newline': '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"a":"x\ny"}}',
  'bad-escape': '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"a":"\\x"}}', 'bad-utf8': Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"a":"\xff"}}', 'latin1'),
  'lone-surrogate': '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"a":"\\ud800"}}', 'nan': '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","generation":NaN}}', 'leading-zero': '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","generation":01}}',
  'leading-space': ' \n {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}',
};
/** kind and apiVersion against a ConfigMap path. */
const typed = {
  'other-kind': { apiVersion: 'v1', kind: 'Secret' }, 'unknown-kind': { apiVersion: 'v1', kind: 'Nope' }, 'lower-case-kind': { apiVersion: 'v1', kind: 'configmap' }, 'list-kind': { apiVersion: 'v1', kind: 'ConfigMapList', items: [] }, 'plain-list': { apiVersion: 'v1', kind: 'List', items: [] },
  'other-version': { apiVersion: 'v2', kind: 'ConfigMap' }, 'other-group': { apiVersion: 'apps/v1', kind: 'ConfigMap' }, 'unknown-group': { apiVersion: 'none.example.com/v1', kind: 'ConfigMap' }, 'group-without-version': { apiVersion: 'apps/', kind: 'ConfigMap' }, 'three-parts': { apiVersion: 'a/b/c', kind: 'ConfigMap' }, 'core-group': { apiVersion: 'core/v1', kind: 'ConfigMap' }, 'slash-v1': { apiVersion: '/v1', kind: 'ConfigMap' },
  'internal-version': { apiVersion: '__internal', kind: 'ConfigMap' },
  'no-kind': { apiVersion: 'v1' }, 'no-version': { kind: 'ConfigMap' }, neither: {}, 'empty-kind': { apiVersion: 'v1', kind: '' }, 'empty-version': { apiVersion: '', kind: 'ConfigMap' }, 'null-kind': { apiVersion: null, kind: null },
  'kind-number': { apiVersion: 'v1', kind: 5 }, 'version-number': { apiVersion: 1, kind: 'ConfigMap' }, 'kind-object': { apiVersion: 'v1', kind: {} }, 'other-kind-only': { kind: 'Secret' }, 'status-kind': { apiVersion: 'v1', kind: 'Status' }, 'options-kind': { apiVersion: 'v1', kind: 'DeleteOptions' },
};
/** Field types: [path, id, body]. */
const fields = [
  ['data-number', cms, cm('x', { data: { a: 5 } })], ['data-bool', cms, cm('x', { data: { a: true } })], ['data-object', cms, cm('x', { data: { a: {} } })], ['data-list', cms, cm('x', { data: ['a'] })], ['data-string', cms, cm('x', { data: 'a' })], ['data-null-value', cms, cm('x', { data: { a: null } })], ['data-null', cms, cm('x', { data: null })],
  ['metadata-string', cms, { apiVersion: 'v1', kind: 'ConfigMap', metadata: 'x' }], ['metadata-list', cms, { apiVersion: 'v1', kind: 'ConfigMap', metadata: [] }], ['metadata-null', cms, { apiVersion: 'v1', kind: 'ConfigMap', metadata: null }],
  ['immutable-string', cms, cm('x', { immutable: 'true' })], ['immutable-number', cms, cm('x', { immutable: 1 })], ['immutable-null', cms, cm('x', { immutable: null })],
  ['replicas-string', deployments, deployment({ replicas: '3' })], ['replicas-float', deployments, deployment({ replicas: 1.5 })], ['replicas-object', deployments, deployment({ replicas: {} })], ['replicas-list', deployments, deployment({ replicas: [1] })], ['replicas-bool', deployments, deployment({ replicas: true })], ['replicas-null', deployments, deployment({ replicas: null })], ['replicas-too-big', deployments, deployment({ replicas: 2147483648 })],
  ['containers-object', deployments, deployment({ template: { spec: { containers: { name: 'c' } } } })], ['containers-string', deployments, deployment({ template: { spec: { containers: 'c' } } })], ['container-string', deployments, deployment({ template: { spec: { containers: ['c'] } } })], ['container-null', deployments, deployment({ template: { metadata: { labels: { app: 'x' } }, spec: { containers: [null] } } })],
  ['nested-port', deployments, deployment({ template: { spec: { containers: [{ name: 'c', ports: [{ containerPort: 'http' }] }] } } })], ['nested-env', deployments, deployment({ template: { spec: { containers: [{ name: 'c', env: [{ name: 'A', value: 1 }] }] } } })], ['nested-second', deployments, deployment({ template: { spec: { containers: [{ name: 'c' }, { name: 'd', command: 'x' }] } } })],
  ['spec-string', deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: 'x' }], ['spec-null', deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: null }], ['spec-list', deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: [] }], ['spec-missing', deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } }],
  ['two-wrong', deployments, deployment({ replicas: 'a', paused: 'b' })],
  ['lease-duration-string', leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: { leaseDurationSeconds: 'x' } }], ['lease-duration-zero', leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }],
];

/** Lists inside lists, and each line's innermost one holds the line before. */
const nested = (lines, depth) => Array.from({ length: lines }, (_, at) => `a${at}: &a${at} ${'['.repeat(depth)}${at === 0 ? 1 : `*a${at - 1}`}${']'.repeat(depth)}\n`).join('');

export default [
  ...Object.entries(broken).map(([id, body]) => scenario(`crud-body-raw-${id}`, about(`a body that is ${id.replaceAll('-', ' ')}, to POST and PUT`), [
    POST(cms, body, { type: 'application/json' }),
    PUT(`${cms}/c`, body, { type: 'application/json' }),
  ])),
  scenario('crud-body-raw-other-resources', about('what an unusable body is called for kinds of other groups'), [
    POST(deployments, ''), POST(deployments, '[]'), POST(deployments, 'hello'), POST(deployments, '{"kind":"Nope"}'), POST(deployments, '{"kind":"Nope","apiVersion":"apps/v1"}'), POST(deployments, '{"a":'), POST('/api/v1/namespaces', ''), POST(leases, ''),
  ]),
  scenario('crud-body-raw-long-summary', about('the summary of an unreadable body is cut'), [
    POST(cms, `{"kind": ${'x'.repeat(100)}`), POST(cms, 'x'.repeat(100)), POST(cms, `[${'1,'.repeat(100)}]`), POST(cms, '{"a":"é\n"}'),
  ]),
  scenario('crud-body-too-deep', about('nesting that is too deep for the decoder', '8'), [
    POST(cms, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"x":${'['.repeat(10001)}${']'.repeat(10001)}}`),
    POST(cms, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"x":${'['.repeat(9000)}${']'.repeat(9000)}}`, { pick: brief, compareHeaders: ['warning'] }),
  ]),
  ...Object.entries(typed).map(([id, type]) => scenario(`crud-body-type-${id}`, about(`${id.replaceAll('-', ' ')} in the body of a ConfigMap request`), [
    made,
    POST(cms, { ...type, metadata: { name: 'x' } }, { pick: brief }),
    PUT(`${cms}/c`, { ...type, metadata: { name: 'c' } }, { pick: brief }),
  ])),
  scenario('crud-body-type-deployment', about('kind and apiVersion mismatches of a named group'), [
    POST(deployments, { ...deployment(), apiVersion: 'apps/v1beta1' }), POST(deployments, { ...deployment(), apiVersion: 'extensions/v1beta1' }), POST(deployments, { ...deployment(), apiVersion: 'v1' }), POST(deployments, { ...deployment(), kind: 'ReplicaSet' }), POST(deployments, { ...deployment(), apiVersion: 'apps/v2' }),
    POST(deployments, { ...deployment(), apiVersion: undefined, kind: undefined }, { pick: brief }),
  ]),
  scenario('crud-body-type-other-served-version', about('a body in another served version of the same group is refused, not converted'), [
    POST('/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers', { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } } }),
    POST('/apis/autoscaling/v1/namespaces/$ns/horizontalpodautoscalers', { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } } }),
    PUT('/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers/h', { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } } }),
    POST(`${core}/events`, { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e' } }),
  ]),
  ...['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', '/apis/apiregistration.k8s.io/v1/apiservices'].map((at) => scenario(`crud-body-type-${at.split('/').at(-1)}`, { ...about('wrong kinds and unreadable bodies for a kind of another scheme'), namespace: false }, [
    POST(at, ''), POST(at, '[]'), POST(at, { kind: 'Nope' }), POST(at, { apiVersion: 'v1', kind: 'ConfigMap' }), POST(at, { apiVersion: `${at.split('/')[2]}/v1beta1`, kind: 'Nope' }), POST(at, { metadata: { name: 5 } }), POST(at, { metadata: { name: 'x' }, foo: 1 }, { query: { fieldValidation: 'Strict' } }), POST(at, {}),
  ])),
  scenario('crud-body-type-subresource', about('bodies of subresources must be of their own kind'), [
    POST(deployments, deployment(), { compare: 'status' }),
    PUT(`${deployments}/d/scale`, deployment()),
    PUT(`${deployments}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 2 } }),
    PUT(`${deployments}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' }, spec: { replicas: 'x' } }),
    PUT(`${deployments}/d/scale`, { metadata: { name: 'd' }, spec: { replicas: 2 } }),
    PUT(`${deployments}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'other' }, spec: { replicas: 2 } }),
    PUT(`${deployments}/d/status`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd' } }),
  ]),
  ...fields.map(([id, path, body]) => scenario(`crud-body-field-${id}`, about(`a field of a wrong type: ${id.replaceAll('-', ' ')}`, '4.9'), [POST(path, body, { ignore: ['spec', 'status'] })])),
  scenario('crud-body-field-types-put', about('wrong types on PUT read like those on POST', '4.9'), [
    made,
    PUT(`${cms}/c`, cm('c', { data: { a: 5 } })),
    PUT(`${cms}/c`, cm('c', { data: 'x' })),
  ]),
  scenario('crud-body-field-types-patch', about('wrong types that come in by a patch', '4.9'), [
    POST(cms, cm('c', { data: { k: 'v' } }), { compare: 'status' }),
    PATCH(`${cms}/c`, 'merge', { data: { a: 5 } }),
    PATCH(`${cms}/c`, 'merge', { data: 'x' }),
    PATCH(`${cms}/c`, 'strategic', { data: { a: 5 } }),
    PATCH(`${cms}/c`, 'strategic', { data: 'x' }),
    PATCH(`${cms}/c`, 'json-patch', [{ op: 'add', path: '/data/a', value: 5 }]),
    PATCH(`${cms}/c`, 'apply-yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: 5\n', { query: { fieldManager: 'm' } }),
    GET(`${cms}/c`, { pick: (b) => b.data }),
  ]),

  // YAML.
  scenario('crud-body-yaml', about('YAML bodies', '4.4'), [
    POST(cms, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yam\ndata:\n  a: "1"\n', { type: 'application/yaml' }),
    PUT(`${cms}/yam`, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yam\ndata:\n  a: |\n    two\n    lines\n', { type: 'application/yaml' }),
    POST(cms, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j"}}', { type: 'application/yaml' }),
    POST(cms, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yj\n', { type: 'application/json' }),
  ]),
  ...['a: 1', 'a: true', 'a: yes', 'a: on', 'a: 1.5', 'a: 0x10', 'a: 010', 'a: 2020-01-01', 'a: ~', 'a: null', 'a:', '1: x', 'true: x', 'a: !!str 5', 'a: "5"', 'a: .inf', 'a: 1_000'].map((line, i) => scenario(`crud-body-yaml-scalar-${i + 1}`, about(`the YAML line ${line} in ConfigMap data: unquoted scalars are not strings`, '4.4'), [POST(cms, `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y${i}\ndata:\n  ${line}\n`, { type: 'application/yaml', pick: (b) => (b.kind === 'Status' ? b : { data: b.data }) })])),
  scenario('crud-body-yaml-broken', about('YAML that does not parse', '4.4'), ['', '---\n', 'a: b: c', '- a\n- b', '\tkind: x', 'just text', 'kind: ConfigMap\n  bad: indent', '{', 'a: &x 1\nb: *y'].map((y) => POST(cms, y, { type: 'application/yaml' }))),
  scenario('crud-body-yaml-alias-depth-900', about('aliases that hold each other are as deep as what they stand for', '4.4'), [
    POST(cms, `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n${nested(2, 450)}`, { type: 'application/yaml', pick: brief }),
  ]),
  scenario('crud-body-yaml-repeated-keys', about('of repeated keys in YAML more are told than in JSON', '4.4'), [
    POST(cms, `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n${'  a: x\n'.repeat(300)}`, { type: 'application/yaml', query: { fieldValidation: 'Strict' }, pick: brief }),
  ]),
  scenario('crud-body-yaml-documents', about('only the first document of a YAML stream counts', '4.4'), [
    POST(cms, '---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: two\n', { type: 'application/yaml' }),
    POST(cms, '# comment\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: three\n...\n', { type: 'application/yaml', pick: brief }),
    GET(`${cms}/two`),
  ]),
  scenario('crud-body-yaml-anchors', about('YAML anchors and merge keys', '4.4'), [
    POST(cms, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n  labels: &l\n    k: v\n  annotations: *l\ndata:\n  <<: *l\n  x: "1"\n', { type: 'application/yaml', pick: (b) => (b.kind === 'Status' ? b : { labels: b.metadata.labels, annotations: b.metadata.annotations, data: b.data }) }),
  ]),
  scenario('crud-body-yaml-types', about('kind and field errors of YAML bodies', '4.4'), [
    POST(cms, 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: yam\n', { type: 'application/yaml' }),
    POST(cms, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 5\n', { type: 'application/yaml' }),
    POST(cms, 'metadata:\n  name: y\n', { type: 'application/yaml' }), // y is a boolean in YAML 1.1
    POST(cms, 'metadata:\n  name: yam\n', { type: 'application/yaml', pick: brief }),
  ]),
  scenario('crud-body-yaml-delete-options', about('delete options as YAML', '4.4'), [
    made,
    DELETE(`${cms}/c`, 'kind: DeleteOptions\napiVersion: v1\npreconditions:\n  uid: nope\n', { type: 'application/yaml' }),
    DELETE(`${cms}/c`, 'dryRun: [All]\n', { type: 'application/yaml' }),
  ]),
  scenario('crud-body-gzip', about('a gzipped request body is not unpacked'), [
    POST(cms, gzipSync(JSON.stringify(cm('g')), { level: 0 }), { type: 'application/json', headers: { 'content-encoding': 'gzip' }, pick: (b) => ({ ...b, message: b.message?.replace(/[0-9a-f]{8,}/g, '<hex>') }) }),
    POST(cms, JSON.stringify(cm('g')), { headers: { 'content-encoding': 'gzip' }, pick: brief }),
  ]),
  scenario('crud-body-chunked', about('a body without Content-Length'), [
    POST(cms, cm('a'), { headers: { 'transfer-encoding': 'chunked' }, pick: brief }),
    PUT(`${cms}/a`, cm('a', { data: { a: '1' } }), { headers: { 'transfer-encoding': 'chunked' }, pick: brief }),
    PATCH(`${cms}/a`, 'merge', { data: { a: '2' } }, { headers: { 'transfer-encoding': 'chunked' }, pick: brief }),
    DELETE(`${cms}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'x' } }, { headers: { 'transfer-encoding': 'chunked' } }),
  ]),
  scenario('crud-body-expect-continue', about('a client that waits for 100 Continue'), [
    POST(cms, cm('a'), { headers: { expect: '100-continue' }, pick: brief }),
    POST(cms, cm('b'), { headers: { expect: 'the-unexpected' } }),
  ]),
  scenario('crud-body-delete-options', about('the body of a DELETE must be DeleteOptions'), [
    made,
    DELETE(`${cms}/c`, cm('c')),
    DELETE(`${cms}/c`, '[]'),
    DELETE(`${cms}/c`, 'hello'),
    DELETE(`${cms}/c`, { kind: 'DeleteOptions', apiVersion: 'v2', dryRun: ['All'] }),
    DELETE(`${cms}/c`, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 'x' }),
    DELETE(`${cms}/c`, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: [] }),
    DELETE(`${cms}/c`, { kind: 'DeleteOptions', apiVersion: 'v1', unknown: 1, dryRun: ['All'] }, { compareHeaders: ['warning'] }),
    DELETE(`${cms}/c`, { kind: 'DeleteOptions', apiVersion: 'apps/v1', dryRun: ['All'] }),
    DELETE(`${cms}/c`, { kind: 'DeleteOptions', apiVersion: 'none.example.com/v1', dryRun: ['All'] }),
    DELETE(`${cms}/c`, { kind: 'Options', apiVersion: 'v1', dryRun: ['All'] }),
    DELETE(`${cms}/c`, { kind: 'DeleteOptions', dryRun: ['All'] }),
    DELETE(`${cms}/c`, { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', dryRun: ['All'] }),
    DELETE(`${cms}/c`, {}),
    GET(`${cms}/c`),
  ]),
  scenario('crud-body-get-with-body', about('a body on GET is ignored'), [
    made,
    { ...GET(`${cms}/c`), body: 'hello', pick: brief },
    { ...GET(`${cms}?limit=1`), body: '{}', pick: (b) => b.kind },
  ]),
  scenario('crud-body-post-without-body', about('POST, PUT and PATCH without any body'), [
    made,
    POST(cms, undefined),
    PUT(`${cms}/c`, undefined),
    { ...PATCH(`${cms}/c`, 'merge', undefined), headers: { 'content-type': 'application/merge-patch+json' } },
    { ...PATCH(`${cms}/c`, 'strategic', undefined), headers: { 'content-type': 'application/strategic-merge-patch+json' } },
    { ...PATCH(`${cms}/c`, 'json-patch', undefined), headers: { 'content-type': 'application/json-patch+json' } },
    { ...PATCH(`${cms}/c`, 'apply-yaml', undefined), headers: { 'content-type': 'application/apply-patch+yaml' }, query: { fieldManager: 'm' } },
  ]),
];
