// Rows of Services, Endpoints, Ingresses and their kin.
import { scenario, GET, POST, PATCH } from '../steps.ts';
import { TABLE, accept, cells, table } from './kit/shapes.mjs';

const ns = (gv, r) => `${gv === 'v1' ? '/api/v1' : `/apis/${gv}`}/namespaces/$ns/${r}`;
const named = (name, o) => ({ metadata: { name }, ...o });
const rows = (id, about, path, objects, pick = cells) => scenario(`table-${id}`, { section: '2.6', about }, [
  ...objects.flatMap(([object, status]) => [POST(path, object, { compare: 'status' }), ...(status ? [PATCH(`${path}/${object.metadata.name}/status`, 'merge', { status }, { compare: 'status' })] : [])]), GET(`${path}?includeObject=None`, { ...accept(TABLE), pick }),
]);
/** Shows the row of an object that is never stored. */
const dry = (id, about, path, object, pick = table) => scenario(`table-${id}`, { section: '2.6', about, namespace: false }, [POST(path, object, { ...accept(TABLE), query: { dryRun: 'All', includeObject: 'None' }, pick })]);

const services = ns('v1', 'services');
const port = (p, o = {}) => ({ port: p, ...o });
const service = (spec) => named('s', { spec: { ports: [port(80)], ...spec } });
const ingress = (...list) => ({ loadBalancer: { ingress: list } });
const serviceRows = [
  rows('service-cluster-ip', 'A ClusterIP Service in full', services, [[service({ selector: { b: '2', a: '1' } })]], table),
  rows('service-ports', 'Several ports and protocols', services, [[service({ ports: [port(80, { name: 'a' }), port(53, { name: 'b', protocol: 'UDP' }), port(9999, { name: 'c', protocol: 'SCTP', targetPort: 'x' })] })]]),
  rows('service-headless', 'A headless Service', services, [[service({ clusterIP: 'None' })]]),
  rows('service-headless-without-ports', 'A headless Service without ports', services, [[named('s', { spec: { clusterIP: 'None', selector: { a: 'b' } } })]]),
  rows('service-external-ips', 'External addresses of a ClusterIP Service', services, [[service({ externalIPs: ['192.0.2.7', '192.0.2.3'] })]]),
  rows('service-node-port', 'A NodePort Service', services, [[service({ type: 'NodePort' })]]),
  rows('service-node-port-external', 'A NodePort Service with external addresses', services, [[service({ type: 'NodePort', externalIPs: ['192.0.2.7'] })]]),
  rows('service-load-balancer-pending', 'A load balancer without an address', services, [[service({ type: 'LoadBalancer' })]]),
  rows('service-load-balancer-ip', 'A load balancer with addresses, sorted', services, [[service({ type: 'LoadBalancer' }), ingress({ ip: '192.0.2.9' }, { ip: '192.0.2.10' })]]),
  rows('service-load-balancer-hostname', 'A load balancer with a long host name', services, [[service({ type: 'LoadBalancer' }), ingress({ hostname: 'a-very-long-name-of-a-load-balancer.example.com' })]]),
  rows('service-load-balancer-both', 'Addresses of the load balancer before external ones', services, [[service({ type: 'LoadBalancer', externalIPs: ['192.0.2.1'] }), ingress({ ip: '192.0.2.9' }, { hostname: 'lb.example.com' })]]),
  rows('service-load-balancer-external-only', 'External addresses of a pending load balancer', services, [[service({ type: 'LoadBalancer', externalIPs: ['192.0.2.1'] })]]),
  rows('service-load-balancer-without-ports', 'A load balancer without node ports', services, [[service({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false })]]),
  rows('service-external-name', 'A Service that is a name', services, [[named('s', { spec: { type: 'ExternalName', externalName: 'db.example.com' } })]]),
  rows('service-external-name-port', 'A Service that is a name, with a port', services, [[service({ type: 'ExternalName', externalName: 'db.example.com' })]]),
];

const endpoints = ns('v1', 'endpoints');
const address = (...ips) => ips.map((ip) => ({ ip }));
const endpointRows = [
  rows('endpoints', 'Endpoints: none, one, several', endpoints, [[named('none')], [named('one', { subsets: [{ addresses: address('192.0.2.1'), ports: [port(80)] }] })], [named('two-ports', { subsets: [{ addresses: address('192.0.2.1'), ports: [port(80, { name: 'a' }), port(443, { name: 'b' })] }] })]], table),
  rows('endpoints-more', 'More than three are counted', endpoints, [[named('five', { subsets: [{ addresses: address('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'), ports: [port(80)] }] })], [named('three', { subsets: [{ addresses: address('192.0.2.1', '192.0.2.2', '192.0.2.3'), ports: [port(80)] }] })], [named('subsets', { subsets: [{ addresses: address('192.0.2.1', '192.0.2.2'), ports: [port(80)] }, { addresses: address('192.0.2.3', '192.0.2.4'), ports: [port(81)] }] })]]),
  rows('endpoints-other', 'Addresses without ports, not ready, and IPv6', endpoints, [[named('portless', { subsets: [{ addresses: address('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4') }] })], [named('not-ready', { subsets: [{ notReadyAddresses: address('192.0.2.1'), ports: [port(80)] }] })], [named('six', { subsets: [{ addresses: address('2001:db8::1'), ports: [port(80)] }] })]]),
  rows('endpointslice', 'EndpointSlices: addresses and ports', ns('discovery.k8s.io/v1', 'endpointslices'), [[named('empty', { addressType: 'IPv4', endpoints: [] })], [named('one', { addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.1'] }], ports: [{ port: 80, name: 'a' }] })], [named('more', { addressType: 'IPv4', endpoints: ['1', '2', '3', '4', '5'].map((n) => ({ addresses: [`192.0.2.${n}`] })), ports: [1, 2, 3, 4].map((n) => ({ port: n, name: `p${n}` })) })], [named('named', { addressType: 'FQDN', endpoints: [{ addresses: ['a.example.com'] }], ports: [{ name: 'web' }] })], [named('any', { addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8::1'] }], ports: [{}] })]], table),
];

const ingresses = ns('networking.k8s.io/v1', 'ingresses');
const backend = { service: { name: 's', port: { number: 80 } } };
const rule = (host) => ({ ...(host ? { host } : {}), http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } });
const ingressRows = [
  rows('ingress', 'An Ingress in full', ingresses, [[named('i', { spec: { ingressClassName: 'c', rules: [rule('a.example.com'), rule('b.example.com')], tls: [{ hosts: ['a.example.com'] }] } }), ingress({ ip: '192.0.2.9' }, { hostname: 'a-very-long-name-of-a-load-balancer.example.com' })]], table),
  rows('ingress-hosts', 'Hosts: none, three, more', ingresses, [[named('default', { spec: { defaultBackend: backend } })], [named('any', { spec: { rules: [rule()] } })], [named('three', { spec: { rules: [rule('a.io'), rule('b.io'), rule('c.io')] } })], [named('five', { spec: { rules: [rule('a.io'), rule('b.io'), rule('c.io'), rule('d.io'), rule('e.io')] } })], [named('mixed', { spec: { rules: [rule(), rule('b.io')] } })], [named('any-among-more', { spec: { rules: [rule('a.io'), rule(), rule('c.io'), rule('d.io'), rule('e.io')] } })]]),
  dry('ingressclass', 'An IngressClass without parameters', '/apis/networking.k8s.io/v1/ingressclasses', named('oracle-plain', { spec: { controller: 'example.com/c' } })),
  dry('ingressclass-parameters', 'An IngressClass with parameters of a group', '/apis/networking.k8s.io/v1/ingressclasses', named('oracle-param', { spec: { controller: 'example.com/c', parameters: { apiGroup: 'k8s.example.com', kind: 'Param', name: 'x', scope: 'Cluster' } } }), cells),
  dry('ingressclass-core-parameters', 'An IngressClass with parameters of the core group', '/apis/networking.k8s.io/v1/ingressclasses', named('oracle-param', { spec: { controller: 'example.com/c', parameters: { kind: 'ConfigMap', name: 'x', namespace: 'y', scope: 'Namespace' } } }), cells),
];

const others = [
  rows('networkpolicy', 'Network policies and their selectors', ns('networking.k8s.io/v1', 'networkpolicies'), [[named('all', { spec: { podSelector: {} } })], [named('labels', { spec: { podSelector: { matchLabels: { b: '2', a: '1' } } } })], [named('expressions', { spec: { podSelector: { matchLabels: { z: '0' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['2', '1'] }, { key: 'b', operator: 'Exists' }, { key: 'c', operator: 'DoesNotExist' }, { key: 'd', operator: 'NotIn', values: ['x'] }] } } })]], table),
  dry('servicecidr', 'A ServiceCIDR', '/apis/networking.k8s.io/v1/servicecidrs', named('oracle-cidr', { spec: { cidrs: ['10.250.0.0/24', 'fd00:250::/112'] } })),
  dry('ipaddress', 'An IPAddress has a cell more than it has columns', '/apis/networking.k8s.io/v1/ipaddresses', { metadata: { name: '192.0.2.250' }, spec: { parentRef: { resource: 'services', namespace: 'default', name: 'x' } } }),
  dry('ipaddress-of-group', 'An IPAddress of another resource', '/apis/networking.k8s.io/v1/ipaddresses', { metadata: { name: '192.0.2.251' }, spec: { parentRef: { group: 'example.com', resource: 'Things', name: 'x' } } }),
];

export default [...serviceRows, ...endpointRows, ...ingressRows, ...others];
