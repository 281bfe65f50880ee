// services/proxy and pods/proxy: what is refused before anybody is reached.
import { scenario, GET, POST, PATCH } from '../steps.ts';
import { at, pod } from './kit/meta.mjs';

const s = (id, about, steps, o = {}) => scenario(`meta-proxy-${id}`, { section: '4.2', about, ...o }, steps);
const through = (name) => GET(at('services', name, 'proxy/'));
const service = POST(at('services'), { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] } }, { compare: 'status' });
const endpoints = (subsets) => POST(at('endpoints'), { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 's' }, subsets }, { compare: 'status' });
const ports = [{ name: 'a', port: 8080 }];
const named = [POST(at('pods'), pod('p'), { compare: 'status' }), PATCH(at('pods', 'p', 'status'), 'merge', { status: { podIP: '10.9.8.7', podIPs: [{ ip: '10.9.8.7' }] } }, { compare: 'status' })];

export default [
  s('service-missing', 'no service and no endpoints, by name, by the name of a port and by its number', ['x', 'x:a', 'x:80', 'https:x:a'].map(through)),
  s('service-without-endpoints', 'a service without endpoints', [service, ...['s', 's:a', 's:80', 's:82', 's:none'].map(through)]),
  s('service-empty-endpoints', 'endpoints without subsets, and with subsets that have no address', [service, endpoints([]), ...['s:a', 's:80'].map(through)]),
  s('service-not-ready', 'endpoints whose addresses are not ready', [service, endpoints([{ notReadyAddresses: [{ ip: '10.9.8.7' }], ports }]), ...['s:a', 's:80', 's:81'].map(through)]),
  s('service-address-of-nobody', 'an address without a target is not gone to', [service, endpoints([{ addresses: [{ ip: '10.9.8.7' }], ports }]), ...['s:a', 's:80', 'https:s:a'].map(through)]),
  s('service-address-of-other-namespace', 'an address of a pod of another namespace, of a missing pod, or with another address, is not gone to', [
    service, ...named,
    endpoints([
      { addresses: [{ ip: '10.9.8.7', targetRef: { kind: 'Pod', namespace: 'kube-system', name: 'p' } }], ports },
      { addresses: [{ ip: '10.9.8.7', targetRef: { kind: 'Pod', name: 'p' } }], ports },
      { addresses: [{ ip: '10.9.8.6', targetRef: { kind: 'Pod', namespace: '$ns', name: 'p' } }], ports },
      { addresses: [{ ip: '10.9.8.5', targetRef: { kind: 'Pod', namespace: '$ns', name: 'q' } }], ports },
    ]), ...['s:a', 's:80'].map(through),
  ]),
  s('service-external-name', 'a service that is a name elsewhere', [POST(at('services'), { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { type: 'ExternalName', externalName: 'example.com', ports: [{ port: 80 }] } }, { compare: 'status' }), ...['s', 's:80'].map(through)]),
  s('service-bad-name', 'names that cannot be read', ['ftp:s:a', 'a:b:c:d', ':s:', 's:'].map(through)),
  ...Object.entries({ loopback: ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'], 'link-local': ['169.254.169.254', 'fe80::1'], multicast: ['224.0.0.1', '239.0.0.1', 'ff02::1', 'ff05::1'], nowhere: ['0.0.0.0', '::', '255.255.255.255'] }).map(([what, addresses]) =>
    s(`node-${what}`, `a node whose address is no global one: ${what}`, addresses.flatMap((address, index) => [
      POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: `$ns-${index}` }, status: { addresses: [{ type: 'InternalIP', address }], daemonEndpoints: { kubeletEndpoint: { Port: 2379 } } } }, { compare: 'status' }),
      ...['', ':2379', ':9100'].map((port) => GET(`/api/v1/nodes/$ns-${index}${port}/proxy/`)), GET(`/api/v1/nodes/https:$ns-${index}:9100/proxy/`),
    ]), { namespace: false, cleanup: addresses.map((_, index) => `/api/v1/nodes/$ns-${index}`) })),
  s('node-localhost', 'a node by a name that leads to the machine of the server', [
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n' }, status: { addresses: [{ type: 'Hostname', address: 'localhost' }] } }, { compare: 'status' }),
    ...['', ':9100'].map((port) => GET(`/api/v1/nodes/$ns-n${port}/proxy/`)),
  ], { namespace: false, cleanup: ['/api/v1/nodes/$ns-n'] }),
  s('pod-no-global-address', 'a pod whose address is no global one', ['127.0.0.1', '169.254.1.1', '239.0.0.1', '255.255.255.255', '0.0.0.0'].flatMap((ip, index) => [
    POST(at('pods'), pod(`p${index}`), { compare: 'status' }), PATCH(at('pods', `p${index}`, 'status'), 'merge', { status: { podIP: ip, podIPs: [{ ip }] } }, { compare: 'status' }), GET(at('pods', `p${index}:80`, 'proxy/')),
  ])),
  s('pod-missing', 'a pod that is not there, or has no address', [GET(at('pods', 'x', 'proxy/')), POST(at('pods'), pod('p'), { compare: 'status' }), GET(at('pods', 'p', 'proxy/')), GET(at('pods', 'p:80', 'proxy/')), GET(at('pods', 'ftp:p:80', 'proxy/'))]),
  s('methods', 'all methods go through, HEAD and OPTIONS too', [
    POST(at('pods'), pod('p'), { compare: 'status' }), service,
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n' } }, { compare: 'status' }),
    ...['HEAD', 'OPTIONS', 'TRACE', 'LINK'].flatMap((method) => [at('pods', 'p', 'proxy'), at('pods', 'p', 'proxy/x'), at('services', 's', 'proxy'), at('services', 's', 'proxy/x/y'), '/api/v1/nodes/$ns-n/proxy', '/api/v1/nodes/$ns-n/proxy/x'].map((path) => GET(path, { method, compareHeaders: ['content-type', 'allow'] }))),
  ], { cleanup: ['/api/v1/nodes/$ns-n'] }),
  s('methods-forbidden', 'the verb that each method is authorized as', ['GET', 'HEAD', 'OPTIONS', 'POST', 'TRACE'].flatMap((method) => [at('pods', 'p', 'proxy/x'), '/api/v1/nodes/n/proxy'].map((path) => GET(path, { method, as: 'bob' })))),
];
