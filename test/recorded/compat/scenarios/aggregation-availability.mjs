// Whether an aggregated API server is available: the condition of its APIService, and what follows from it.
import { DELETE, GET, PATCH, POLL, POST, PUT, scenario } from '../steps.ts';
import { apiService, apiServicePath, cleanup, condition, group, registered, service, serving, untilReason, untilServed } from './kit/aggregation.mjs';

const base = `/apis/${group}/v1`;
const services = '/api/v1/namespaces/$ns/services';
const endpoints = '/api/v1/namespaces/$ns/endpoints';
const register = (options) => POST('/apis/apiregistration.k8s.io/v1/apiservices', apiService(options), { compare: 'status' });
const shown = (body) => ({ status: condition(body)?.status, reason: condition(body)?.reason, message: condition(body)?.message });
const available = (id, about, steps, extension = serving(), needs = 'aggregation') => scenario(`aggregation-availability-${id}`, { section: 'aggregation', about, needs, cleanup, extension }, steps);
const clusterIp = (ports, more = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'ext' }, spec: { ports, ...more } });
const addresses = (subsets) => ({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'ext' }, subsets });
const port = (name, number) => ({ name, port: number, targetPort: 9 });
const ready = (name) => [{ addresses: [{ ip: '10.255.0.1' }], ports: [{ name, port: 9 }] }];
const onPort = (number) => ({ service: { namespace: '$ns', name: 'ext', port: number } });

export default [
  available('service', 'a Service that is not there, without the port, without endpoints', [
    register(onPort(443)),
    untilReason('ServiceNotFound'),
    POST(services, clusterIp([port('web', 80)]), { compare: 'status' }),
    untilReason('ServicePortError'),
    PATCH(`${services}/ext`, 'strategic', { spec: { ports: [port('api', 443)] } }, { compare: 'status' }),
    untilReason('EndpointsNotFound'),
    POST(endpoints, addresses([]), { compare: 'status' }),
    untilReason('MissingEndpoints'),
    PUT(`${endpoints}/ext`, addresses(ready('web')), { compare: 'status' }),
    POLL(apiServicePath(), (body) => condition(body)?.reason === 'MissingEndpoints', { pick: shown }),
    PUT(`${endpoints}/ext`, addresses([{ notReadyAddresses: [{ ip: '10.255.0.1' }], ports: [{ name: 'api', port: 9 }] }]), { compare: 'status' }),
    POLL(apiServicePath(), (body) => condition(body)?.reason === 'MissingEndpoints', { pick: shown }),
    DELETE(`${endpoints}/ext`, undefined, { compare: 'status' }),
    untilReason('EndpointsNotFound'),
    DELETE(`${services}/ext`, undefined, { compare: 'status' }),
    untilReason('ServiceNotFound'),
  ]),
  available('unnamed-port', 'a port without a name', [
    register(onPort(443)),
    POST(services, clusterIp([{ port: 443 }]), { compare: 'status' }),
    untilReason('EndpointsNotFound'),
    POST(endpoints, addresses([{ addresses: [{ ip: '10.255.0.1' }], ports: [{ name: 'x', port: 9 }] }]), { compare: 'status' }),
    untilReason('MissingEndpoints'),
  ]),
  available('headless', 'a Service without a cluster IP', [
    register(onPort(443)),
    POST(services, clusterIp([port('api', 443)], { clusterIP: 'None' }), { compare: 'status' }),
    POST(endpoints, addresses(ready('api')), { compare: 'status' }),
    untilReason('FailedDiscoveryCheck'),
    POLL(base, (_, status) => status === 503, { text: true }),
  ]),
  available('endpoints-external', 'by endpoints there is no external name', [
    POST(services, service(), { compare: 'status' }),
    register(),
    untilReason('FailedDiscoveryCheck'),
  ], serving(), 'aggregation-endpoints'),
  available('status', 'a server whose discovery fails', [
    POST(services, service(), { compare: 'status' }),
    register(),
    untilReason('FailedDiscoveryCheck'),
    POLL(base, (_, status) => status === 503, { text: true }),
  ], () => ({ status: 500, body: 'it failed' })),
  available('missing', 'a server that does not have the group', [
    POST(services, service(), { compare: 'status' }),
    register(),
    untilReason('FailedDiscoveryCheck'),
  ], () => undefined),
  available('redirect', 'a server that redirects', [
    POST(services, service(), { compare: 'status' }),
    register(),
    untilReason('FailedDiscoveryCheck'),
  ], () => ({ status: 302, body: '', headers: { location: '/elsewhere' } })),
  available('refused', 'nobody listens', [
    POST(services, service(), { compare: 'status' }),
    register({ service: { namespace: '$ns', name: 'ext', port: 1 } }),
    untilReason('FailedDiscoveryCheck'),
  ]),
  available('closed', 'a server that closes the connection', [
    POST(services, service(), { compare: 'status' }),
    register(),
    untilReason('FailedDiscoveryCheck', { pick: (body) => ({ ...shown(body), message: String(condition(body)?.message).replace(/(EOF|read: connection reset by peer|http2: .*)$/, '<cut>') }) }),
  ], ({ path }) => (path.startsWith('/apis/a.') ? { close: true } : undefined)),
  available('recovers', 'one of five probes is enough, and a server that comes back is available', [
    POST(services, service(), { compare: 'status' }),
    register(),
    untilReason('Passed'),
    untilServed(base),
  ], (request, count) => (request.path.startsWith('/apis/a.') && count % 2 === 1 ? { status: 503, body: 'not yet' } : serving()(request, count))),
  available('becomes-local', 'one that is made local, and remote again', [
    ...registered(),
    PATCH(apiServicePath(), 'merge', { spec: { service: null, caBundle: null } }, { compare: 'status' }),
    untilReason('Local'),
    POLL(base, (_, status) => status === 404, { text: true }),
    PATCH(apiServicePath(), 'merge', { spec: apiService().spec }, { compare: 'status' }),
    untilReason('Passed'),
    untilServed(base),
  ]),
  available('status-written', 'who writes the condition by hand is corrected', [
    ...registered(),
    PATCH(`${apiServicePath()}/status`, 'merge', { status: { conditions: [{ type: 'Available', status: 'False', reason: 'Mine', message: 'by hand', lastTransitionTime: '2020-01-01T00:00:00Z' }] } }, { compare: 'status' }),
    untilReason('Passed'),
    GET(apiServicePath(), { ignore: ['metadata.managedFields', 'metadata.resourceVersion'] }),
  ]),
  available('metrics', 'what is counted of it', [
    ...registered(),
    POLL('/metrics', (body) => String(body).includes('aggregator_unavailable_apiservice{name="v1.a.'), { text: true, pick: (body) => String(body).split('\n').filter((line) => line.startsWith('aggregator_unavailable_apiservice') && line.includes('$ns')) }),
    DELETE(`${services}/ext`, undefined, { compare: 'status' }),
    untilReason('ServiceNotFound'),
    POLL('/metrics', (body) => String(body).includes('reason="ServiceNotFound"'), { text: true, compare: 'status' }),
  ]),
];
