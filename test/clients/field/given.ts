/**
 * Fields that the samples of some kinds need only because of validation rules. Fields that the
 * schemas require are not included. The keys are names of definitions.
 */
import type { Fields } from '../every-kind.ts'

const routeSpec = { spec: { rules: [{ backendRefs: [{ name: 'sample', port: 80 }] }] } }
const entrySpec = { spec: { address: '192.0.2.1' } }
const generateSpec = { spec: { generate: [{ expression: 'true' }] } }
const endpointSpec = {
  spec: { endpointSelector: { matchLabels: { app: 'sample' } }, ingress: [{}] },
}
const targetSpec = {
  spec: { targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'sample' }] },
}

export const given: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  [
    'backendtlspolicies.gateway.networking.k8s.io',
    { spec: { validation: { wellKnownCACertificates: 'System' } } },
  ],
  ['tcproutes.gateway.networking.k8s.io', routeSpec],
  ['tlsroutes.gateway.networking.k8s.io', routeSpec],
  ['udproutes.gateway.networking.k8s.io', routeSpec],
  [
    'xbackends.gateway.networking.x-k8s.io',
    { spec: { externalHostname: { hostname: 'sample.example.com' } } },
  ],
  ['trafficextensions.extensions.istio.io', { spec: { lua: { inlineCode: 'return' } } }],
  ['workloadentries.networking.istio.io', entrySpec],
  ['generatingpolicies.policies.kyverno.io', generateSpec],
  ['namespacedgeneratingpolicies.policies.kyverno.io', generateSpec],
  ['ciliumclusterwidenetworkpolicies.cilium.io', endpointSpec],
  ['ciliumnetworkpolicies.cilium.io', endpointSpec],
  // A cluster can contain only one object of this kind, and its name must be `default`.
  ['baselineadminnetworkpolicies.policy.networking.k8s.io', { metadata: { name: 'default' } }],
  ['backendtrafficpolicies.gateway.envoyproxy.io', targetSpec],
  ['clienttrafficpolicies.gateway.envoyproxy.io', targetSpec],
  ['envoyextensionpolicies.gateway.envoyproxy.io', targetSpec],
  ['securitypolicies.gateway.envoyproxy.io', targetSpec],
])
