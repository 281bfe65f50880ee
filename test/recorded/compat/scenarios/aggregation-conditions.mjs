// The condition Available of APIServices: every reason, and what changes it.
import { DELETE, GET, PATCH, POLL, POST, PUT, scenario } from '../steps.ts';
import { apiService, apiServicePath, cleanup, condition, group, registered, service, serving, things, untilReason } from './kit/aggregation.mjs';

const section = 'aggregation';
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const services = '/api/v1/namespaces/$ns/services';
const ms = 100_000;
const shown = (body) => body?.status?.conditions?.map(({ type, status, reason, message }) => ({ type, status, reason, message }));
const on = (id, about, steps, more = {}) => scenario(`aggregation-conditions-${id}`, { section, about, needs: 'aggregation', cleanup, extension: serving(), ...more }, steps);
const created = (options = {}, more = {}) => POST(apiServices, apiService(options), { compare: 'status', ...more });
const clusterIp = (spec = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'ext' }, spec: { ports: [{ port: 443, name: 'https' }], ...spec } });
const endpoints = (subsets) => ({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'ext' }, subsets });
const at443 = { service: { namespace: '$ns', name: 'ext' } };
/** The words of the last of five attempts, which Go's resolver and dialer choose: an address may be of either family. */
const withoutPlace = ({ type, status, reason, message = '' } = {}) => ({ type, status, reason, message: message.replace(/(localhost|127\.0\.0\.1|\[::1\]):\$?\w+/g, 'HOST').replace(/dial tcp HOST/g, 'dial').replace(/net\/http: request canceled|context deadline exceeded/, 'too late') });
const failed = (options = {}) => untilReason('FailedDiscoveryCheck', { pick: (body) => withoutPlace(condition(body)), ...options });
const probed = (id, about, probe, steps, more) => on(id, about, [POST(services, service(), { compare: 'status' }), created(), ...steps], { extension: (request, count) => (request.path.startsWith('/apis/') ? probe(request, count) : undefined), ...more });

export default [
  on('passed', 'a server that answers', [...registered(), GET(apiServicePath(), { pick: shown })]),
  on('created', 'a new APIService has no condition', [created({}, { compare: undefined, pick: ({ status, spec }) => ({ status, port: typeof spec.service.port }) })]),
  on('no-service', 'there is no such Service', [created(), untilReason('ServiceNotFound')]),
  on('service-later', 'the Service comes after the APIService', [created(), untilReason('ServiceNotFound'), POST(services, service(), { compare: 'status' }), untilReason('Passed')]),
  on('service-removed', 'the Service is deleted', [...registered(), DELETE(`${services}/ext`, undefined, { compare: 'status' }), untilReason('ServiceNotFound')]),
  on('port', 'the Service has another port', [POST(services, clusterIp({ ports: [{ port: 8443 }] }), { compare: 'status' }), created(at443), untilReason('ServicePortError')]),
  on('port-default', 'the port of an APIService is 443', [POST(services, clusterIp(), { compare: 'status' }), created(at443, { compare: undefined, pick: ({ spec }) => spec }), untilReason('EndpointsNotFound')]),
  on('endpoints', 'the Service has no Endpoints', [POST(services, clusterIp(), { compare: 'status' }), created(at443), untilReason('EndpointsNotFound')]),
  on('endpoints-empty', 'the Endpoints have no addresses', [POST(services, clusterIp(), { compare: 'status' }), POST('/api/v1/namespaces/$ns/endpoints', endpoints([]), { compare: 'status' }), created(at443), untilReason('MissingEndpoints')]),
  on('endpoints-not-ready', 'the Endpoints have addresses that are not ready', [POST(services, clusterIp(), { compare: 'status' }), POST('/api/v1/namespaces/$ns/endpoints', endpoints([{ notReadyAddresses: [{ ip: '10.1.2.3' }], ports: [{ name: 'https', port: 443 }] }]), { compare: 'status' }), created(at443), untilReason('MissingEndpoints')]),
  on('endpoints-name', 'the Endpoints have another port', [POST(services, clusterIp(), { compare: 'status' }), POST('/api/v1/namespaces/$ns/endpoints', endpoints([{ addresses: [{ ip: '10.1.2.3' }], ports: [{ name: 'http', port: 443 }] }]), { compare: 'status' }), created(at443), untilReason('MissingEndpoints')]),
  on('endpoints-unnamed', 'the port of the Service has no name', [POST(services, clusterIp({ ports: [{ port: 443 }] }), { compare: 'status' }), POST('/api/v1/namespaces/$ns/endpoints', endpoints([{ addresses: [{ ip: '10.1.2.3' }], ports: [{ name: 'https', port: 443 }] }]), { compare: 'status' }), created(at443), untilReason('MissingEndpoints')]),
  on('endpoints-later', 'the Endpoints come later, and go', [
    POST(services, clusterIp(), { compare: 'status' }), created(at443), untilReason('EndpointsNotFound'), POST('/api/v1/namespaces/$ns/endpoints', endpoints([]), { compare: 'status' }), untilReason('MissingEndpoints'), DELETE('/api/v1/namespaces/$ns/endpoints/ext', undefined, { compare: 'status' }), untilReason('EndpointsNotFound'),
  ]),
  on('slices', 'EndpointSlices alone do not count', [
    POST(services, clusterIp(), { compare: 'status' }), POST('/apis/discovery.k8s.io/v1/namespaces/$ns/endpointslices', { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 'ext-1', labels: { 'kubernetes.io/service-name': 'ext' } }, addressType: 'IPv4', ports: [{ name: 'https', port: 443 }], endpoints: [{ addresses: ['10.1.2.3'] }] }, { compare: 'status' }), created(at443), untilReason('EndpointsNotFound', { pick: (body) => condition(body).reason }),
  ]),
  on('refused', 'nobody listens', [POST(services, service(), { compare: 'status' }), created({ service: { namespace: '$ns', name: 'ext', port: 1 } }), failed()]),
  on('no-host', 'a host name that nobody has', [POST(services, service('ext', { externalName: 'nowhere.invalid' }), { compare: 'status' }), created(), failed({ pick: (body) => { const { status, reason } = condition(body); return { status, reason }; } })]),
  on('untrusted', 'a certificate of another CA: probes do not verify it', [POST(services, service('untrusted'), { compare: 'status' }), created({ name: 'untrusted' }), untilReason('Passed')]),
  on('misnamed', 'a certificate for another name', [POST(services, service('misnamed'), { compare: 'status' }), created({ name: 'misnamed' }), untilReason('Passed')]),
  on('insecure', 'a certificate that is not verified', [POST(services, service('untrusted'), { compare: 'status' }), created({ name: 'untrusted', caBundle: undefined, insecureSkipTLSVerify: true }), untilReason('Passed')]),
  ...[201, 204, 206].map((status) => probed(`status-${status}`, `the probe is answered with ${status}`, () => ({ status, body: '' }), [untilReason('Passed')])),
  ...[400, 401, 403, 404, 429, 500, 503].map((status) => probed(`status-${status}`, `the probe is answered with ${status}`, () => ({ status, body: 'no' }), [failed()])),
  probed('status-302', 'the probe is redirected to another path', (request) => (request.path === '/apis/there' ? { body: {} } : { status: 302, headers: { location: '/apis/there' }, body: '' }), [POLL(apiServicePath(), (body) => condition(body) !== undefined, { ms, pick: (body) => withoutPlace(condition(body)) })]),
  probed('closed', 'the connection is closed', () => ({ close: true }), [failed()]),
  probed('garbage', 'the body of the answer does not matter', () => ({ body: 'garbage' }), [untilReason('Passed')]),
  probed('cut', 'the answer breaks off after its head', () => ({ headers: { 'content-length': '1000' }, body: 'x', cut: true }), [untilReason('Passed')]),
  probed('hangs', 'the probe is not answered', () => ({ hang: true }), [failed()]),
  probed('slow', 'the probe is answered late, but in time', (request) => ({ delayMs: 2000, body: things(group, 'v1') }), [untilReason('Passed')]),
  probed('some', 'one of five attempts is enough', (request, count) => (count % 5 === 0 ? { body: {} } : { status: 500, body: 'no' }), [untilReason('Passed')]),
  on('asks', 'how this server probes', [...registered(), POLL(`/apis/${group}/v1/asked`, (_, status) => status === 200, { ms, pick: ({ path, headers, certificate }) => ({ path: path.replace(/oracle-[0-9a-f]{10}/, '$ns'), user: headers['x-remote-user'] ?? null, groups: headers['x-remote-group'] ?? null, certificate }) })], {
    extension: (() => { let asked; return (request) => { if (request.path.endsWith('/asked')) return { body: asked }; if (request.path.endsWith('/v1') && request.headers['x-remote-group'] !== undefined) asked ??= request; return request.path.endsWith('/v1') ? { body: {} } : undefined; }; })(),
  }),
  on('local', 'an APIService without a Service', [created({ caBundle: undefined, service: undefined }, { compare: undefined, pick: shown }), GET(apiServicePath(), { pick: shown })]),
  on('local-to-remote', 'an APIService that gets a Service', [
    POST(services, service(), { compare: 'status' }), created({ caBundle: undefined, service: undefined }), PATCH(apiServicePath(), 'merge', { spec: apiService().spec }, { pick: shown }), untilReason('Passed'),
  ]),
  on('remote-to-local', 'an APIService that loses its Service', [...registered(), PATCH(apiServicePath(), 'merge', { spec: { service: null, caBundle: null } }, { compare: 'status' }), untilReason('Local')]),
  on('service-changed', 'an APIService that names another Service', [...registered(), PATCH(apiServicePath(), 'merge', { spec: { service: { name: 'other' } } }, { compare: 'status' }), untilReason('ServiceNotFound'), PATCH(apiServicePath(), 'merge', { spec: { service: { name: 'ext' } } }, { compare: 'status' }), untilReason('Passed')]),
  on('by-client', 'what a client says about availability does not last', [
    ...registered(), PATCH(`${apiServicePath()}/status`, 'merge', { status: { conditions: [{ type: 'Available', status: 'False', reason: 'Mine', message: 'mine', lastTransitionTime: '2020-01-01T00:00:00Z' }] } }, { pick: shown }), untilReason('Passed'),
  ]),
  on('by-client-other', 'other conditions stay', [
    ...registered(), PATCH(`${apiServicePath()}/status`, 'merge', { status: { conditions: [{ type: 'Mine', status: 'Unknown', reason: 'Mine', message: 'mine', lastTransitionTime: '2020-01-01T00:00:00Z' }] } }, { pick: shown }), untilReason('Passed', { pick: shown }),
    DELETE(`${services}/ext`, undefined, { compare: 'status' }), untilReason('ServiceNotFound', { pick: shown }),
  ]),
  on('by-client-none', 'a condition that a client removes comes back', [...registered(), PATCH(`${apiServicePath()}/status`, 'merge', { status: { conditions: [] } }, { compare: 'status' }), untilReason('Passed')]),
  on('transition', 'the time of a transition is that of the status, not of the reason', [
    created(at443), untilReason('ServiceNotFound', { id: 'first' }), POST(services, clusterIp({ ports: [{ port: 8443 }] }), { compare: 'status' }),
    POLL(apiServicePath(), (body, _, { first }) => condition(body)?.reason === 'ServicePortError' && condition(body).lastTransitionTime === condition(first).lastTransitionTime, { ms, pick: shown }),
  ]),
  on('managed', 'whose the condition is', [...registered(), GET(apiServicePath(), { pick: ({ metadata }) => metadata.managedFields.map(({ manager, operation, subresource, apiVersion, fieldsV1 }) => ({ operation, subresource: subresource ?? null, apiVersion, fields: Object.keys(fieldsV1) })).sort((a, b) => (a.fields[0] < b.fields[0] ? -1 : 1)) })]),
  on('table', 'how an APIService is shown', [...registered(), GET(apiServicePath(), { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }, pick: ({ columnDefinitions, rows }) => ({ columns: columnDefinitions.map(({ name }) => name), cells: rows.map(({ cells }) => cells.slice(0, 3)) }) })]),
  on('table-down', 'how one that is not available is shown', [created(), untilReason('ServiceNotFound', { compare: 'status' }), GET(apiServicePath(), { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }, pick: ({ rows }) => rows.map(({ cells }) => cells.slice(0, 3)) })]),
  on('health', 'the checks of health do not depend on remote servers', [created(), untilReason('ServiceNotFound', { compare: 'status' }), GET('/readyz', { query: { verbose: '' }, text: true }), GET('/readyz/poststarthook/apiservice-discovery-controller', { text: true }), GET('/readyz/poststarthook/aggregator-reload-proxy-client-cert', { text: true }), GET('/livez', { text: true })]),
  on('metrics', 'the metrics of availability', [created(), untilReason('ServiceNotFound', { compare: 'status' }), GET('/metrics', { text: true, pick: (text) => String(text).split('\n').filter((line) => line.startsWith('aggregator_unavailable') && line.includes('$ns')) })]),
  on('metrics-passed', 'the metrics of a server that answers', [...registered(), GET('/metrics', { text: true, pick: (text) => String(text).split('\n').filter((line) => line.startsWith('aggregator_unavailable') && line.includes('$ns')) })]),
  on('replaced', 'an APIService is deleted and created again', [...registered(), DELETE(apiServicePath(), undefined, { compare: 'status' }), created({ service: { namespace: '$ns', name: 'none', port: 443 } }, { compare: undefined, pick: ({ status }) => status }), untilReason('ServiceNotFound')]),
  on('put', 'an update without the status keeps it', [...registered(), GET(apiServicePath(), { id: 'now', compare: 'status' }), PUT(apiServicePath(), { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: `v1.${group}`, resourceVersion: '${now.metadata.resourceVersion}' }, spec: apiService({ versionPriority: 20 }).spec }, { pick: shown })]),
];
