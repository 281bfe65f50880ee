// What discovery says about aggregated API servers: plain and aggregated, in each state that a remote server may be in.
import { DELETE, GET, PATCH, POLL, POST, scenario } from '../steps.ts';
import { apiService, apiServicePath, cleanup, group, registered, service, things, untilReason } from './kit/aggregation.mjs';

const section = 'aggregation';
const other = 'b.$ns.example.com';
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const services = '/api/v1/namespaces/$ns/services';
const type = (version = 'v2') => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
const v2 = { accept: type() };
const ms = 100_000;

/** Groups of this scenario alone: others have theirs in the same document. */
const isOurs = (name) => name.endsWith('.$ns.example.com');
/** The first groups, without those of other scenarios, whose priority may be as high. */
const first = (names, end = '.$ns.example.com') => names.filter((name) => name.endsWith(end) || name.endsWith('.k8s.io') || !name.includes('.')).slice(0, 3);
const itemNames = (body) => body?.items?.map(({ metadata }) => metadata.name) ?? [];
const plain = (body) => body?.groups?.filter(({ name }) => isOurs(name));
const ours = (body) => body?.items?.filter(({ metadata }) => isOurs(metadata.name)).map(({ metadata, versions }) => ({ name: metadata.name, versions }));
const found = (body, { $ns }, of = group) => body?.items?.find(({ metadata }) => metadata.name === of.replace('$ns', $ns));
const versionOf = (body, variables, version, of) => found(body, variables, of)?.versions.find((one) => one.version === version);
/** Waits until aggregated discovery says this of a version. */
const untilFresh = (freshness = 'Current', { version = 'v1', of = group, has = () => true, ...options } = {}) =>
  POLL('/apis', (body, _, variables) => { const one = versionOf(body, variables, version, of); return one?.freshness === freshness && has(one); }, { headers: v2, ms, pick: ours, ...options });
const untilGone = (of = group) => POLL('/apis', (body, _, variables) => found(body, variables, of) === undefined, { headers: v2, ms, pick: ours });
const untilListed = (version = 'v1', of = group) => POLL(`/apis/${of}`, (body) => body?.versions?.some((one) => one.version === version), { ms, compare: 'status' });

const jobs = { resource: 'jobs', responseKind: { group: '', version: '', kind: 'Job' }, scope: 'Namespaced', singularResource: 'job', verbs: ['create', 'delete', 'get', 'list', 'watch'], shortNames: ['jz'], categories: ['all'] };
const list = (versions, { of = group, apiVersion = 'apidiscovery.k8s.io/v2' } = {}) => ({ kind: 'APIGroupDiscoveryList', apiVersion, metadata: {}, items: [{ metadata: { name: of, creationTimestamp: null }, versions }] });
const current = (version, ...resources) => ({ version, resources, freshness: 'Current' });

/** A remote server: its versions answer with `probe`, and /apis with `answer`; $ns is filled in. */
const remote = (answer, { probe = (of, version) => ({ body: things(of, version) }), openapi = () => undefined } = {}) => (request, count) => {
  const [path] = request.path.split('?');
  const filled = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value).replaceAll('$ns', request.namespace)));
  const [, root, of, version, ...rest] = path.split('/');
  if (path === '/apis') return filled(answer(request, count));
  if (path.startsWith('/openapi')) return filled(openapi(request, count));
  if (root === 'apis' && version !== undefined && rest.length === 0) return filled(probe(of, version, request));
  return undefined;
};
const aggregated = (versions, options = {}) => () => ({ headers: { 'content-type': type(options.media), ...options.headers }, body: list(versions, options) });
const registration = (...options) => [POST(services, service(), { compare: 'status' }), ...options.map((one) => POST(apiServices, apiService(one), { compare: 'status' }))];

const on = (id, about, extension, steps, more = {}) => scenario(`aggregation-discovery-${id}`, { section, about, needs: 'aggregation', cleanup, extension, ...more }, steps);
const passed = (id, about, extension, steps, more) => on(id, about, extension, [...registered(), ...steps], more);
const refused = { service: { namespace: '$ns', name: 'ext', port: 1 } };

const states = [
  passed('plain', 'a group of a remote server in the list of groups', remote(aggregated([current('v1', jobs)])), [untilListed(), GET('/apis', { pick: plain }), GET(`/apis/${group}`), GET(`/apis/${group}/`), GET(`/apis/${group}/v1`)]),
  passed('aggregated', 'aggregated discovery has what the remote server says', remote(aggregated([current('v1', jobs)])), [untilFresh()]),
  passed('aggregated-beta', 'a remote server that knows v2beta1 only', remote(aggregated([current('v1', jobs)], { media: 'v2beta1', apiVersion: 'apidiscovery.k8s.io/v2beta1' })), [untilFresh()]),
  passed('aggregated-mixed', 'a body of another version than its type says', remote(aggregated([current('v1', jobs)], { apiVersion: 'apidiscovery.k8s.io/v2beta1' })), [untilFresh()]),
  passed('aggregated-bare', 'entries that lack fields, and have others', remote(aggregated([current('v1', { resource: 'bare', more: 1 }, { resource: 'parts', scope: 'Cluster', verbs: [], shortNames: [], subresources: [{ subresource: 'status' }, { subresource: 'scale', responseKind: { kind: 'Scale' }, verbs: ['get'], acceptedTypes: [{ group: 'autoscaling', version: 'v1', kind: 'Scale' }], more: [] }] })])), [untilFresh()]),
  passed('aggregated-lacks-version', 'a remote server that does not list the version', remote(aggregated([current('v2', jobs)])), [untilFresh()]),
  passed('aggregated-empty', 'a remote server that lists nothing', remote(() => ({ headers: { 'content-type': type() }, body: { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} } })), [untilFresh()]),
  passed('aggregated-stale', 'what a remote server calls stale is current here', remote(aggregated([{ version: 'v1', freshness: 'Stale', resources: [jobs] }])), [untilFresh()]),
  passed('aggregated-status', 'an object of another kind with the type of discovery', remote(() => ({ headers: { 'content-type': type() }, body: { kind: 'Status', apiVersion: 'v1' } })), [untilFresh('Stale')]),
  passed('aggregated-garbage', 'a body that is not JSON', remote(() => ({ headers: { 'content-type': type() }, body: 'garbage' })), [untilFresh('Stale')]),
  passed('aggregated-cut', 'an answer that breaks off', remote(() => ({ headers: { 'content-type': type(), 'content-length': '10000' }, body: '{"kind":', cut: true })), [untilFresh('Stale')]),
  passed('aggregated-closed', 'a connection that is closed instead of an answer', remote(() => ({ close: true })), [untilFresh('Stale')]),
  passed('aggregated-hangs', 'a remote server that does not answer', remote(() => ({ hang: true })), [untilFresh('Stale')]),
  passed('aggregated-slow', 'a remote server that takes its time', remote(() => ({ delayMs: 1500, headers: { 'content-type': type() }, body: list([current('v1', jobs)]) })), [untilFresh()]),
  passed('aggregated-503', 'a remote server that says 503', remote(() => ({ status: 503, body: 'no' })), [untilFresh('Stale')]),
  passed('legacy', 'a remote server with plain discovery only', remote(() => undefined), [untilFresh()]),
  passed('legacy-500', 'a remote server that fails on /apis', remote(() => ({ status: 500, body: 'no' })), [untilFresh()]),
  passed('legacy-403', 'a remote server that forbids /apis', remote(() => ({ status: 403, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 403 } })), [untilFresh()]),
  passed('legacy-redirect', 'a remote server that redirects /apis', remote(() => ({ status: 302, headers: { location: '/elsewhere' }, body: '' })), [untilFresh()]),
  passed('legacy-groups', 'a remote server that answers /apis with a list of groups', remote(() => ({ body: { kind: 'APIGroupList', apiVersion: 'v1', groups: [] } })), [untilFresh()]),
  passed('legacy-parts', 'subresources of plain discovery', remote(() => undefined, { probe: (of, version) => ({ body: { ...things(of, version), resources: [
    { name: 'things/status', singularName: '', namespaced: true, kind: 'Thing', verbs: ['get', 'patch'] },
    { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['get', 'list'], shortNames: ['th'], categories: ['all'], storageVersionHash: 'x' },
    { name: 'things/scale', singularName: '', namespaced: true, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
    { name: 'orphans/part', singularName: '', namespaced: false, kind: 'Part', verbs: ['create'] },
    { name: 'plain', singularName: '', namespaced: false, kind: 'Plain', verbs: null },
  ] } }) }), [untilFresh()]),
  passed('legacy-scopes', 'a subresource of another scope than its resource', remote(() => undefined, { probe: (of, version) => ({ body: { ...things(of, version), resources: [
    { name: 'things', singularName: '', namespaced: true, kind: 'Thing', verbs: ['get'] }, { name: 'things/status', singularName: '', namespaced: false, kind: 'Thing', verbs: ['get'] },
  ] } }) }), [untilFresh('Stale')]),
  passed('legacy-no-kind', 'plain discovery without a kind', remote(() => undefined, { probe: () => ({ body: { resources: [] } }) }), [untilFresh('Stale')]),
  passed('legacy-other-kind', 'plain discovery of another kind', remote(() => undefined, { probe: () => ({ body: { kind: 'APIGroup', apiVersion: 'v1', name: 'x', versions: [] } }) }), [untilFresh('Stale')]),
];

const down = [
  on('refused', 'nobody listens at the port: listed, stale, 503', remote(aggregated([current('v1', jobs)])), [...registration(refused), untilFresh('Stale'), GET('/apis', { pick: plain }), GET(`/apis/${group}`), GET(`/apis/${group}/v1`)]),
  on('no-service', 'there is no such Service', remote(aggregated([current('v1', jobs)])), [POST(apiServices, apiService(), { compare: 'status' }), untilFresh('Stale'), GET('/apis', { pick: plain }), GET(`/apis/${group}`), GET(`/apis/${group}/v1`)]),
  on('untrusted', 'a certificate of another CA', remote(aggregated([current('v1', jobs)])), [POST(services, service('untrusted'), { compare: 'status' }), POST(apiServices, apiService({ name: 'untrusted' }), { compare: 'status' }), untilReason('Passed'), untilFresh('Stale'), GET(`/apis/${group}`), POLL(`/apis/${group}/v1`, (body) => String(body).startsWith('error trying to reach service: tls:'), { ms, compare: 'status' })]),
  on('misnamed', 'a certificate for another name', remote(aggregated([current('v1', jobs)])), [POST(services, service('misnamed'), { compare: 'status' }), POST(apiServices, apiService({ name: 'misnamed' }), { compare: 'status' }), untilReason('Passed'), untilFresh('Stale'), GET(`/apis/${group}`), POLL(`/apis/${group}/v1`, (body) => String(body).startsWith('error trying to reach service: tls:'), { ms, compare: 'status' })]),
  on('insecure', 'a certificate of another CA that is not verified', remote(aggregated([current('v1', jobs)])), [POST(services, service('untrusted'), { compare: 'status' }), POST(apiServices, apiService({ name: 'untrusted', caBundle: undefined, insecureSkipTLSVerify: true }), { compare: 'status' }), untilFresh()]),
  on('probe-fails', 'discovery answers, but the probe of the version does not: current', remote(aggregated([current('v1', jobs)]), { probe: () => ({ status: 500, body: 'no' }) }), [...registration({}), untilReason('FailedDiscoveryCheck', { pick: (body) => body.status.conditions.map(({ status, reason }) => ({ status, reason })) }), untilFresh(), GET(`/apis/${group}`), GET(`/apis/${group}/v1`)]),
  passed('down-and-up', 'a server that goes away and comes back', remote(aggregated([current('v1', jobs)])), [
    untilFresh(), PATCH(apiServicePath(), 'merge', { spec: { service: { port: 1 } } }, { compare: 'status' }), untilFresh('Stale'), GET(`/apis/${group}`),
    PATCH(apiServicePath(), 'merge', { spec: { service: { port: '${extension.port}' } } }, { compare: 'status' }), untilFresh('Current', { has: (one) => one.resources?.length === 1 }),
  ]),
  passed('removed', 'an APIService that is deleted', remote(aggregated([current('v1', jobs)])), [
    untilFresh(), DELETE(apiServicePath(), undefined, { compare: 'status' }), untilGone(), POLL(`/apis/${group}`, (_, status) => status === 404, { ms }), GET('/apis', { pick: plain }), GET(`/apis/${group}/v1`), GET(`/apis/${group}/v1/things`),
  ]),
  passed('removed-one', 'one of two versions that is deleted', remote(aggregated([current('v1', jobs), current('v2', jobs)])), [
    POST(apiServices, apiService({ version: 'v2' }), { compare: 'status' }), untilFresh('Current', { version: 'v2' }), DELETE(apiServicePath(), undefined, { compare: 'status' }),
    POLL('/apis', (body, _, variables) => found(body, variables)?.versions.length === 1, { headers: v2, ms, pick: ours }), POLL(`/apis/${group}`, (body) => body?.versions?.length === 1, { ms }), GET(`/apis/${group}/v1`),
  ], { cleanup: [apiServicePath(), apiServicePath('v2')] }),
  passed('service-removed', 'the Service of an APIService is deleted', remote(aggregated([current('v1', jobs)])), [
    untilFresh(), DELETE(`${services}/ext`, undefined, { compare: 'status' }), untilReason('ServiceNotFound'), untilFresh('Stale'), GET(`/apis/${group}`),
  ]),
];

const order = [
  passed('versions', 'versions of a group by their priority', remote(aggregated(['v1', 'v2', 'v1beta1'].map((version) => current(version, jobs)))), [
    POST(apiServices, apiService({ version: 'v2', versionPriority: 1 }), { compare: 'status' }), POST(apiServices, apiService({ version: 'v1beta1', versionPriority: 100 }), { compare: 'status' }),
    untilFresh('Current', { version: 'v2', compare: 'status' }), untilFresh('Current', { version: 'v1beta1' }), GET(`/apis/${group}`), GET('/apis', { pick: plain }),
  ], { cleanup: [apiServicePath(), apiServicePath('v2'), apiServicePath('v1beta1')] }),
  passed('versions-equal', 'versions of the same priority', remote(aggregated(['v1', 'v2', 'v1beta1', 'v10', 'foo'].map((version) => current(version, jobs)))), [
    ...['v2', 'v1beta1', 'v10', 'foo'].map((version) => POST(apiServices, apiService({ version }), { compare: 'status' })), ...['v2', 'v1beta1', 'v10', 'foo'].map((version) => untilFresh('Current', { version, compare: 'status' })),
    GET('/apis', { headers: v2, pick: (body) => ours(body).map(({ versions }) => versions.map(({ version }) => version)) }), GET(`/apis/${group}`),
  ], { cleanup: ['v1', 'v2', 'v1beta1', 'v10', 'foo'].map((version) => apiServicePath(version)) }),
  on('groups', 'groups by the highest priority of their APIServices', remote(aggregated([current('v1', jobs)])), [
    ...registration({ groupPriorityMinimum: 50 }, { of: other, groupPriorityMinimum: 20, version: 'v1' }, { of: other, version: 'v2', groupPriorityMinimum: 17_000 }), untilFresh('Current', { compare: 'status' }), untilFresh('Current', { of: other, version: 'v2', compare: 'status' }),
    untilFresh('Current', { of: other, compare: 'status' }), GET('/apis', { pick: (body) => body.groups.map(({ name }) => name).filter((name) => isOurs(name) || name === 'policy' || name === 'storage.k8s.io') }),
    GET('/apis', { headers: v2, pick: (body) => body.items.map(({ metadata }) => metadata.name).filter((name) => isOurs(name) || name === 'policy' || name === 'storage.k8s.io') }),
  ], { cleanup: [apiServicePath(), apiServicePath('v1', other), apiServicePath('v2', other)] }),
  on('groups-equal', 'groups of the same priority', remote(aggregated([current('v1', jobs)])), [
    ...registration({ version: 'v2' }, { of: other, version: 'v1' }), untilFresh('Current', { version: 'v2', compare: 'status' }), untilFresh('Current', { of: other, compare: 'status' }), GET('/apis', { pick: (body) => plain(body).map(({ name }) => name) }), GET('/apis', { headers: v2, pick: (body) => ours(body).map(({ name }) => name) }),
  ], { cleanup: [apiServicePath('v2'), apiServicePath('v1', other)] }),
  on('group-highest', 'the highest priority comes after that of APIServices themselves', remote(aggregated([current('v1', jobs)])), [
    ...registration({ groupPriorityMinimum: 20_000 }), untilFresh('Current', { compare: 'status' }), GET('/apis', { pick: (body) => first(body.groups.map(({ name }) => name)) }), GET('/apis', { headers: v2, pick: (body) => first(itemNames(body)) }),
  ]),
  passed('priority-changed', 'a priority that changes', remote(aggregated([current('v1', jobs)])), [
    untilFresh('Current', { compare: 'status' }), PATCH(apiServicePath(), 'merge', { spec: { groupPriorityMinimum: 19_999 } }, { compare: 'status' }),
    POLL('/apis', (body, _, { $ns }) => first(itemNames(body), `.${$ns}.example.com`)[1]?.includes($ns), { headers: v2, ms, pick: (body) => first(itemNames(body)) }), GET('/apis', { pick: (body) => first(body.groups.map(({ name }) => name)) }),
  ]),
];

const crd = (...versions) => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `wheels.${group}` }, spec: { group, scope: 'Namespaced', names: { plural: 'wheels', kind: 'Wheel' }, versions: versions.map((name, at) => ({ name, served: true, storage: at === 0, schema: { openAPIV3Schema: { type: 'object' } } })) } });
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/wheels.${group}`;
const withCrd = { cleanup: [apiServicePath(), crdPath] };
const short = (body) => ours(body).map(({ versions }) => versions.map(({ version, freshness, resources = [] }) => [version, freshness, resources.map(({ resource }) => resource)]));
const local = [
  passed('beside-definition', 'a definition and a remote server have versions of one group', remote(aggregated([current('v1', jobs)])), [
    untilFresh('Current', { compare: 'status' }), POST('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd('v2', 'v1alpha1'), { compare: 'status' }), untilListed('v2'), untilListed('v1alpha1'), untilFresh('Current', { version: 'v1alpha1', pick: short }), GET(`/apis/${group}`), GET(`/apis/${group}/v1`), POLL(`/apis/${group}/v2`, (_, status) => status === 200, { compare: 'status' }),
  ], withCrd),
  passed('over-definition', 'a remote server in the place of a version of a definition', remote(aggregated([current('v1', jobs)])), [
    untilFresh('Current', { compare: 'status' }), POST('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd('v1', 'v2'), { compare: 'status' }), untilListed('v2'), untilFresh('Current', { version: 'v2', pick: short }), GET(`/apis/${group}`), GET(`/apis/${group}/v1`, { pick: (body) => body.resources.map(({ name }) => name) }),
    DELETE(apiServicePath(), undefined, { compare: 'status' }), POLL(`/apis/${group}/v1`, (body) => body?.resources?.[0]?.name === 'wheels', { ms, compare: 'status' }),
  ], withCrd),
  on('local', 'an APIService without a Service for a group that nobody has', undefined, [
    POST(apiServices, apiService({ caBundle: undefined, service: undefined }), { pick: ({ spec, status }) => ({ spec, conditions: status.conditions.map(({ type: of, status: is, reason }) => [of, is, reason]) }) }), untilListed(), GET('/apis', { pick: plain }), GET(`/apis/${group}`), GET(`/apis/${group}/v1`), GET('/apis', { headers: v2, pick: ours }),
  ]),
  on('local-priority', 'a local APIService that is there before its definition', undefined, [
    POST(apiServices, apiService({ caBundle: undefined, service: undefined, groupPriorityMinimum: 17_001, versionPriority: 7 }), { compare: 'status' }), POST('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd('v1'), { compare: 'status' }), POLL(`/apis/${group}/v1`, (_, status) => status === 200, { compare: 'status', ms }),
    GET(apiServicePath(), { pick: ({ metadata, spec }) => ({ labels: metadata.labels ?? null, spec }) }), GET('/apis', { pick: (body) => body.groups.map(({ name }) => name).filter((name) => isOurs(name) || name === 'policy' || name === 'rbac.authorization.k8s.io') }),
  ], withCrd),
  on('local-removed', 'the APIService of a definition is created again', undefined, [
    POST('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd('v1'), { compare: 'status' }), POLL(apiServicePath(), (_, status) => status === 200, { id: 'first', ms, pick: ({ metadata, spec }) => ({ labels: metadata.labels, spec }) }), DELETE(apiServicePath(), undefined, { compare: 'status' }),
    POLL(apiServicePath(), (body, status, { first }) => status === 200 && body.metadata.uid !== first.metadata.uid, { ms, pick: ({ metadata, spec }) => ({ labels: metadata.labels, spec }) }),
  ], withCrd),
];

const requests = [
  passed('forms', 'the group of a remote server in other forms', remote(aggregated([current('v1', jobs)])), [
    untilListed(), GET(`/apis/${group}`, { headers: { accept: 'application/yaml' }, text: true }), GET(`/apis/${group}`, { headers: { accept: 'application/vnd.kubernetes.protobuf' }, compareHeaders: ['content-type'], compare: 'status' }), GET(`/apis/${group}`, { headers: { accept: 'text/html' } }), GET(`/apis/${group}`, { headers: v2 }), GET(`/apis/${group}`, { method: 'HEAD' }), POST(`/apis/${group}`, {}), GET(`/apis/${group}/v1/`, {}),
  ]),
  passed('alice', 'everybody sees the groups of remote servers', remote(aggregated([current('v1', jobs)])), [untilFresh('Current', { compare: 'status' }), GET('/apis', { as: 'alice', pick: plain }), GET('/apis', { as: 'alice', headers: v2, pick: short }), GET(`/apis/${group}`, { as: 'alice' }), GET(`/apis/${group}/v1`, { as: 'alice' }), GET(`/apis/${group}`, { as: null })]),
  passed('root', 'the paths of remote servers in the list of paths', remote(aggregated([current('v1', jobs)])), [untilListed(), GET('/', { pick: (body) => body.paths.filter((path) => path.includes('$ns')) })]),
  passed('etag', 'the tag of aggregated discovery changes with what a remote server says', remote(aggregated([current('v1', jobs)])), [
    untilFresh('Current', { id: 'known', compareHeaders: ['etag?'] }), PATCH(apiServicePath(), 'merge', { spec: { service: { port: 1 } } }, { compare: 'status' }), untilFresh('Stale', { compare: 'status' }), GET('/apis', { headers: { ...v2, 'if-none-match': '${known@headers.etag}' }, pick: short }),
  ]),
  passed('asks', 'how this server asks for groups', (() => { let asked; const answer = remote((request) => { asked ??= request.headers; return { headers: { 'content-type': type(), etag: '"one"' }, body: list([current('v1', jobs)]) }; }); return (request, count) => (request.path.endsWith('/asked') ? { body: asked } : answer(request, count)); })(), [
    untilFresh('Current', { compare: 'status' }), POLL(`/apis/${group}/v1/asked`, (_, status) => status === 200, { ms, pick: ({ accept, 'x-remote-user': user, 'x-remote-group': groups, 'x-remote-uid': uid, 'if-none-match': known }) => ({ accept, user: user ?? null, groups: groups ?? null, uid: uid ?? null, known: known ?? null }) }),
  ]),
  passed('asks-again', 'an answer is asked for again by its tag', (() => { let asked; const answer = remote((request) => { asked = request.headers; return request.headers['if-none-match'] === '"one"' ? { status: 304, headers: { etag: '"one"' } } : { headers: { 'content-type': type(), etag: '"one"' }, body: list([current('v1', jobs)]) }; }); return (request, count) => (request.path.endsWith('/asked') ? { body: asked } : answer(request, count)); })(), [
    untilFresh('Current', { compare: 'status' }), PATCH(apiServicePath(), 'merge', { metadata: { labels: { a: 'b' } } }, { compare: 'status' }), POLL(`/apis/${group}/v1/asked`, (body) => body?.['if-none-match'] !== undefined, { ms, pick: (body) => ({ known: body['if-none-match'] }) }), untilFresh(),
  ]),
  passed('asks-legacy', 'how this server asks for the resources of a version', (() => { let asked; const answer = remote(() => undefined, { probe: (of, version, request) => { if (request.headers['x-remote-user'] === 'system:kube-aggregator' && request.headers.accept === 'application/json') asked ??= request.headers; return { body: things(of, version) }; } }); return (request, count) => (request.path.endsWith('/asked') ? { body: asked } : answer(request, count)); })(), [
    untilFresh('Current', { compare: 'status' }), POLL(`/apis/${group}/v1/asked`, (_, status) => status === 200, { ms, pick: ({ accept, 'x-remote-user': user, 'x-remote-group': groups }) => ({ accept, user: user ?? null, groups: groups ?? null }) }),
  ]),
];

export default [...states, ...down, ...order, ...local, ...requests];
