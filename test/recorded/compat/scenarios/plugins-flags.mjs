// Flags of admission: default tolerations, a server without NamespaceLifecycle, and webhooks that are called at endpoints.
import { scenario, PATCH, POST, SLEEP } from '../steps.ts';
import { CM, DEPLOYMENTS, PODS, allow, cm, deployment, hooked, only, pod, quiet, validating, webhook } from './kit/admission.mjs';

const tolerations = only('spec.tolerations');
const tolerating = (id, about, steps) => scenario(`plugins-tolerations-${id}`, { section: '7', about, needs: 'plugins-tolerations' }, steps);
const homeless = (id, about, steps) => scenario(`plugins-no-lifecycle-${id}`, { section: '7', about, needs: 'plugins-no-lifecycle', namespace: false }, steps);
const nowhere = (path) => path.replace('$ns', '$ns-none');

const SERVICES = '/api/v1/namespaces/$ns/services';
const service = (spec = {}) => POST(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ name: 'https', port: 443, targetPort: 8443 }], ...spec } }, quiet);
const endpoints = (subsets, name = 's') => POST('/api/v1/namespaces/$ns/endpoints', { apiVersion: 'v1', kind: 'Endpoints', metadata: { name }, subsets }, quiet);
const slice = (addresses) => POST('/apis/discovery.k8s.io/v1/namespaces/$ns/endpointslices', { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 's-1', labels: { 'kubernetes.io/service-name': 's' } }, addressType: 'IPv4', endpoints: [{ addresses, conditions: { ready: true } }], ports: [{ name: 'https', port: 8443 }] }, quiet);
/** Addresses that refuse: what is told names the one that was tried. */
const routed = (id, about, steps, { port = 443, options } = {}) =>
  hooked(`hooks-routing-${id}`, about, validating(webhook('h', { timeoutSeconds: 2, clientConfig: { service: { name: 's', namespace: '$ns', port, path: '/p' }, caBundle: '${caBundle}' } })), { hooks: { h: allow }, needs: 'hooks-routing' }, [...steps, SLEEP(1000), POST(CM, cm(), options)]);
const ip = (address) => ({ ip: address });
const https = [{ name: 'https', port: 8443 }];

export default [
  tolerating('default', 'how long a pod tolerates by default', [POST(PODS, pod(), tolerations)]),
  tolerating('given', 'one of the two is given', [POST(PODS, pod('p', { tolerations: [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 7 }] }), tolerations)]),
  tolerating('update', 'an update has them still', [POST(PODS, pod(), quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, tolerations)]),
  tolerating('workload', 'a template gets none', [POST(DEPLOYMENTS, deployment(), only('spec.template.spec.tolerations'))]),
  homeless('pod', 'a pod in a namespace that is not there: PodSecurity fails', [POST(nowhere(PODS), pod())]),
  homeless('workload', 'a workload in one: it is stored', [POST(nowhere(DEPLOYMENTS), deployment(), { ...quiet, query: { dryRun: 'All' } }), POST(nowhere(CM), cm(), { ...quiet, query: { dryRun: 'All' } })]),
  routed('no-service', 'no service', []),
  routed('no-endpoints', 'a service without endpoints', [service()]),
  routed('empty', 'endpoints without an address', [service(), endpoints([])]),
  routed('not-ready', 'endpoints that are not ready', [service(), endpoints([{ notReadyAddresses: [ip('10.255.255.1')], ports: https }])]),
  routed('port', 'a service without that port', [service(), endpoints([{ addresses: [ip('10.255.255.1')], ports: https }])], { port: 444 }),
  routed('port-name', 'endpoints without the port of that name', [service(), endpoints([{ addresses: [ip('10.255.255.1')], ports: [{ name: 'http', port: 80 }] }])]),
  routed('headless', 'a service without a cluster IP, and no endpoints', [service({ clusterIP: 'None' })]),
  routed('external', 'a service of type ExternalName', [service({ type: 'ExternalName', externalName: 'nowhere.invalid', ports: [] })]),
  // Since 1.34, the server looks at it, and calls the address. What answers depends on the network.
  routed('slice', 'an EndpointSlice alone is not looked at', [service(), slice(['10.255.255.1'])], { options: { pick: ({ message }) => (message.includes('not found') ? message : 'called') } }),
];
