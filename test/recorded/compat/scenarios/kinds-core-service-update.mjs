// Services: updates, changes of type, and the status subresource.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';
import { inNs, patched, freeNodePorts, freeNodePort, nodePortsNamed } from './kit/kinds-core.mjs';

const at = inNs('services');
const one = inNs('services', 's');
const service = (s = {}, metadata = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's', ...metadata }, spec: { ports: [{ port: 80 }], ...s } });
const ports = (body, raw, norm) => {
  const b = nodePortsNamed(body, raw, norm);
  return b.kind === 'Status' ? b : { generation: b.metadata.generation ?? null, spec: b.spec, status: b.status };
};
const update = (id, about, base, rows, free = 0) => patched(`core-service-update-${id}`, { about, at, base, shown: ports, showBase: true, ...(free ? { before: freeNodePorts(free), pause: 400 } : {}) }, rows.map(([note, s, type]) => [note, type ? s : { spec: s }, type]));
const status = (id, about, base, rows) => patched(`core-service-status-${id}`, { about, at, base, sub: 'status', shown: (b) => ({ spec: b.spec.type, status: b.status }) }, rows.map(([note, s, more]) => [note, { status: s, ...more }]));
const lb = service({ type: 'LoadBalancer' });
const ingress = (...list) => ({ loadBalancer: { ingress: list } });

export default [
  ...update('plain', 'what may change on a ClusterIP Service', service({ clusterIP: '10.0.0.9' }), [
    ['ports', { ports: [{ port: 81 }] }], ['selector', { selector: { a: 'b' } }], ['session affinity', { sessionAffinity: 'ClientIP' }], ['session affinity back', { sessionAffinity: 'None' }], ['clusterIP', { clusterIP: '10.0.0.10' }], ['clusterIP and clusterIPs', { clusterIP: '10.0.0.10', clusterIPs: ['10.0.0.10'] }], ['clusterIPs only', { clusterIPs: ['10.0.0.10'] }], ['to headless', { clusterIP: 'None', clusterIPs: ['None'] }], ['clusterIP emptied is kept', { clusterIP: '', clusterIPs: null }], ['ipFamilies', { ipFamilies: ['IPv6'] }], ['second family', { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' }],
  ]),
  ...update('headless', 'a headless Service stays headless', service({ clusterIP: 'None', selector: { a: 'b' } }), [['clusterIP', { clusterIP: '10.0.0.11', clusterIPs: ['10.0.0.11'] }], ['clusterIP emptied is kept', { clusterIP: '', clusterIPs: null }], ['to NodePort', { type: 'NodePort' }], ['selector removed', { selector: null }]]),
  ...update('type', 'changes of type give back and hand out addresses and ports', service({ clusterIP: '10.0.0.12' }), [
    ['to NodePort', { type: 'NodePort' }], ['to LoadBalancer', { type: 'LoadBalancer' }], ['to Local', { externalTrafficPolicy: 'Local' }], ['back to Cluster', { externalTrafficPolicy: 'Cluster' }], ['back to ClusterIP', { type: 'ClusterIP' }], ['to ExternalName', { type: 'ExternalName', externalName: 'example.com' }], ['back to ClusterIP with an address', { type: 'ClusterIP', clusterIP: '10.0.0.12' }], ['to ExternalName without a name', { type: 'ExternalName', externalName: null }],
  ]),
  ...update('node-port', 'node ports are kept, changed on request and given back', service({ type: 'NodePort', ports: [{ port: 80, nodePort: freeNodePort(0) }] }), [
    ['ports without nodePort keep it', { ports: [{ port: 80 }] }], ['changed', { ports: [{ port: 80, nodePort: freeNodePort(1) }] }], ['another port', { ports: [{ port: 81 }] }], ['two ports', { ports: [{ name: 'a', port: 81, nodePort: freeNodePort(1) }, { name: 'b', port: 82, nodePort: freeNodePort(2) }] }], ['to ClusterIP naming another port', { type: 'ClusterIP', ports: [{ port: 81, nodePort: freeNodePort(0) }] }], ['to ClusterIP', { type: 'ClusterIP' }],
  ], 3),
  ...update('node-port-names', 'ports without a node port get back the one of their name', service({ type: 'NodePort', ports: [{ name: 'a', port: 80, nodePort: freeNodePort(0) }, { name: 'b', port: 81, nodePort: freeNodePort(1) }] }), [
    ['swapped', { ports: [{ name: 'b', port: 80 }, { name: 'a', port: 81 }] }], ['each takes the port of the other', { ports: [{ name: 'a', port: 80, nodePort: freeNodePort(1) }, { name: 'b', port: 81, nodePort: freeNodePort(0) }] }], ['renamed', { ports: [{ name: 'c', port: 80 }] }],
  ], 2),
  ...update('load-balancer', 'fields of a load balancer that cannot change', service({ type: 'LoadBalancer', loadBalancerClass: 'a/b', externalTrafficPolicy: 'Local', healthCheckNodePort: freeNodePort(0) }), [
    ['class', { loadBalancerClass: 'a/c' }], ['class removed', { loadBalancerClass: null }], ['healthCheckNodePort', { healthCheckNodePort: freeNodePort(1) }], ['healthCheckNodePort removed is kept', { healthCheckNodePort: null }], ['allocateLoadBalancerNodePorts', { allocateLoadBalancerNodePorts: false }], ['to ClusterIP with another class', { type: 'ClusterIP', loadBalancerClass: 'a/z' }], ['to ClusterIP', { type: 'ClusterIP' }],
  ], 2),
  scenario('core-service-put-minimal', { section: '4.7', about: 'PUT of the original manifest keeps the allocated address and port' }, [
    POST(at, service({ type: 'NodePort' }), { id: 's', pick: ports }), PUT(one, service({ type: 'NodePort' }), { pick: ports }), PUT(one, { ...service({ type: 'NodePort' }), metadata: { name: 's', resourceVersion: '${s.metadata.resourceVersion}' } }, { pick: ports }),
  ]),
  scenario('core-service-put-creates', { section: '4.7', about: 'PUT to a name that does not exist creates the Service' }, [PUT(one, service()), GET(one, { pick: ports })]),
  scenario('core-service-external-to-cluster', { section: '3', about: 'an ExternalName Service that becomes ClusterIP gets an address' }, [POST(at, service({ type: 'ExternalName', externalName: 'a' }), { pick: ports }), PATCH(one, 'merge', { spec: { type: 'ClusterIP', externalName: null } }, { pick: ports })]),

  ...status('load-balancer', 'status of a load balancer and its validation', lb, [
    ['ip gets ipMode', ingress({ ip: '192.0.2.1' })], ['every field', { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'Proxy', ports: [{ port: 80, protocol: 'TCP', error: 'example.com/e' }] }, { hostname: 'a.example.com' }] }, conditions: [{ type: 'example.com/x', status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2001-02-03T04:05:06Z', observedGeneration: 1 }] }], ['ip invalid', ingress({ ip: 'x' })], ['ipMode invalid', ingress({ ip: '192.0.2.1', ipMode: 'Direct' })], ['ipMode without ip', ingress({ hostname: 'a', ipMode: 'VIP' })], ['hostname invalid', ingress({ hostname: 'A_b' })], ['hostname is an address', ingress({ hostname: '192.0.2.1' })], ['spec is ignored', {}, { spec: { type: 'ClusterIP' } }],
  ]),
  ...status('cluster-ip', 'only a load balancer may have ingress addresses', service(), [['ingress', ingress({ ip: '192.0.2.1' })], ['conditions', { conditions: [{ type: 'x', status: 'True', reason: 'R', message: '', lastTransitionTime: '2001-02-03T04:05:06Z' }] }]]),
  scenario('core-service-status-cleared', { section: '3', about: 'a change away from LoadBalancer clears the load balancer status' }, [POST(at, lb, { pick: ports }), PATCH(`${one}/status`, 'merge', { status: ingress({ ip: '192.0.2.1' }) }, { pick: ports }), PATCH(one, 'merge', { spec: { type: 'ClusterIP' } }, { pick: ports })]),
];
