// Fields behind feature gates, each with its gate on and off: kept and checked, or dropped without a word.
import { gated } from './kit/gates.mjs';
import { GET, PATCH, POST, PUT } from '../steps.ts';

const PODS = '/api/v1/namespaces/$ns/pods';
const container = (o = {}) => ({ name: 'c', image: 'i', ...o });
const pod = (name, spec = {}, c = {}, metadata = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: { containers: [container(c)], ...spec } });
const pods = (...specs) => specs.map(([spec, c], at) => POST(PODS, pod(`p${at}`, spec, c)));
const claimed = { resourceClaims: [{ name: 'a', resourceClaimName: 'x' }] };
const resized = { pick: (b) => b.details?.causes?.map(({ field, message }) => [field, message]) ?? (b.spec ? [...(b.spec.initContainers ?? []), ...b.spec.containers].map(({ name, resources }) => [name, resources]) : b.message) };
const linux = { os: { name: 'linux' } };

export default [
  ...gated('stop-signals', false, 'lifecycle.stopSignal', pods(
    [linux, { lifecycle: { stopSignal: 'SIGUSR1' } }],
    [{}, { lifecycle: { stopSignal: 'SIGUSR1' } }],
    [linux, { lifecycle: { stopSignal: 'SIGNONE' } }],
    [{ os: { name: 'windows' } }, { lifecycle: { stopSignal: 'SIGUSR1' } }],
    [{ os: { name: 'windows' } }, { lifecycle: { stopSignal: 'SIGKILL', preStop: { exec: { command: ['a'] } } } }],
  )),
  ...gated('pod-level-resources', false, 'spec.resources', [
    ...pods(
      [{ resources: { requests: { cpu: '1' }, limits: { cpu: '2', memory: '1Gi' } } }],
      [{ resources: { requests: { cpu: '3' }, limits: { cpu: '2' } } }],
      [{ resources: { limits: { 'example.com/x': '2' } } }],
      [{ resources: { limits: { cpu: '-1' } } }],
      [{ resources: { requests: { cpu: '1' } } }, { resources: { requests: { cpu: '2' } } }],
      [{ resources: { limits: { cpu: '1' } } }, { resources: { limits: { cpu: '2' } } }],
      [{ resources: { requests: { 'hugepages-2Mi': '4Mi' } } }],
      [{ resources: { limits: { cpu: '1' }, claims: [{ name: 'x' }] } }],
      [{ resources: {} }],
    ),
    PATCH(`${PODS}/p0`, 'merge', { spec: { resources: { limits: { cpu: '4' } } } }, { compare: 'status' }),
    PATCH(`${PODS}/p0`, 'merge', { metadata: { labels: { a: 'b' } } }),
  ]),
  ...gated('image-volume', false, 'volumes of type image', pods(
    [{ volumes: [{ name: 'v', image: { reference: 'r', pullPolicy: 'Always' } }] }, { volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    [{ volumes: [{ name: 'v', image: { reference: 'r:latest' } }] }, { volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 's' }] }],
    [{ volumes: [{ name: 'v', image: { reference: '' } }] }],
    [{ volumes: [{ name: 'v', image: { reference: 'r', pullPolicy: 'Seldom' } }] }],
    [{ volumes: [{ name: 'v', image: { reference: 'r' } }] }, { volumeMounts: [{ name: 'v', mountPath: '/v', subPathExpr: '$(A)' }] }],
    [{ volumes: [{ name: 'v', image: { reference: 'r' }, emptyDir: {} }] }],
  )),
  ...gated('resource-claims', false, 'resourceClaims of a pod', [
    ...pods(
      [{ resourceClaims: [{ name: 'a', resourceClaimName: 'x' }] }, { resources: { claims: [{ name: 'a' }] } }],
      [{ resourceClaims: [{ name: 'a', resourceClaimTemplateName: 'x' }] }, { resources: { claims: [{ name: 'a', request: 'r' }] } }],
      [{ resourceClaims: [{ name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'x' }] }],
      [{ resourceClaims: [{ name: 'a' }] }],
      [{ resourceClaims: [{ name: 'A!' , resourceClaimName: 'X!' }, { name: 'A!', resourceClaimName: 'x' }] }],
      [{}, { resources: { claims: [{ name: 'a' }, { name: 'a' }] } }],
      [{ resourceClaims: [{ name: 'a', resourceClaimName: 'x' }] }, { resources: { claims: [{ name: 'a' }, { name: 'a', request: 'b' }] } }],
    ),
    PATCH(`${PODS}/p0/status`, 'merge', { status: { resourceClaimStatuses: [{ name: 'a', resourceClaimName: 'y' }] } }),
    PATCH(`${PODS}/p0/status`, 'merge', { status: { resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'Y!' }] } }),
  ]),
  ...gated('resize-claims', false, 'a resize of containers with and without claims', [
    ...[['p0', [{ name: 'a' }], 'containers'], ['p1', undefined, 'containers'], ['p2', [{ name: 'a' }], 'initContainers'], ['p3', [{ name: 'a' }], 'sidecars']].flatMap(([name, claims, where]) => {
      const one = (n, o) => container({ name: n, resources: { requests: { cpu: '1' }, ...o } });
      const init = where === 'containers' ? {} : { initContainers: [{ ...one('i', { claims }), ...(where === 'sidecars' ? { restartPolicy: 'Always' } : {}) }] };
      const containers = [one('c', where === 'containers' ? { claims } : {}), one('d', {})];
      return [POST(PODS, pod(name, { ...claimed, containers, ...init }), resized)];
    }),
    ...['p0', 'p1', 'p2', 'p3'].flatMap((name) => [
      PATCH(`${PODS}/${name}/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } }, resized),
      PATCH(`${PODS}/${name}/resize`, 'strategic', { spec: { containers: [{ name: 'd', resources: { requests: { cpu: '3' } } }] } }, resized),
      PATCH(`${PODS}/${name}/resize`, 'strategic', {}, resized),
      PATCH(`${PODS}/${name}/resize`, 'json-patch', [{ op: 'add', path: '/spec/containers/1/resources/claims', value: [{ name: 'a' }] }], resized),
      PATCH(`${PODS}/${name}/resize`, 'json-patch', [{ op: 'add', path: '/spec/containers/1/resources/claims', value: [{ name: 'b' }] }], resized),
      PATCH(`${PODS}/${name}/resize`, 'json-patch', [{ op: 'remove', path: '/spec/containers/0/resources/claims' }], resized),
      PATCH(`${PODS}/${name}/resize`, 'strategic', { spec: { initContainers: [{ name: 'i', resources: { requests: { cpu: '2' } } }] } }, resized),
    ]),
  ]),
  ...gated('trust-bundle-projection', false, 'projected cluster trust bundles', pods(
    [{ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'a', path: 'p' } }] } }] }],
    [{ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { signerName: 'example.com/a', labelSelector: {}, path: 'p', optional: true } }] } }] }],
    [{ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'a', signerName: 'example.com/a', path: 'p' } }] } }] }],
    [{ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { path: '../p' } }] } }] }],
    [{ volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'A!', path: '' } }] } }] }],
  )),
  ...gated('user-namespaces', true, 'hostUsers', pods(
    [{ hostUsers: false }],
    [{ hostUsers: true }],
    [{ hostUsers: false, hostNetwork: true }],
    [{ hostUsers: false, hostPID: true }],
    [{ hostUsers: false }, { volumeDevices: [{ name: 'v', devicePath: '/d' }] }],
  )),
  ...gated('supplemental-groups-policy', true, 'supplementalGroupsPolicy', pods(
    [{ securityContext: { supplementalGroupsPolicy: 'Strict' } }],
    [{ securityContext: { supplementalGroupsPolicy: 'Lax' } }],
    [{ ...({ os: { name: 'windows' } }), securityContext: { supplementalGroupsPolicy: 'Strict' } }],
  )),
  ...gated('supplemental-groups-status', true, 'users of containers, and whether a node knows the policy', [
    ...pods([{}], [{ securityContext: { supplementalGroupsPolicy: 'Strict' } }]),
    ...['p0', 'p1'].map((name) => PATCH(`${PODS}/${name}/status`, 'merge', { status: { containerStatuses: [{ name: 'c', image: 'i', imageID: 'x', ready: true, restartCount: 0, user: { linux: { uid: 1, gid: 2, supplementalGroups: [3] } } }] } })),
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n' }, spec: { configSource: { configMap: { name: 'a', namespace: 'b', kubeletConfigKey: 'c' } } }, status: { features: { supplementalGroupsPolicy: true }, config: { error: 'e' } } }, { pick: ({ spec, status }) => ({ spec, status }) }),
    PATCH('/api/v1/nodes/$ns-n', 'merge', { spec: { configSource: { configMap: { name: 'a', namespace: 'b', kubeletConfigKey: 'c' } } } }, { pick: ({ spec, status }) => ({ spec, status }) }),
    PATCH('/api/v1/nodes/$ns-n/status', 'merge', { status: { config: { error: 'e' }, features: { supplementalGroupsPolicy: true } } }, { pick: (b) => b.status }),
  ], { cleanup: ['/api/v1/nodes/$ns-n'] }),
  ...gated('selinux-change-policy', true, 'seLinuxChangePolicy', pods(
    [{ securityContext: { seLinuxChangePolicy: 'Recursive' } }],
    [{ securityContext: { seLinuxChangePolicy: 'MountOption' } }],
    [{ securityContext: { seLinuxChangePolicy: 'Never' } }],
    [{ ...({ os: { name: 'windows' } }), securityContext: { seLinuxChangePolicy: 'Recursive' } }],
  )),
  ...gated('proc-mount', true, 'procMount', pods(
    [{ hostUsers: false }, { securityContext: { procMount: 'Unmasked' } }],
    [{}, { securityContext: { procMount: 'Unmasked' } }],
    [{}, { securityContext: { procMount: 'Default' } }],
    [{}, { securityContext: { procMount: 'Other' } }],
  )),
  ...gated('sleep-action', true, 'lifecycle handlers that sleep', pods(
    [{}, { lifecycle: { preStop: { sleep: { seconds: 5 } } } }],
    [{}, { lifecycle: { preStop: { sleep: { seconds: 0 } } } }],
    [{}, { lifecycle: { preStop: { sleep: { seconds: -1 } } } }],
    [{}, { lifecycle: { preStop: { sleep: { seconds: 31 } } } }],
    [{}, { lifecycle: { postStart: { sleep: { seconds: 5 }, exec: { command: ['a'] } } } }],
  )),
  ...gated('spread-match-label-keys', true, 'matchLabelKeys of topology spread constraints', pods(
    [{ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } }, matchLabelKeys: ['k'] }] }],
    [{ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', matchLabelKeys: ['k'] }] }],
    [{ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { k: 'b' } }, matchLabelKeys: ['k', 'k!'] }] }],
  )),
  ...gated('dns-search', true, 'dnsConfig.searches with dots and underscores', pods(
    [{ dnsConfig: { searches: ['_srv._tcp.example.com'] } }],
    [{ dnsConfig: { searches: ['.'] } }],
    [{ dnsConfig: { searches: ['a_b.example.com.'] } }],
    [{ dnsConfig: { searches: ['-x'] } }],
  )),
  ...gated('env-names', true, 'names of environment variables', [
    ...pods(
      [{}, { env: [{ name: '1a', value: 'x' }, { name: 'a b', value: 'x' }, { name: 'ä', value: 'x' }] }],
      [{}, { env: [{ name: 'a=b', value: 'x' }] }],
      [{}, { env: [{ name: '', value: 'x' }] }],
      [{}, { envFrom: [{ prefix: '1-', configMapRef: { name: 'c' } }] }],
      [{}, { envFrom: [{ prefix: '=', secretRef: { name: 'c' } }] }],
    ),
  ]),
  ...gated('resize', true, 'resizePolicy and the subresource resize', [
    ...pods(
      [{}, { resources: { requests: { cpu: '1' }, limits: { cpu: '1' } }, resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }],
      [{}, { resizePolicy: [{ resourceName: 'gpu', restartPolicy: 'Never' }] }],
      [{}, { resources: { limits: { cpu: '1', memory: '1Gi' } } }],
    ),
    GET(`${PODS}/p0/resize`),
    PATCH(`${PODS}/p0/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }] } }),
    PATCH(`${PODS}/p0`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }] } }, { compare: 'status' }),
    PATCH(`${PODS}/p0/status`, 'merge', { status: { resize: 'Proposed', containerStatuses: [{ name: 'c', image: 'i', imageID: 'x', ready: true, restartCount: 0, allocatedResources: { cpu: '1' }, resources: { requests: { cpu: '1' } } }] } }),
  ]),
  ...gated('allocated-status', false, 'allocatedResources of container statuses', [
    ...pods([{}]),
    PATCH(`${PODS}/p0/status`, 'merge', { status: { containerStatuses: [{ name: 'c', image: 'i', imageID: 'x', ready: true, restartCount: 0, allocatedResources: { cpu: '1' }, allocatedResourcesStatus: [{ name: 'example.com/x', resources: [{ resourceID: 'a', health: 'Healthy' }] }] }] } }),
    PATCH(`${PODS}/p0/status`, 'merge', { status: { containerStatuses: [{ name: 'c', image: 'i', imageID: 'x', ready: true, restartCount: 0, allocatedResourcesStatus: [{ name: 'claim:a', resources: [{ resourceID: 'a', health: 'Bad' }, { resourceID: 'a' }] }] }] } }),
  ]),
  ...gated('observed-generation', false, 'observedGeneration of pods', [
    ...pods([{}]),
    PATCH(`${PODS}/p0/status`, 'merge', { status: { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True', observedGeneration: 1 }] } }),
    PATCH(`${PODS}/p0/status`, 'merge', { status: { observedGeneration: -1 } }),
    PATCH(`${PODS}/p0`, 'strategic', { spec: { containers: [{ name: 'c', image: 'j' }] } }),
  ]),
  ...gated('topology-labels', false, 'labels of the topology on bound pods', [
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n', labels: { 'topology.k8s.io/zone': 'z', 'topology.k8s.io/region': 'r', 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', 'kubernetes.io/hostname': 'h', other: 'x' } } }, { compare: 'status' }),
    ...pods([{}]),
    POST(`${PODS}/p0/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p0' }, target: { kind: 'Node', name: '$ns-n' } }),
    GET(`${PODS}/p0`),
    POST(PODS, pod('p1', { nodeName: '$ns-n' })),
  ], { cleanup: ['/api/v1/nodes/$ns-n'] }),
  ...gated('strict-ip', false, 'addresses in unusual forms', [
    POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: [{ port: 1 }], externalIPs: ['010.1.2.3'] } }, { ignore: ['spec.clusterIP', 'spec.clusterIPs'] }),
    POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'b' }, spec: { type: 'LoadBalancer', ports: [{ port: 1, nodePort: 0 }], loadBalancerSourceRanges: ['10.1.2.3/8', ' 10.0.0.0/8 '] } }, { compare: 'status' }),
    POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'c' }, spec: { ports: [{ port: 1 }], clusterIP: '010.0.0.77' } }),
    POST('/apis/networking.k8s.io/v1/namespaces/$ns/networkpolicies', { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'a' }, spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.1.2.3/8', except: ['010.1.0.0/16'] } }] }] } }),
    POST('/api/v1/namespaces/$ns/endpoints', { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'a' }, subsets: [{ addresses: [{ ip: '010.1.2.3' }], ports: [{ port: 1 }] }] }),
    POST('/apis/discovery.k8s.io/v1/namespaces/$ns/endpointslices', { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 'a' }, addressType: 'IPv6', endpoints: [{ addresses: ['2001:DB8::0:1'] }] }),
    ...pods([{ hostAliases: [{ ip: '010.1.2.3', hostnames: ['a'] }] }], [{ dnsConfig: { nameservers: ['::ffff:1.2.3.4'] } }]),
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n' }, spec: { podCIDR: '10.1.2.3/24', podCIDRs: ['10.1.2.3/24'] } }),
  ], { cleanup: ['/api/v1/nodes/$ns-n'] }),
  ...gated('traffic-distribution', false, 'trafficDistribution of the same zone or node', ['PreferSameNode', 'PreferSameZone', 'PreferClose', 'Prefer'].map((trafficDistribution, at) => POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: `s${at}` }, spec: { ports: [{ port: 1 }], trafficDistribution } }, { ignore: ['spec.clusterIP', 'spec.clusterIPs'] }))),
  ...gated('statefulset-max-unavailable', false, 'maxUnavailable of a StatefulSet', [1, 0, '50%', '0%', 'x', -1].map((maxUnavailable, at) => POST('/apis/apps/v1/namespaces/$ns/statefulsets', { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: `s${at}` }, spec: { serviceName: 's', selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container()] } }, updateStrategy: { rollingUpdate: { maxUnavailable } } } }))),
  ...gated('terminating-replicas', false, 'terminatingReplicas of workloads', [
    ...['deployments', 'replicasets'].flatMap((plural) => [
      POST(`/apis/apps/v1/namespaces/$ns/${plural}`, { apiVersion: 'apps/v1', kind: plural === 'deployments' ? 'Deployment' : 'ReplicaSet', metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container()] } } } }, { compare: 'status' }),
      PATCH(`/apis/apps/v1/namespaces/$ns/${plural}/d/status`, 'merge', { status: { replicas: 1, terminatingReplicas: 2 } }),
      PATCH(`/apis/apps/v1/namespaces/$ns/${plural}/d/status`, 'merge', { status: { terminatingReplicas: -2 } }),
    ]),
  ]),
  ...gated('job-managed-by', true, 'managedBy of a Job', ['example.com/x', 'kubernetes.io/job-controller', 'x', 'example.com/x!'].map((managedBy, at) => POST('/apis/batch/v1/namespaces/$ns/jobs', { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: `j${at}` }, spec: { managedBy, template: { spec: { restartPolicy: 'Never', containers: [container()] } } } }))),
  ...gated('job-replacement-policy', true, 'podReplacementPolicy of a Job', [
    ...['Failed', 'TerminatingOrFailed', 'Never'].map((podReplacementPolicy, at) => POST('/apis/batch/v1/namespaces/$ns/jobs', { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: `j${at}` }, spec: { podReplacementPolicy, template: { spec: { restartPolicy: 'Never', containers: [container()] } } } })),
    POST('/apis/batch/v1/namespaces/$ns/jobs', { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'none' }, spec: { template: { spec: { restartPolicy: 'Never', containers: [container()] } } } }),
    PATCH('/apis/batch/v1/namespaces/$ns/jobs/none/status', 'merge', { status: { terminating: 1, active: 1 } }),
  ]),
  ...gated('hpa-scale-to-zero', false, 'minReplicas 0', [{ type: 'Object', object: { metric: { name: 'm' }, describedObject: { kind: 'Pod', name: 'p' }, target: { type: 'Value', value: '1' } } }, { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }].map((metric, at) => POST('/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers', { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: `h${at}` }, spec: { minReplicas: 0, maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' }, metrics: [metric] } }))),
  ...gated('hpa-tolerance', false, 'tolerance of scaling', ['0.1', '0', '-1', '1k'].map((tolerance, at) => POST('/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers', { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: `h${at}` }, spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' }, behavior: { scaleUp: { tolerance }, scaleDown: { tolerance, stabilizationWindowSeconds: 1 } } } }))),
  ...gated('volume-attributes-class', false, 'volumeAttributesClassName', [
    ...['a', 'A!', ''].map((volumeAttributesClassName, at) => POST('/api/v1/namespaces/$ns/persistentvolumeclaims', { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: `c${at}` }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeAttributesClassName } })),
    PATCH('/api/v1/namespaces/$ns/persistentvolumeclaims/c0', 'merge', { spec: { volumeAttributesClassName: 'b' } }, { pick: (b) => b.details?.causes.map(({ field }) => field) ?? b.spec }),
    PATCH('/api/v1/namespaces/$ns/persistentvolumeclaims/c0/status', 'merge', { status: { currentVolumeAttributesClassName: 'a', modifyVolumeStatus: { status: 'InProgress', targetVolumeAttributesClassName: 'b' } } }),
    ...['a', ''].map((volumeAttributesClassName, at) => POST('/api/v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `$ns-v${at}` }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], volumeAttributesClassName, csi: { driver: 'd.example.com', volumeHandle: 'h' } } })),
    POST('/api/v1/namespaces/$ns/resourcequotas', { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { scopeSelector: { matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['a'] }] } } }),
  ], { cleanup: ['/api/v1/persistentvolumes/$ns-v0', '/api/v1/persistentvolumes/$ns-v1'] }),
  ...gated('csi-allocatable-count', false, 'nodeAllocatableUpdatePeriodSeconds', [
    ...[60, 1, 0].map((nodeAllocatableUpdatePeriodSeconds, at) => POST('/apis/storage.k8s.io/v1/csidrivers', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: `$ns-d${at}` }, spec: { nodeAllocatableUpdatePeriodSeconds } })),
    POST('/apis/storage.k8s.io/v1/csinodes', { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name: '$ns-n' }, spec: { drivers: [{ name: 'd', nodeID: 'n', allocatable: { count: 1 } }] } }),
    PATCH('/apis/storage.k8s.io/v1/csinodes/$ns-n', 'merge', { spec: { drivers: [{ name: 'd', nodeID: 'n', allocatable: { count: 2 } }] } }),
  ], { cleanup: [...[0, 1, 2].map((at) => `/apis/storage.k8s.io/v1/csidrivers/$ns-d${at}`), '/apis/storage.k8s.io/v1/csinodes/$ns-n'] }),
  ...gated('selinux-mount', true, 'seLinuxMount of a CSIDriver', [
    POST('/apis/storage.k8s.io/v1/csidrivers', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: '$ns-d' }, spec: { seLinuxMount: true } }),
    POST('/apis/storage.k8s.io/v1/csidrivers', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: '$ns-e' }, spec: {} }),
  ], { cleanup: ['/apis/storage.k8s.io/v1/csidrivers/$ns-d', '/apis/storage.k8s.io/v1/csidrivers/$ns-e'] }),
  ...gated('cross-namespace-source', false, 'a data source in another namespace', [{ kind: 'VolumeSnapshot', apiGroup: 'snapshot.storage.k8s.io', name: 'x', namespace: 'other' }, { kind: 'PersistentVolumeClaim', name: 'x', namespace: 'other!' }].flatMap((dataSourceRef, at) => [
    POST('/api/v1/namespaces/$ns/persistentvolumeclaims', { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: `c${at}` }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, dataSourceRef } }),
    POST('/api/v1/namespaces/$ns/persistentvolumeclaims', { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: `b${at}` }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, dataSource: { kind: 'PersistentVolumeClaim', name: 'y' }, dataSourceRef } }),
  ])),
  ...gated('volume-expansion', true, 'claims that shrink again', [
    POST('/apis/storage.k8s.io/v1/storageclasses', { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: '$ns-s' }, provisioner: 'p.example.com', allowVolumeExpansion: true }, { compare: 'status' }),
    POST('/api/v1/namespaces/$ns/persistentvolumeclaims', { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c' }, spec: { storageClassName: '$ns-s', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, volumeName: 'v' } }, { compare: 'status' }),
    PATCH('/api/v1/namespaces/$ns/persistentvolumeclaims/c/status', 'merge', { status: { phase: 'Bound', capacity: { storage: '2Gi' }, allocatedResources: { storage: '4Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } } }),
    PATCH('/api/v1/namespaces/$ns/persistentvolumeclaims/c', 'merge', { spec: { resources: { requests: { storage: '4Gi' } } } }),
    PATCH('/api/v1/namespaces/$ns/persistentvolumeclaims/c', 'merge', { spec: { resources: { requests: { storage: '3Gi' } } } }),
    PATCH('/api/v1/namespaces/$ns/persistentvolumeclaims/c', 'merge', { spec: { resources: { requests: { storage: '1Gi' } } } }),
  ], { cleanup: ['/apis/storage.k8s.io/v1/storageclasses/$ns-s'] }),
  ...gated('kube-proxy-version', true, 'kubeProxyVersion of a node is taken away', [
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n' }, status: { nodeInfo: { kubeProxyVersion: 'v1' } } }, { compare: 'status' }),
    PATCH('/api/v1/nodes/$ns-n/status', 'merge', { status: { nodeInfo: { kubeProxyVersion: 'v1', architecture: 'a', bootID: '', containerRuntimeVersion: '', kernelVersion: '', kubeletVersion: '', machineID: '', operatingSystem: '', osImage: '', systemUUID: '' } } }),
  ], { cleanup: ['/api/v1/nodes/$ns-n'] }),
  ...gated('lease-strategy', false, 'strategy of a Lease', ['OldestEmulationVersion', 'example.com/x', 'x'].map((strategy, at) => POST('/apis/coordination.k8s.io/v1/namespaces/$ns/leases', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: `l${at}` }, spec: { strategy, preferredHolder: at === 0 ? undefined : 'h' } }))),
  ...gated('user-namespaces-standards', false, 'pod security standards with user namespaces', [
    PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } }, { compare: 'status' }),
    ...pods(
      [{ hostUsers: false, securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }, { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
      [{ hostUsers: false, securityContext: { seccompProfile: { type: 'RuntimeDefault' }, runAsUser: 0 } }, { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, procMount: 'Unmasked' } }],
    ),
  ]),
  ...gated('put-drops', false, 'a PUT of what was dropped', [
    ...pods([linux, { lifecycle: { stopSignal: 'SIGUSR1' } }]),
    GET(`${PODS}/p0`, { id: 'made' }),
    PUT(`${PODS}/p0`, { ...pod('p0', linux, { lifecycle: { stopSignal: 'SIGUSR2' }, image: 'j' }), metadata: { name: 'p0', resourceVersion: '${made.metadata.resourceVersion}' } }, { compare: 'status' }),
    GET(`${PODS}/p0`),
  ]),
];
