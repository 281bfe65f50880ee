// Unaggregated discovery: the root index, /version, /api, /apis and the resource lists of every built-in group version.
import { scenario, GET, POST } from '../steps.ts';
import { groups, isBuiltIn, dashed } from './kit/shapes.mjs';

const json = { compareHeaders: ['content-type', 'cache-control', 'vary', 'etag'] };
const none = { namespace: false };
const builtInPaths = (b) => ({ paths: b.paths.filter((p) => !p.startsWith('/apis/') || p === '/apis/' || isBuiltIn(p.split('/')[2])) });
const builtInGroups = (b) => ({ ...b, groups: b.groups.filter((g) => isBuiltIn(g.name)) });
const anyAddress = (b) => (b?.serverAddressByClientCIDRs ? { ...b, serverAddressByClientCIDRs: b.serverAddressByClientCIDRs.map((a) => ({ ...a, serverAddress: a.serverAddress.replace(/^.+:\d+$/, '<host:port>') })) } : b);
const versions = Object.entries(groups).flatMap(([g, vs]) => vs.map((v) => [g, v]));

const index = [
  scenario('discovery-root', { section: '4.1', about: 'The root lists every path the server answers, sorted', ...none }, [GET('/', { pick: builtInPaths, compareHeaders: ['content-type'] })]),
  scenario('discovery-root-index-html', { section: '4.1', about: '/index.html is the same list', ...none }, [GET('/index.html', { pick: (b) => ({ some: builtInPaths(b).paths.slice(0, 5) }), compareHeaders: ['content-type'] })]),
  scenario('discovery-root-layout', { section: '4.1', about: 'The root list is indented whatever the client', ...none }, [GET('/', { text: true, pick: (t) => t.split('\n').slice(0, 4) })]),
  scenario('discovery-root-any-accept', { section: '4.1', about: 'The root does not negotiate', ...none }, [GET('/', { headers: { accept: 'text/html' }, compareHeaders: ['content-type'], pick: (b) => Object.keys(b) })]),
  scenario('discovery-root-anonymous', { section: '4.1', about: 'The root is not open to anonymous callers', ...none }, [GET('/', { as: null }), GET('/', { as: 'alice', pick: (b) => Object.keys(b) })]),
  scenario('discovery-version', { section: '9.1', about: '/version: its fields and the version served', ...none }, [
    GET('/version', { compareHeaders: ['content-type'], pick: (b) => ({ keys: Object.keys(b), major: b.major, minor: b.minor, emulation: `${b.emulationMajor}.${b.emulationMinor}`, minCompatibility: `${b.minCompatibilityMajor}.${b.minCompatibilityMinor}`, gitVersion: b.gitVersion.replace(/[-+].*/, '') }) }),
    GET('/version/', { pick: (b) => ({ minor: b.minor }) }),
  ]),
  scenario('discovery-version-layout', { section: '9.1', about: '/version is indented by two spaces', ...none }, [GET('/version', { text: true, pick: (t) => t.split('\n').slice(0, 3) })]),
  scenario('discovery-version-access', { section: '9.1', about: '/version is open to anonymous callers, for GET only', ...none }, [
    GET('/version', { as: null, compare: 'status' }), GET('/version', { as: null, method: 'HEAD', compare: 'status' }), POST('/version', {}, { as: null }), POST('/version', {}), GET('/version', { method: 'HEAD', compare: 'status' }), GET('/version/nope', { compareHeaders: ['content-type'] }),
  ]),
  scenario('discovery-api', { section: '4.1', about: '/api lists the versions of the core group', ...none }, [GET('/api', { ...json, pick: anyAddress }), GET('/api/', { ...json, pick: anyAddress })]),
  scenario('discovery-apis', { section: '4.1', about: '/apis lists the groups by priority, versions preferred first', ...none }, [GET('/apis', { ...json, pick: builtInGroups })]),
  scenario('discovery-apis-slash', { section: '4.1', about: '/apis/ is /apis', ...none }, [GET('/apis/', { ...json, pick: (b) => ({ kind: b.kind, first: b.groups[0].name }) })]),
];

const perGroup = Object.keys(groups).map((g) => scenario(`discovery-group-${dashed(g)}`, { section: '9.1', about: `/apis/${g} and its slashed form`, ...none }, [GET(`/apis/${g}`, json), GET(`/apis/${g}/`, json)]));

const perVersion = [
  scenario('discovery-resources-core-v1', { section: '9.1', about: 'Every resource of the core group, in full', ...none }, [GET('/api/v1', json)]),
  scenario('discovery-resources-core-v1-slash', { section: '9.1', about: '/api/v1/ is /api/v1', ...none }, [GET('/api/v1/', { ...json, pick: (b) => ({ kind: b.kind, groupVersion: b.groupVersion, resources: b.resources.length }) })]),
  ...versions.map(([g, v]) => scenario(`discovery-resources-${dashed(g)}-${v}`, { section: '9.1', about: `Every resource of ${g}/${v}, in full`, ...none }, [GET(`/apis/${g}/${v}`, json), GET(`/apis/${g}/${v}/`, { compare: 'status' })])),
];

const plain = { compareHeaders: ['content-type', 'x-content-type-options'] };
const absent = [
  ['group', '/apis/nope.example.com'], ['group-version', '/apis/nope.example.com/v1'], ['version', '/apis/apps/v1beta1'], ['resource-of-absent-version', '/apis/apps/v1beta1/deployments'],
  ['resource-of-absent-group', '/apis/nope.example.com/v1/things'], ['core-version', '/api/v2'], ['resource-of-absent-core-version', '/api/v2/pods'], ['core-resource', '/api/v1/nopes'], ['resource', '/apis/apps/v1/nopes'],
  ['namespaced-resource', '/apis/apps/v1/namespaces/default/nopes/x'], ['subresource', '/api/v1/namespaces/default/configmaps/x/nope'], ['path', '/nope'], ['legacy-group-form', '/apis/v1'], ['upper-case', '/API/v1'], ['double-slash', '//api/v1'], ['dot-segments', '/api/v1/../v1'],
].map(([id, path]) => scenario(`discovery-absent-${id}`, { section: '4.1', about: `${path}: how an unknown path is answered`, ...none }, [GET(path, { ...plain, pickHeaders: (h) => ({ location: h.location ?? null }) })]));

const known = (b) => (b?.kind === 'APIGroupList' ? { kind: b.kind, builtIn: builtInGroups(b).groups.length } : b);
const methods = [['api', '/api'], ['apis', '/apis'], ['group', '/apis/apps'], ['version', '/apis/apps/v1'], ['core-version', '/api/v1']].map(([id, path]) => scenario(`discovery-methods-${id}`, { section: '4.1', about: `${path} with methods other than GET`, ...none }, [
  POST(path, {}, { ...plain, pick: known }), GET(path, { method: 'PUT', body: {}, ...plain, pick: known }), GET(path, { method: 'DELETE', ...plain, pick: known }), GET(path, { method: 'HEAD', compareHeaders: ['content-type', 'allow'] }), GET(path, { method: 'OPTIONS', ...plain, pick: known }),
]));

const negotiated = [['api', '/api'], ['group', '/apis/batch'], ['resources', '/apis/batch/v1']].flatMap(([id, path]) => [
  ['yaml', 'application/yaml'], ['protobuf', 'application/vnd.kubernetes.protobuf'], ['any', '*/*'], ['unknown', 'application/xml'], ['absent', null], ['table', 'application/json;as=Table;v=v1;g=meta.k8s.io'],
].map(([kind, value]) => scenario(`discovery-accept-${id}-${kind}`, { section: '4.4', about: `${path} with Accept ${value}`, ...none }, [
  GET(path, { headers: { accept: value }, compareHeaders: ['content-type', 'vary'], pick: (b, raw) => (raw?.base64 ? { prefix: Buffer.from(raw.base64, 'base64').subarray(0, 4).toString('hex') } : typeof b === 'string' ? b.replace(/serverAddress: .*/, 'serverAddress: <host:port>') : anyAddress(b)) }),
])));
const apisAccept = [['yaml', 'application/yaml'], ['protobuf', 'application/vnd.kubernetes.protobuf'], ['unknown', 'application/xml']].map(([kind, value]) => scenario(`discovery-accept-apis-${kind}`, { section: '4.4', about: `/apis with Accept ${value}`, ...none }, [
  GET('/apis', { headers: { accept: value }, compareHeaders: ['content-type', 'vary'], pick: (b, raw) => (raw?.base64 ? { prefix: Buffer.from(raw.base64, 'base64').subarray(0, 4).toString('hex') } : typeof b === 'string' ? b.split('\n').slice(0, 3) : b) }),
]));

const layout = [
  scenario('discovery-layout-compact', { section: '4.1', about: 'Discovery is one line unless asked otherwise', ...none }, [GET('/apis/batch', { text: true })]),
  scenario('discovery-layout-pretty', { section: '4.1', about: 'Discovery follows the pretty parameter', ...none }, [GET('/apis/batch', { text: true, query: { pretty: '1' } }), GET('/apis/batch', { text: true, query: { pretty: 'false' }, headers: { 'user-agent': 'curl/8' } })]),
  scenario('discovery-layout-curl', { section: '4.1', about: 'Discovery is indented for curl', ...none }, [GET('/apis/batch', { text: true, headers: { 'user-agent': 'curl/8.0' } })]),
];

const access = [
  scenario('discovery-access-anonymous', { section: '4.1', about: 'Anonymous callers see no discovery', ...none }, [GET('/api', { as: null }), GET('/apis', { as: null }), GET('/apis/apps/v1', { as: null }), GET('/nope', { as: null })]),
  scenario('discovery-access-authenticated', { section: '4.1', about: 'Every authenticated caller sees discovery', ...none }, ['/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/version', '/openapi/v3'].map((p) => GET(p, { as: 'bob', compare: 'status' }))),
  scenario('discovery-access-unknown-path', { section: '4.1', about: 'An unknown path is refused before it is missed', ...none }, [GET('/nope', { as: 'bob' }), GET('/', { as: 'bob' }), GET('/apis/nope.example.com', { as: 'bob' }), GET('/apis/apps/v1/nopes', { as: 'bob' })]),
];

const services = ['v1.', 'v1.apps', 'v2.autoscaling', 'v1.apiextensions.k8s.io', 'v1.events.k8s.io'].map((n) => scenario(`discovery-apiservice-${dashed(n)}`, { section: '9.1', about: `The APIService ${n} of a built-in group version`, ...none }, [
  GET(`/apis/apiregistration.k8s.io/v1/apiservices/${n}`, { ignore: ['metadata.managedFields'] }),
]));

export default [...index, ...perGroup, ...perVersion, ...absent, ...methods, ...negotiated, ...apisAccept, ...layout, ...access, ...services];
