// Services: defaults, validation and allocation of addresses and ports.
// Explicit cluster IPs come from the first addresses of the range, which the server hands out only on request; explicit node ports are ones it has just given.
import { scenario, GET, POST, DELETE } from '../steps.ts';
import { inNs, spec, root, refused, accepted, repeat, freeNodePorts, freeNodePort, nodePortsNamed } from './kit/kinds-core.mjs';

const at = inNs('services');
const service = (s = {}, metadata = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's', ...metadata }, spec: { ports: [{ port: 80 }], ...s } });
const ports = (body, raw, norm) => {
  const b = nodePortsNamed(body, raw, norm);
  return b.kind === 'Status' ? b : { spec: b.spec, status: b.status };
};
const created = (id, about, rows) => accepted(`core-service-${id}`, { about, at, base: service(), part: spec, shown: ports, compareHeaders: ['warning'] }, rows);
const wrong = (id, about, rows, base = service()) => refused(`core-service-${id}`, { about, at, base, part: spec }, rows);
const lb = (s = {}) => ({ type: 'LoadBalancer', ...s });

export default [
  scenario('core-service-minimal', { section: '2', about: 'the defaults of a Service' }, [POST(at, service()), GET(inNs('services', 's'))]),
  scenario('core-service-maximal', { section: '2', about: 'a load balancer with every field that goes with it; one port number gets one node port for all its protocols' }, [
    POST(at, service({
      type: 'LoadBalancer', selector: { app: 'a' }, ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'web', appProtocol: 'kubernetes.io/h2c' }, { name: 'dns', protocol: 'UDP', port: 53, targetPort: 5353 }, { name: 'sctp', protocol: 'SCTP', port: 80 }],
      sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } }, externalIPs: ['192.0.2.1'], loadBalancerIP: '192.0.2.9', loadBalancerSourceRanges: ['10.0.0.0/8', ' 192.168.0.0/16 '], externalTrafficPolicy: 'Local',
      publishNotReadyAddresses: true, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'], allocateLoadBalancerNodePorts: true, loadBalancerClass: 'example.com/lb', internalTrafficPolicy: 'Local', trafficDistribution: 'PreferClose',
    }, { labels: { a: 'b' }, annotations: { c: 'd' } }), { pick: nodePortsNamed }),
    GET(inNs('services', 's'), { pick: nodePortsNamed }),
  ]),
  ...created('types', 'defaults by type', [
    ['NodePort', { type: 'NodePort' }], ['LoadBalancer', lb()], ['LoadBalancer without node ports', lb({ allocateLoadBalancerNodePorts: false })], ['LoadBalancer Local gets a health check port', lb({ externalTrafficPolicy: 'Local' })], ['ExternalName', { type: 'ExternalName', externalName: 'example.com' }], ['ExternalName without ports', { type: 'ExternalName', externalName: 'example.com.', ports: undefined }],
    ['headless with selector', { clusterIP: 'None', selector: { a: 'b' } }], ['headless without selector is dual-stack', { clusterIP: 'None' }], ['headless without ports', { clusterIP: 'None', ports: undefined, selector: { a: 'b' } }], ['externalIPs make it external', { externalIPs: ['192.0.2.1'] }], ['NodePort Local has no health check port', { type: 'NodePort', externalTrafficPolicy: 'Local' }], ['externalName on a ClusterIP service warns', { externalName: 'x' }],
  ]),
  ...created('ports', 'defaults of ports', [
    ['targetPort zero', { ports: [{ port: 80, targetPort: 0 }] }], ['targetPort empty name', { ports: [{ port: 80, targetPort: '' }] }], ['targetPort by name', { ports: [{ port: 80, targetPort: 'web' }] }], ['the same port with two protocols', { ports: [{ name: 'a', port: 53 }, { name: 'b', port: 53, protocol: 'UDP' }] }], ['appProtocol', { ports: [{ port: 80, appProtocol: 'example.com/x' }] }], ['nodePort on ExternalName is kept as it is', { type: 'ExternalName', externalName: 'a', ports: [{ port: 1, nodePort: 30001 }] }],
  ]),
  scenario('core-service-node-port-shared', { section: '7', about: 'one node port may serve two protocols of a Service, but not one protocol twice' }, [
    ...freeNodePorts(1), POST(at, service({ type: 'NodePort', ports: [{ name: 'a', port: 1, nodePort: freeNodePort(0) }, { name: 'b', port: 2, nodePort: freeNodePort(0) }] }), { pick: ports, note: 'twice' }), POST(at, service({ type: 'NodePort', ports: [{ name: 'a', port: 53, nodePort: freeNodePort(0) }, { name: 'b', port: 53, protocol: 'UDP', nodePort: freeNodePort(0) }] }), { pick: ports, note: 'two protocols' }),
  ]),
  ...created('affinity', 'session affinity and traffic policies', [
    ['ClientIP', { sessionAffinity: 'ClientIP' }], ['ClientIP with empty config', { sessionAffinity: 'ClientIP', sessionAffinityConfig: {} }], ['None drops the config', { sessionAffinity: 'None', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }], ['longest timeout', { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86400 } } }], ['internalTrafficPolicy Local', { internalTrafficPolicy: 'Local' }], ['trafficDistribution', { trafficDistribution: 'PreferClose' }], ['internalTrafficPolicy on ExternalName is dropped', { type: 'ExternalName', externalName: 'a', internalTrafficPolicy: 'Local' }],
  ]),
  ...created('families', 'ipFamilies and ipFamilyPolicy on a single-stack server', [
    ['PreferDualStack', { ipFamilyPolicy: 'PreferDualStack' }], ['families only', { ipFamilies: ['IPv4'] }], ['headless with both families', { clusterIP: 'None', ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' }], ['headless IPv6 without selector', { clusterIP: 'None', ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' }],
  ]),
  ...wrong('families-invalid', 'ipFamilies, ipFamilyPolicy and clusterIPs that are refused', [
    ['family unknown', { ipFamilies: ['IPv5'] }], ['family twice', { ipFamilies: ['IPv4', 'IPv4'] }], ['family not configured', { ipFamilies: ['IPv6'] }], ['policy unknown', { ipFamilyPolicy: 'Both' }], ['RequireDualStack', { ipFamilyPolicy: 'RequireDualStack' }], ['two families need a policy', { ipFamilies: ['IPv4', 'IPv6'] }], ['clusterIP and clusterIPs differ', { clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.4'] }], ['clusterIPs without clusterIP', { clusterIPs: ['None'] }], ['None and more', { clusterIP: 'None', clusterIPs: ['None', '10.0.0.4'] }],
    ['three clusterIPs', { clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3', '2001:db8::1', '10.0.0.4'] }], ['two of one family', { clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3', '10.0.0.4'] }], ['not an address', { clusterIP: 'x' }], ['IPv6 on this server', { clusterIP: '2001:db8::1' }], ['address unlike family', { clusterIP: '10.0.0.3', ipFamilies: ['IPv6'] }], ['headless with selector and IPv6', { clusterIP: 'None', selector: { a: 'b' }, ipFamilies: ['IPv6'] }],
  ]),
  ...wrong('ports-invalid', 'ports', [
    ['no ports', { ports: [] }], ['port zero', { ports: [{ port: 0 }] }], ['port missing', { ports: [{ name: 'a' }] }], ['port too large', { ports: [{ port: 65536 }] }], ['targetPort too large', { ports: [{ port: 1, targetPort: 65536 }] }], ['targetPort name', { ports: [{ port: 1, targetPort: 'Not_Ok' }] }], ['protocol', { ports: [{ port: 1, protocol: 'HTTP' }] }], ['names needed for two', { ports: [{ port: 1 }, { port: 2 }] }], ['name twice', { ports: [{ name: 'a', port: 1 }, { name: 'a', port: 2 }] }], ['name invalid', { ports: [{ name: 'A', port: 1 }] }], ['name too long', { ports: [{ name: repeat('a', 64), port: 1 }] }],
    ['port twice', { ports: [{ name: 'a', port: 1 }, { name: 'b', port: 1 }] }], ['appProtocol', { ports: [{ port: 1, appProtocol: 'a b' }] }], ['nodePort on ClusterIP', { ports: [{ port: 1, nodePort: 30001 }] }],
  ]),
  ...wrong('node-ports-invalid', 'node ports', [
    ['below the range', { ports: [{ port: 1, nodePort: 29999 }] }], ['above the range', { ports: [{ port: 1, nodePort: 32768 }] }], ['negative', { ports: [{ port: 1, nodePort: -1 }] }], ['headless', { clusterIP: 'None' }], ['healthCheckNodePort', { healthCheckNodePort: 30022 }], ['externalTrafficPolicy', { externalTrafficPolicy: 'Near' }],
  ], service({ type: 'NodePort' })),
  ...wrong('fields-invalid', 'the other fields of a Service', [
    ['type', { type: 'Magic' }], ['selector key', { selector: { 'a b': 'c' } }], ['selector value', { selector: { a: 'b c' } }], ['sessionAffinity', { sessionAffinity: 'Cookie' }], ['timeout zero', { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } }], ['timeout too long', { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } }], ['externalIPs not an address', { externalIPs: ['x'] }], ['externalIPs loopback', { externalIPs: ['127.0.0.1'] }], ['externalIPs unspecified', { externalIPs: ['0.0.0.0'] }], ['externalIPs link-local', { externalIPs: ['169.254.1.1'] }], ['externalIPs link-local multicast', { externalIPs: ['224.0.0.1'] }],
    ['internalTrafficPolicy', { internalTrafficPolicy: 'Near' }], ['externalTrafficPolicy on ClusterIP', { externalTrafficPolicy: 'Local' }], ['healthCheckNodePort on ClusterIP', { healthCheckNodePort: 30022 }], ['trafficDistribution', { trafficDistribution: 'Far' }], ['trafficDistribution behind a gate', { trafficDistribution: 'PreferSameZone' }], ['loadBalancerSourceRanges on ClusterIP', { loadBalancerSourceRanges: ['10.0.0.0/8'] }], ['allocateLoadBalancerNodePorts on ClusterIP', { allocateLoadBalancerNodePorts: false }], ['loadBalancerClass on ClusterIP', { loadBalancerClass: 'a/b' }],
  ]),
  ...wrong('external-name-invalid', 'ExternalName', [
    ['name missing', {}], ['name invalid', { externalName: 'A_b' }], ['an address is a name too, but a dot alone is not', { externalName: '.' }], ['clusterIP', { externalName: 'a', clusterIP: '10.0.0.5' }], ['clusterIP None', { externalName: 'a', clusterIP: 'None' }], ['ipFamilies', { externalName: 'a', ipFamilies: ['IPv4'] }], ['ipFamilyPolicy', { externalName: 'a', ipFamilyPolicy: 'SingleStack' }],
  ], service({ type: 'ExternalName' })),
  ...wrong('load-balancer-invalid', 'LoadBalancer', [
    ['headless', { clusterIP: 'None' }], ['source range', { loadBalancerSourceRanges: ['10.0.0.0'] }], ['source range with two', { loadBalancerSourceRanges: ['10.0.0.0/8', 'x'] }], ['class', { loadBalancerClass: 'a b' }], ['healthCheckNodePort without Local', { healthCheckNodePort: 30023 }], ['healthCheckNodePort out of range', { externalTrafficPolicy: 'Local', healthCheckNodePort: 1 }], ['externalTrafficPolicy', { externalTrafficPolicy: 'Near' }],
  ], service({ type: 'LoadBalancer' })),
  ...refused('core-service-metadata', { about: 'a Service name is a DNS-1035 label; annotations that the server reads', at, base: service(), part: root }, [
    ['starts with a digit', (o) => { o.metadata.name = '1a'; }], ['with a dot', (o) => { o.metadata.name = 'a.b'; }], ['too long', (o) => { o.metadata.name = repeat('a', 64); }], ['capitals', (o) => { o.metadata.name = 'A'; }], ['source ranges annotation on ClusterIP', (o) => { o.metadata.annotations = { 'service.beta.kubernetes.io/load-balancer-source-ranges': '10.0.0.0/8' }; }], ['source ranges annotation invalid', (o) => { o.spec.type = 'LoadBalancer'; o.metadata.annotations = { 'service.beta.kubernetes.io/load-balancer-source-ranges': '10.0.0.0/8, x' }; }],
    ['topology annotations differ', (o) => { o.metadata.annotations = { 'service.kubernetes.io/topology-aware-hints': 'auto', 'service.kubernetes.io/topology-mode': 'disabled' }; }],
  ]),
  scenario('core-service-cluster-ip-explicit', { section: '7', about: 'an address of one\'s own; the same one again is refused until the Service is gone' }, [
    POST(at, service({ clusterIP: '10.0.0.7' }), { pick: (b) => [b.spec?.clusterIPs, b.message ?? null], note: 'first' }), POST(at, service({ clusterIP: '10.0.0.7' }, { name: 't' }), { note: 'again' }), DELETE(inNs('services', 's'), undefined, { pick: (b) => [b.kind, b.status, b.details ?? null] }),
    POST(at, service({ clusterIP: '10.0.0.7' }, { name: 't' }), { compare: 'status', note: 'free again' }), DELETE(inNs('services', 't'), undefined, { compare: 'status' }),
  ]),
  scenario('core-service-cluster-ip-outside', { section: '7', about: 'addresses outside the ranges of the server, the network address, and the one of the server itself' }, ['192.0.2.1', '10.0.0.0', '10.0.0.1'].map((clusterIP) => POST(at, service({ clusterIP }), { note: clusterIP }))),
  scenario('core-service-node-port-taken', { section: '7', about: 'a node port of another Service cannot be had' }, [
    POST(at, service({ type: 'NodePort' }), { id: 's', compare: 'status' }),
    POST(at, service({ type: 'NodePort', ports: [{ port: 80, nodePort: '${s.spec.ports.0.nodePort}' }] }, { name: 't' }), { pick: nodePortsNamed }), POST(at, service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: '${s.spec.ports.0.nodePort}' }, { name: 'u' }), { pick: nodePortsNamed }),
    DELETE(inNs('services', 's'), undefined, { compare: 'status' }), POST(at, service({ type: 'NodePort', ports: [{ port: 80, nodePort: '${s.spec.ports.0.nodePort}' }] }, { name: 't' }), { compare: 'status', note: 'free again' }),
  ]),
  scenario('core-service-dry-run', { section: '4.8', about: 'a dry run answers as if the address was allocated but keeps nothing' }, [
    POST(at, service({ clusterIP: '10.0.0.8' }), { query: { dryRun: 'All' }, compare: 'status' }), POST(at, service({ clusterIP: '10.0.0.8' }), { query: { dryRun: 'All' }, compare: 'status' }), POST(at, service(), { query: { dryRun: 'All' }, pick: ports }), GET(inNs('services', 's')),
  ]),
  scenario('core-service-delete-endpoints', { section: '3', about: 'deleting a Service deletes the Endpoints of the same name' }, [
    POST(at, service(), { compare: 'status' }), POST(inNs('endpoints'), { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 's' } }, { compare: 'status' }), DELETE(inNs('services', 's')), GET(inNs('endpoints', 's')),
  ]),
];
