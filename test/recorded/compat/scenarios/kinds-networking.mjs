// networking.k8s.io/v1: NetworkPolicy, Ingress, IngressClass, IPAddress, ServiceCIDR.
import { scenario, POST, PATCH } from '../steps.ts';
import { kind, tidy } from './kit/kinds-groups.mjs';

const apiVersion = 'networking.k8s.io/v1';
const policy = kind({ apiVersion, resource: 'networkpolicies', kind: 'NetworkPolicy' });
const service = (port = { number: 80 }, name = 's') => ({ service: { name, port } });
const ingress = kind({ apiVersion, resource: 'ingresses', kind: 'Ingress', base: { spec: { defaultBackend: service() } } });
const ingressClass = kind({ apiVersion, resource: 'ingressclasses', kind: 'IngressClass', cluster: true, base: { spec: { controller: 'example.com/c' } } });
const parentRef = { resource: 'services', namespace: 'n', name: 's' };
const address = kind({ apiVersion, resource: 'ipaddresses', kind: 'IPAddress', cluster: true, name: '198.51.100.7', base: { spec: { parentRef } } });
const serviceCidr = kind({ apiVersion, resource: 'servicecidrs', kind: 'ServiceCIDR', cluster: true, base: { spec: { cidrs: ['192.0.2.0/24'] } } });

const from = (...peers) => ({ 'spec.ingress': [{ from: peers }] });
const to = (...peers) => ({ 'spec.egress': [{ to: peers }] });
const ports = (...p) => ({ 'spec.ingress': [{ ports: p }] });
const block = (cidr, ...except) => from({ ipBlock: { cidr, ...(except.length ? { except } : {}) } });

const rule = (o) => ({ 'spec.rules': [{ host: 'example.com', ...o }] });
const path = (o) => rule({ http: { paths: [{ path: '/', pathType: 'Prefix', backend: service(), ...o }] } });
const backend = (b) => ({ 'spec.defaultBackend': b });
const host = (h) => ({ 'spec.rules': [{ host: h }] });
const tls = (o) => ({ 'spec.tls': [o] });

const parameters = (p) => ({ 'spec.parameters': { kind: 'K', name: 'n', ...p } });

export default [
  // NetworkPolicy
  ...policy.creates({
    minimal: {},
    'empty-spec': { spec: {} },
    maximal: { spec: {
      podSelector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'NotIn', values: ['d'] }] }, policyTypes: ['Egress', 'Ingress'],
      ingress: [{ from: [{ podSelector: {} }, { namespaceSelector: { matchLabels: { n: 's' } }, podSelector: { matchLabels: { p: 'd' } } }, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.2.3.4/32'] } }], ports: [{ port: 80 }, { protocol: 'UDP', port: 'dns' }, { protocol: 'SCTP', port: 1000, endPort: 2000 }, {}] }, {}],
      egress: [{ to: [{ ipBlock: { cidr: '2001:db8::/32', except: ['2001:db8:1::/48'] } }, { podSelector: { matchLabels: { a: 'b' } }, namespaceSelector: { matchLabels: { a: 'b' } } }], ports: [{ protocol: 'TCP' }, { port: 8000, endPort: 9000 }] }] } },
    'types-from-egress': { 'spec.egress': [{}] },
    'types-from-empty-egress': { 'spec.egress': [] },
    'types-given': { 'spec.egress': [{}], 'spec.policyTypes': ['Ingress'] },
  }),
  ...policy.accepts({
    'policy-types': [{ 'spec.policyTypes': ['Ingress', 'Ingress'] }, { 'spec.policyTypes': ['Egress'] }],
    'end-port': ports({ port: 80, endPort: 80 }),
    'ip-block': [block('10.0.0.1/8'), block('010.0.0.0/8'), block('::ffff:10.0.0.0/104'), block('10.0.0.0/8', '10.1.2.3/16')],
  }),
  ...policy.refuses({
    'pod-selector': { 'spec.podSelector': { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    'policy-types': [{ 'spec.policyTypes': ['Both'] }, { 'spec.policyTypes': ['Ingress', 'Egress', 'Ingress'] }],
    peer: [from({}), from({ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }), from({ podSelector: { matchLabels: { a: 'bad value' } } }), from({ namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'Exists', values: ['v'] }] } }), to({})],
    'ip-block': [from({ ipBlock: {} }), block(''), block('10.0.0.0'), block('10.0.0.0/33'), block('word'), to({ ipBlock: { cidr: '1.2.3.4.5/8' } })],
    'ip-block-except': [block('10.0.0.0/8', '11.0.0.0/16'), block('10.0.0.0/8', '10.0.0.0/8'), block('10.0.0.0/16', '10.0.0.0/8'), block('10.0.0.0/8', 'word'), block('10.0.0.0/8', '2001:db8::/32')],
    'port-protocol': [ports({ protocol: 'ICMP' }), ports({ protocol: 'tcp' })],
    'port-number': [ports({ port: 0 }), ports({ port: 65536 }), ports({ port: -1 }), { 'spec.egress': [{ ports: [{ port: 70000 }] }] }],
    'port-name': [ports({ port: '' }), ports({ port: 'Upper' }), ports({ port: 'a'.repeat(16) }), ports({ port: '80' }), ports({ port: 'a--b' }), ports({ port: '-a' })],
    'end-port': [ports({ endPort: 80 }), ports({ port: 'http', endPort: 80 }), ports({ port: 80, endPort: 79 }), ports({ port: 80, endPort: 65536 })],
  }),
  ...policy.updates({ any: [{ spec: { podSelector: { matchLabels: { x: 'y' } }, policyTypes: null, egress: [{}] } }, { spec: { ingress: [{ from: [{}] }] } }, { spec: null }] }, { from: { 'spec.podSelector': {} } }),
  ...policy.puts({ from: { 'spec.podSelector': {} } }),
  ...policy.strategy({ from: { 'spec.podSelector': {} }, spec: { spec: { policyTypes: ['Egress'] } } }),

  // Ingress
  ...ingress.creates({
    minimal: {},
    maximal: { 'metadata.annotations': { 'kubernetes.io/ingress.class': 'c' }, spec: {
      ingressClassName: 'c', defaultBackend: { resource: { apiGroup: 'example.com', kind: 'Bucket', name: 'b' } }, tls: [{ hosts: ['a.example.com', '*.example.com'], secretName: 's' }, {}],
      rules: [
        { host: 'a.example.com', http: { paths: [{ path: '/a', pathType: 'Exact', backend: service({ name: 'http' }) }, { path: '/b', pathType: 'Prefix', backend: service({ number: 8080 }) }, { pathType: 'ImplementationSpecific', backend: { resource: { kind: 'K', name: 'n' } } }] } },
        { host: '*.example.com', http: { paths: [{ path: '/*', pathType: 'ImplementationSpecific', backend: service() }] } }, { host: 'bare.example.com' }] } },
    'rule-without-host': { 'spec.defaultBackend': undefined, 'spec.rules': [{ http: { paths: [{ pathType: 'Prefix', path: '/', backend: service() }] } }] },
    'class-annotation-only': { 'metadata.annotations': { 'kubernetes.io/ingress.class': 'old' } },
  }),
  ...ingress.accepts({
    host: ['localhost', '*.a', '1.2.3', 'a-b.c'].map(host),
    tls: [tls({ hosts: [] }), tls({ secretName: '' }), tls({ hosts: ['1.2.3.4'] })],
    'service-name': [backend(service({ number: 1 }, 'a')), backend(service({ name: 'http' }))],
  }),
  ...ingress.refuses({
    spec: [{ spec: undefined }, { 'spec.defaultBackend': undefined }, { spec: { rules: [] } }],
    host: ['1.2.3.4', '2001:db8::1', 'UPPER.example.com', '*', 'a.*.com', '*a.com', 'a_b', 'a.com:80', '-a.com', '*.*.com', '.com', 'a'.repeat(254)].map(host),
    paths: [rule({ http: {} }), rule({ http: { paths: [] } })],
    'path-type': [path({ pathType: undefined }), path({ pathType: 'Regex' }), path({ pathType: '' })],
    path: ['', 'a', '/a//b', '/a/./b', '/a/../b', '/a%2fb', '/a%2Fb', '/a/..', '/a/.', undefined].map((p) => path({ path: p })),
    'path-implementation-specific': [path({ pathType: 'ImplementationSpecific', path: 'a' })],
    backend: [backend({}), backend({ ...service(), resource: { kind: 'K', name: 'n' } }), path({ backend: {} }), path({ backend: undefined })],
    'backend-service': [backend({ service: {} }), backend(service({ number: 80 }, 'A')), backend(service({ number: 80 }, '1a')), backend(service({ number: 80 }, 'a'.repeat(64))), backend(service({ number: 80 }, ''))],
    'backend-port': [backend(service({})), backend(service({ number: 80, name: 'http' })), backend(service({ number: 65536 })), backend(service({ number: -1 })), backend(service({ name: 'UPPER' })), backend(service({ name: 'a'.repeat(16) }))],
    'backend-resource': [backend({ resource: {} }), backend({ resource: { apiGroup: 'Bad_Group', kind: 'a/b', name: 'c%' } }), backend({ resource: { apiGroup: '', kind: 'K', name: 'n' } })],
    tls: [tls({ hosts: ['UPPER', '*', 'a.*.b'] }), tls({ secretName: 'Bad_Name' })],
    'class-name': [{ 'spec.ingressClassName': '' }, { 'spec.ingressClassName': 'A' }],
    'class-annotation': { 'metadata.annotations': { 'kubernetes.io/ingress.class': 'one' }, 'spec.ingressClassName': 'two' },
  }),
  ...ingress.updates({
    any: [{ spec: { rules: [{ host: 'b.example.com' }] } }, { spec: { defaultBackend: null } }, { spec: { defaultBackend: { service: null, resource: { kind: 'K', name: 'n' } } } }],
    'class-annotation-mismatch': [{ metadata: { annotations: { 'kubernetes.io/ingress.class': 'one' } }, spec: { ingressClassName: 'two' } }],
  }),
  ...ingress.statuses({
    'load-balancer': [
      { loadBalancer: { ingress: [{ ip: '1.2.3.4', ports: [{ port: 80, protocol: 'TCP', error: 'example.com/e' }] }, { hostname: 'h.example.com' }, { ip: '2001:db8::1' }] } },
      { loadBalancer: { ingress: [{ ip: 'word' }, { hostname: '1.2.3.4' }, { hostname: 'Bad_Host' }] } },
      { loadBalancer: { ingress: [{ ports: [{ port: -1, protocol: 'X' }] }] } },
      { loadBalancer: { ingress: [{ ip: '010.1.1.1' }] } },
    ],
  }),
  ...ingress.puts(),
  ...ingress.strategy({ status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }, spec: { spec: { ingressClassName: 'c' } } }),

  // IngressClass
  ...ingressClass.creates({
    minimal: {},
    maximal: { 'spec.parameters': { apiGroup: 'example.com', kind: 'K', name: 'n', scope: 'Namespace', namespace: 'ns' } },
    'parameters-scope-default': parameters({}),
  }),
  ...ingressClass.accepts({ 'default-class': { 'metadata.annotations': { 'ingressclass.kubernetes.io/is-default-class': 'true' } }, 'parameters-of-cluster': parameters({ scope: 'Cluster', apiGroup: 'example.com' }), 'controller-path': { 'spec.controller': 'example.com/a/b-c/d' } }),
  ...ingressClass.refuses({
    name: { 'metadata.name': 'A' },
    controller: [{ spec: undefined }, { 'spec.controller': '' }, { 'spec.controller': 'example.com' }, { 'spec.controller': 'Example.com/c' }, { 'spec.controller': '/c' }, { 'spec.controller': 'example.com/' }, { 'spec.controller': `example.com/${'a'.repeat(239)}` }, { 'spec.controller': 'example.com/a b' }],
    parameters: [{ 'spec.parameters': {} }, parameters({ apiGroup: 'Bad_Group' }), parameters({ kind: 'a/b', name: '..' })],
    'parameters-scope': [parameters({ scope: 'Node' }), parameters({ scope: 'Namespace' }), parameters({ scope: 'Namespace', namespace: 'Bad' }), parameters({ scope: 'Cluster', namespace: 'ns' }), parameters({ namespace: 'ns' }), parameters({ scope: '' })],
  }),
  ...ingressClass.updates({
    controller: [{ spec: { controller: 'example.com/other' } }, { spec: { controller: 'bad' } }],
    parameters: [{ spec: { parameters: { kind: 'K', name: 'n' } } }, { spec: { parameters: { kind: 'K' } } }],
  }),
  ...ingressClass.puts(),
  ...ingressClass.strategy({ spec: { spec: { parameters: { kind: 'K', name: 'n' } } } }),

  // IPAddress
  ...address.accepts({
    minimal: {},
    maximal: { 'spec.parentRef': { group: 'example.com', resource: 'gateways', namespace: 'n', name: 's' } },
    name: ['2001:db8::abcd', '::1', '255.255.255.255'].map((name) => ({ 'metadata.name': name })),
  }),
  ...address.refuses({
    name: ['word', '1.2.3', '01.2.3.4', '1.2.3.4/32', '2001:DB8::1', '2001:db8:0::1', '::ffff:1.2.3.4', '1.2.3.4 '].map((name) => ({ 'metadata.name': name })),
    'generate-name': { 'metadata.name': undefined, 'metadata.generateName': '1.2.3.' },
    'parent-ref': [{ spec: undefined }, { spec: {} }, { 'spec.parentRef': {} }, { 'spec.parentRef': { group: 'Bad_Group', resource: 'a/b', namespace: 'c%', name: '..' } }],
  }),
  scenario('ipaddress-update', { section: '4.7', about: 'IPAddress: the parent is fixed', namespace: false, cleanup: ['/apis/networking.k8s.io/v1/ipaddresses/198.51.100.9'] }, [
    POST(address.list, address.object({ 'metadata.name': '198.51.100.9', 'metadata.generation': 3 }), { pick: tidy }),
    ...[{ spec: { parentRef: { name: 'other' } } }, { spec: { parentRef: null } }, { metadata: { labels: { l: 'v' } } }].map((p) => PATCH(`${address.list}/198.51.100.9`, 'merge', p, { pick: tidy })),
  ]),

  ...kind({ apiVersion, resource: 'ipaddresses', kind: 'IPAddress', cluster: true, name: '198.51.100.20', base: { spec: { parentRef } } }).puts({ absent: '198.51.100.21' }),

  // ServiceCIDR: never created for good, since it would take part in the allocation of service addresses.
  ...serviceCidr.accepts({
    minimal: {},
    'dual-stack': [{ 'spec.cidrs': ['192.0.2.0/24', '2001:db8::/64'] }, { 'spec.cidrs': ['2001:db8::/64', '192.0.2.0/24'] }],
    'status-dropped': { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'R', message: '', lastTransitionTime: '2020-01-01T00:00:00Z' }] } },
  }),
  ...serviceCidr.refuses({
    name: { 'metadata.name': 'A' },
    cidrs: [{ spec: undefined }, { 'spec.cidrs': [] }, { 'spec.cidrs': ['192.0.2.0/24', '2001:db8::/64', '198.51.100.0/24'] }, { 'spec.cidrs': ['192.0.2.0/24', '198.51.100.0/24'] }, { 'spec.cidrs': ['2001:db8::/64', '2001:db8:1::/64'] }],
    'cidr-format': ['word', '192.0.2.0', '192.0.2.1/24', '192.0.2.0/33', '192.000.2.0/24', '2001:DB8::/64', '2001:db8:0::/64', '::ffff:192.0.2.0/120'].map((c) => ({ 'spec.cidrs': [c] })),
  }),
  scenario('servicecidr-update', { section: '4.7', about: 'ServiceCIDR: the ranges are fixed, but a second family may be added', namespace: false }, [
    ...[['192.0.2.0/24'], [], null, ['192.0.2.0/24', '2001:db8::/64'], ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24']].map((cidrs) => PATCH('/apis/networking.k8s.io/v1/servicecidrs/kubernetes', 'merge', { spec: { cidrs } }, { query: { dryRun: 'All' }, pick: tidy })),
  ]),
];
