// Pods: what the server fills in, and objects that touch every field and come back as they went in.
import { scenario, GET, POST } from '../steps.ts';
import { inNs, pod, container, spec, accepted } from './kit/kinds-core.mjs';

const pods = inNs('pods');
const created = (id, about, body) => scenario(id, { section: '2', about }, [POST(pods, body, { compareHeaders: ['warning'] }), GET(inNs('pods', body.metadata.name))]);
const resources = { limits: { cpu: '2', memory: '1Gi', 'ephemeral-storage': '2Gi', 'hugepages-2Mi': '64Mi', 'example.com/gpu': '2' }, requests: { cpu: '500m', memory: '512Mi', 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '64Mi', 'example.com/gpu': '2' } };

const everyContainerField = {
  name: 'main', image: 'registry.example.com:5000/team/app:v1.2.3', command: ['/bin/app'], args: ['--flag', '$(MODE)'], workingDir: '/srv',
  ports: [{ name: 'http', hostPort: 8080, containerPort: 80, protocol: 'TCP', hostIP: '10.9.8.7' }, { name: 'dns', containerPort: 53, protocol: 'UDP' }, { name: 'sctp', containerPort: 99, protocol: 'SCTP' }],
  envFrom: [{ prefix: 'CM_', configMapRef: { name: 'cm', optional: true } }, { secretRef: { name: 'sec', optional: false } }],
  env: [
    { name: 'MODE', value: 'fast' },
    { name: 'EMPTY', value: '' },
    { name: 'FROM_FIELD', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    { name: 'FROM_RESOURCE', valueFrom: { resourceFieldRef: { containerName: 'main', resource: 'limits.cpu', divisor: '1m' } } },
    { name: 'FROM_CM', valueFrom: { configMapKeyRef: { name: 'cm', key: 'k', optional: true } } },
    { name: 'FROM_SECRET', valueFrom: { secretKeyRef: { name: 'sec', key: 'k', optional: true } } },
  ],
  resources,
  resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }, { resourceName: 'memory', restartPolicy: 'RestartContainer' }],
  volumeMounts: [
    { name: 'scratch', mountPath: '/scratch', readOnly: true, recursiveReadOnly: 'IfPossible', mountPropagation: 'None' },
    { name: 'scratch', mountPath: '/sub', subPath: 'a/b', mountPropagation: 'HostToContainer' },
    { name: 'scratch', mountPath: '/expr', subPathExpr: 'x/$(MODE)' },
    { name: 'scratch', mountPath: '/shared', mountPropagation: 'Bidirectional' },
  ],
  volumeDevices: [{ name: 'block', devicePath: '/dev/xvda' }],
  livenessProbe: { httpGet: { path: '/live', port: 'http', host: 'example.com', scheme: 'HTTPS', httpHeaders: [{ name: 'X-A', value: 'b' }] }, initialDelaySeconds: 1, timeoutSeconds: 2, periodSeconds: 3, successThreshold: 1, failureThreshold: 4, terminationGracePeriodSeconds: 5 },
  readinessProbe: { tcpSocket: { port: 80, host: '10.1.1.1' }, initialDelaySeconds: 1, timeoutSeconds: 2, periodSeconds: 3, successThreshold: 2, failureThreshold: 4 },
  startupProbe: { grpc: { port: 9000, service: 'health' }, timeoutSeconds: 2, periodSeconds: 3, successThreshold: 1, failureThreshold: 4, terminationGracePeriodSeconds: 5 },
  lifecycle: { postStart: { exec: { command: ['/bin/true'] } }, preStop: { httpGet: { path: '/bye', port: 8080, scheme: 'HTTP' } } },
  terminationMessagePath: '/dev/end', terminationMessagePolicy: 'FallbackToLogsOnError', imagePullPolicy: 'Never',
  securityContext: {
    capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] }, privileged: true,
    seLinuxOptions: { user: 'u', role: 'r', type: 't', level: 's0' },
    runAsUser: 1000, runAsGroup: 2000, runAsNonRoot: true, readOnlyRootFilesystem: true, allowPrivilegeEscalation: true, procMount: 'Default',
    seccompProfile: { type: 'Localhost', localhostProfile: 'p/a.json' }, appArmorProfile: { type: 'Localhost', localhostProfile: 'k8s-a' },
  },
  stdin: true, stdinOnce: true, tty: true,
};

const everyPodField = {
  volumes: [{ name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '10Mi' } }, { name: 'block', persistentVolumeClaim: { claimName: 'claim', readOnly: true } }],
  initContainers: [
    { name: 'setup', image: 'busybox:1', command: ['true'], resources: { limits: { cpu: '1' } } },
    { name: 'sidecar', image: 'busybox:1', restartPolicy: 'Always', readinessProbe: { exec: { command: ['true'] } }, lifecycle: { preStop: { sleep: { seconds: 3 } } }, resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] },
  ],
  containers: [everyContainerField],
  restartPolicy: 'Always', terminationGracePeriodSeconds: 45, activeDeadlineSeconds: 600, dnsPolicy: 'None',
  nodeSelector: { disk: 'ssd' }, serviceAccountName: 'builder', automountServiceAccountToken: false,
  hostNetwork: false, hostPID: false, hostIPC: false, shareProcessNamespace: true,
  securityContext: {
    seLinuxOptions: { user: 'u', role: 'r', type: 't', level: 's0' }, runAsUser: 1, runAsGroup: 2, runAsNonRoot: true, supplementalGroups: [3, 4], supplementalGroupsPolicy: 'Strict', fsGroup: 5,
    sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }], fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' }, appArmorProfile: { type: 'RuntimeDefault' }, seLinuxChangePolicy: 'Recursive',
  },
  imagePullSecrets: [{ name: 'pull' }], hostname: 'host', subdomain: 'sub', schedulerName: 'own', setHostnameAsFQDN: true,
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }, { key: 'gpu', operator: 'DoesNotExist' }, { key: 'cores', operator: 'Gt', values: ['3'] }], matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [{ key: 'x', operator: 'Exists' }] } }],
    },
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { app: 'a' } }, namespaces: ['other'], namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['q'] }] }, topologyKey: 'kubernetes.io/hostname', matchLabelKeys: ['version'], mismatchLabelKeys: ['tier'] }],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: { labelSelector: { matchLabels: { app: 'b' } }, topologyKey: 'zone' } }],
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { app: 'c' } }, topologyKey: 'zone' }],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 7, podAffinityTerm: { labelSelector: { matchLabels: { app: 'd' } }, topologyKey: 'zone' } }],
    },
  },
  tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule' }, { key: 'c', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 }, { operator: 'Exists', effect: 'PreferNoSchedule' }],
  hostAliases: [{ ip: '10.1.2.3', hostnames: ['one.example.com', 'two'] }],
  dnsConfig: { nameservers: ['10.96.0.10'], searches: ['ns.svc.cluster.local', 'with_underscore.example', '.'], options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }] },
  readinessGates: [{ conditionType: 'example.com/gate' }], enableServiceLinks: false, preemptionPolicy: 'PreemptLowerPriority',
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app: 'a' } }, minDomains: 2, nodeAffinityPolicy: 'Honor', nodeTaintsPolicy: 'Ignore', matchLabelKeys: ['version'] }],
  schedulingGates: [{ name: 'example.com/hold' }, { name: 'example.com/wait' }],
  os: { name: 'linux' },
};

const volume = (name, source) => ({ name, ...source });
const volumes = (list) => pod({ volumes: list.map((s, i) => volume(`v${i}`, s)), serviceAccountName: 'sa' });

export default [
  created('core-pod-minimal', 'the defaults of a Pod with one container', pod()),
  created('core-pod-maximal', 'a Pod that sets nearly every field keeps them; label keys of pod affinity become match expressions', pod(everyPodField, { labels: { version: 'v1', tier: 'web' }, annotations: { a: 'b' }, finalizers: ['example.com/keep'] })),

  ...accepted('core-pod-default-pull-policy', { about: 'imagePullPolicy follows the tag: latest or none gives Always', at: pods, base: pod(), part: container, shown: (b) => b.spec.containers.map((c) => [c.image, c.imagePullPolicy]) }, [
    ['no tag', { image: 'busybox' }], ['latest', { image: 'busybox:latest' }], ['version', { image: 'busybox:1.36' }],
    ['digest only', { image: `busybox@sha256:${'a'.repeat(64)}` }], ['tag and digest', { image: `busybox:latest@sha256:${'a'.repeat(64)}` }],
    ['registry with port, no tag', { image: 'localhost:5000/a' }], ['registry with port and tag', { image: 'localhost:5000/a:latest' }],
    ['cannot be parsed', { image: 'UPPER//case' }], ['blank inside', { image: 'a b' }],
  ]),
  ...accepted('core-pod-default-probe', { about: 'probe numbers and httpGet path and scheme are defaulted per handler', at: pods, base: pod(), part: container, shown: (b) => b.spec.containers[0] }, [
    ['httpGet', { livenessProbe: { httpGet: { port: 80 } } }], ['tcpSocket', { readinessProbe: { tcpSocket: { port: 'x' } } }], ['grpc without service', { startupProbe: { grpc: { port: 1 } } }],
    ['exec', { livenessProbe: { exec: { command: ['a'] } } }], ['zeros count as unset', { livenessProbe: { exec: { command: ['a'] }, timeoutSeconds: 0, periodSeconds: 0, successThreshold: 0, failureThreshold: 0 } }],
    ['lifecycle httpGet', { lifecycle: { preStop: { httpGet: { port: 80 } } } }], ['lifecycle sleep zero', { lifecycle: { preStop: { sleep: { seconds: 0 } } } }], ['lifecycle tcpSocket', { lifecycle: { postStart: { tcpSocket: { port: 1 } } } }],
    ['empty lifecycle', { lifecycle: {} }],
  ]),
  ...accepted('core-pod-default-resources', { about: 'requests come from limits, quantities are made canonical and rounded up to milli units', at: pods, base: pod(), part: container, shown: (b) => ({ resources: b.spec.containers[0].resources, qosClass: b.status.qosClass }) }, [
    ['limits only', { resources: { limits: { cpu: '1', memory: '1Gi' } } }], ['some requests', { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '0.5' } } }], ['requests only', { resources: { requests: { cpu: '100m' } } }],
    ['equal in other notation', { resources: { limits: { cpu: '1', memory: '1024Mi' }, requests: { cpu: '1000m', memory: '1Gi' } } }], ['finer than milli', { resources: { requests: { cpu: '100u', memory: '1500m' } } }],
    ['exponent', { resources: { requests: { memory: '1e3', cpu: '1E-1' } } }], ['number', { resources: { requests: { cpu: 2, memory: 1048576 } } }], ['zero', { resources: { requests: { cpu: '0' }, limits: { cpu: 0 } } }],
    ['empty lists', { resources: { limits: {}, requests: {} } }], ['extended resource', { resources: { limits: { 'example.com/gpu': '1' } } }], ['hugepages need cpu or memory', { resources: { limits: { cpu: '1', 'hugepages-1Gi': '2Gi' } } }], ['only ephemeral-storage', { resources: { limits: { 'ephemeral-storage': '1Gi' } } }],
    ['huge exponent is capped', { resources: { requests: { cpu: '1e100' } } }], ['blank before the number', { resources: { requests: { cpu: ' 1' } } }], ['native name with domain', { resources: { limits: { 'kubernetes.io/thing': '1' } } }], ['plus sign and point', { resources: { requests: { cpu: '+.5', memory: '1.5Gi' } } }],
  ]),
  ...accepted('core-pod-qos', { about: 'the QoS class looks at all containers, init containers included', at: pods, base: pod(), part: spec, shown: (b) => b.status }, [
    ['best effort', {}], ['guaranteed', (s) => { s.containers[0].resources = { limits: { cpu: '1', memory: '1Gi' } }; }],
    ['init container without', (s) => { s.containers[0].resources = { limits: { cpu: '1', memory: '1Gi' } }; s.initContainers = [{ name: 'i', image: 'b' }]; }],
    ['init container guaranteed too', (s) => { s.containers[0].resources = { limits: { cpu: '1', memory: '1Gi' } }; s.initContainers = [{ name: 'i', image: 'b', resources: { limits: { cpu: '1', memory: '1Gi' } } }]; }],
    ['one of two', (s) => { s.containers[0].resources = { limits: { cpu: '1', memory: '1Gi' } }; s.containers.push({ name: 'd', image: 'b' }); }],
    ['only extended resources', (s) => { s.containers[0].resources = { limits: { 'example.com/gpu': '1' } }; }], ['zero quantities', (s) => { s.containers[0].resources = { requests: { cpu: '0', memory: '0' } }; }],
  ]),
  ...accepted('core-pod-default-host-network', { about: 'with hostNetwork every containerPort becomes the hostPort, in init containers too', at: pods, base: pod({ hostNetwork: true }), part: spec }, [
    ['containers and init containers', (s) => { s.containers[0].ports = [{ containerPort: 80 }]; s.initContainers = [{ name: 'i', image: 'b', ports: [{ containerPort: 81 }] }]; }],
  ]),
  ...accepted('core-pod-default-misc', { about: 'single defaults and clean-ups of a Pod spec', at: pods, base: pod(), part: spec }, [
    ['deprecated serviceAccount mirrors serviceAccountName', { serviceAccount: 'old' }], ['serviceAccountName fills serviceAccount', { serviceAccountName: 'new' }], ['both given, name wins', { serviceAccountName: 'new', serviceAccount: 'old' }],
    ['volume without a source', { volumes: [{ name: 'v' }] }], ['empty lists vanish', { volumes: [], tolerations: [], initContainers: [], imagePullSecrets: [], nodeSelector: {} }],
    ['zero grace period', { terminationGracePeriodSeconds: 0 }], ['negative grace period becomes 1', { terminationGracePeriodSeconds: -5 }],
    ['null fields count as unset', { restartPolicy: null, containers: [{ name: 'c', image: 'b', command: null, env: null, resources: null }], securityContext: null, affinity: null }],
    ['toleration with NoExecute for every key', { tolerations: [{ operator: 'Exists' }] }], ['own toleration for not-ready', { tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }] }],
    ['priority class by name', { priorityClassName: 'system-node-critical' }], ['resizePolicy of an init container', { initContainers: [{ name: 'i', image: 'b', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] }] }], ['empty affinity', { affinity: { nodeAffinity: {}, podAffinity: {}, podAntiAffinity: {} } }],
  ]),
  ...accepted('core-pod-gated-fields', { about: 'fields behind a feature that is off in v1.33 are dropped without an error', at: pods, base: pod(), part: spec }, [
    ['pod-level resources', { resources: { limits: { cpu: '1' } } }], ['image volume', { volumes: [{ name: 'v', image: { reference: 'a:1' } }] }], ['resource claims', (s) => { s.resourceClaims = [{ name: 'r', resourceClaimName: 'x' }]; s.containers[0].resources = { claims: [{ name: 'r' }] }; }],
    ['cluster trust bundle', { volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'p' } }] } }] }], ['stop signal', (s) => { s.os = { name: 'linux' }; s.containers[0].lifecycle = { stopSignal: 'SIGTERM' }; }],
    ['hostUsers', { hostUsers: false }], ['procMount unmasked without host users', (s) => { s.hostUsers = false; s.containers[0].securityContext = { procMount: 'Unmasked' }; }], ['status of the request', (s, o) => { o.status = { phase: 'Running', qosClass: 'Guaranteed' }; }],
  ]),
  scenario('core-pod-status-on-create', { section: '2', about: 'status of a created Pod is reset; a scheduling gate adds a PodScheduled condition' }, [
    POST(pods, { ...pod({ schedulingGates: [{ name: 'hold' }] }), status: { phase: 'Running', podIP: '1.2.3.4', conditions: [{ type: 'Ready', status: 'True' }] } }, { pick: (b) => b.status }),
  ]),
  ...accepted('core-pod-node-name', { about: 'a Pod may be created bound to a node that does not exist', at: pods, base: pod(), part: spec, shown: (b) => ({ spec: b.spec, status: b.status }) }, [['nodeName', { nodeName: 'gone' }]]),
  ...accepted('core-pod-os', { about: 'pod.spec.os with the security context that goes with it', at: pods, base: pod(), part: spec }, [
    ['linux', { os: { name: 'linux' } }], ['windows with options', (s) => { s.os = { name: 'windows' }; s.securityContext = { windowsOptions: { gmsaCredentialSpecName: 'g', gmsaCredentialSpec: '{}', runAsUserName: 'DOM\\user' } }; s.containers[0].securityContext = { windowsOptions: { runAsUserName: 'user' } }; }],
    ['windows host process', { os: { name: 'windows' }, hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true, runAsUserName: 'NT AUTHORITY\\SYSTEM' } } }],
  ]),
  ...accepted('core-pod-apparmor', { about: 'the old AppArmor annotation and the field are kept in step on create', at: pods, base: pod(), compareHeaders: ['warning'], shown: (b) => ({ annotations: b.metadata.annotations ?? null, security: b.spec.containers[0].securityContext ?? null }) }, [
    ['field of the container', (o) => { o.spec.containers[0].securityContext = { appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } }; }], ['field of the Pod', (o) => { o.spec.securityContext = { appArmorProfile: { type: 'RuntimeDefault' } }; }],
    ['annotation', (o) => { o.metadata.annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'localhost/x' }; }], ['annotation unconfined', (o) => { o.metadata.annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' }; }], ['annotation empty', (o) => { o.metadata.annotations = { 'container.apparmor.security.beta.kubernetes.io/c': '' }; }],
    ['annotation and another field of the Pod', (o) => { o.metadata.annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' }; o.spec.securityContext = { appArmorProfile: { type: 'RuntimeDefault' } }; }],
  ]),
  ...accepted('core-pod-env-names', { about: 'environment variable names may hold any printable ASCII but =', at: pods, base: pod(), part: container, shown: (b) => b.spec.containers[0].env }, [
    ['relaxed names', { env: [{ name: 'a.b-c', value: '1' }, { name: '9lives' }, { name: 'with space', value: '$(a.b-c)' }, { name: '!"#$%&' }] }],
    ['the same name twice', { env: [{ name: 'A', value: '1' }, { name: 'A', value: '$(A)2' }] }],
    ['field paths', { env: ['metadata.name', 'metadata.namespace', 'metadata.uid', "metadata.labels['a.b/c']", "metadata.annotations['A.b/c']", 'spec.nodeName', 'spec.serviceAccountName', 'spec.host', 'status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs'].map((fieldPath, i) => ({ name: `F${i}`, valueFrom: { fieldRef: { fieldPath } } })) }],
    ['resource fields', { env: ['limits.cpu', 'limits.memory', 'limits.ephemeral-storage', 'requests.cpu', 'requests.memory', 'requests.ephemeral-storage', 'limits.hugepages-2Mi', 'requests.hugepages-1Gi'].map((resource, i) => ({ name: `R${i}`, valueFrom: { resourceFieldRef: { resource } } })) }],
    ['divisors', { env: [['limits.cpu', '1m'], ['limits.cpu', '1'], ['requests.memory', '1Mi'], ['requests.memory', '1M'], ['limits.ephemeral-storage', '1Gi'], ['limits.memory', '0'], ['limits.memory', '1000']].map(([resource, divisor], i) => ({ name: `D${i}`, valueFrom: { resourceFieldRef: { resource, divisor } } })) }],
  ]),

  created('core-pod-volumes-common', 'volume sources that nodes serve today, with their defaults', volumes([
    { emptyDir: {} }, { hostPath: { path: '/var' } }, { hostPath: { path: '/a', type: 'DirectoryOrCreate' } }, { secret: { secretName: 's' } }, { secret: { secretName: 's', items: [{ key: 'k', path: 'a/b', mode: 0o400 }], defaultMode: 0o600, optional: true } },
    { configMap: { name: 'c' } }, { configMap: { name: 'c', items: [{ key: 'k', path: 'p' }], defaultMode: 0, optional: false } }, { downwardAPI: {} },
    { downwardAPI: { defaultMode: 0o444, items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' }, mode: 1 }, { path: 'cpu', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu', divisor: '1m' } }, { path: 'one', fieldRef: { fieldPath: "metadata.annotations['x']" } }] } },
    { persistentVolumeClaim: { claimName: 'p' } }, { nfs: { server: 'h', path: '/x', readOnly: true } }, { iscsi: { targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:storage', lun: 0 } },
    { iscsi: { targetPortal: 'h', iqn: 'eui.0123456789abcdef', lun: 255, iscsiInterface: 'i', fsType: 'ext4', readOnly: true, portals: ['a:1'], chapAuthDiscovery: true, chapAuthSession: true, secretRef: { name: 's' }, initiatorName: 'naa.0123456789abcdef0123456789abcdef' } },
    { fc: { targetWWNs: ['500a0982991b8dc5'], lun: 2, fsType: 'ext4', readOnly: true } }, { fc: { wwids: ['3600508b400105e210000900000490000'] } }, { csi: { driver: 'csi.example.com', readOnly: true, fsType: 'ext4', volumeAttributes: { a: 'b' }, nodePublishSecretRef: { name: 's' } } },
  ])),
  created('core-pod-volumes-projected', 'a projected volume with every source', volumes([
    { projected: {} },
    { projected: { defaultMode: 0o440, sources: [{ secret: { name: 's', items: [{ key: 'k', path: 's/k', mode: 0o400 }], optional: true } }, { configMap: { name: 'c', items: [{ key: 'k', path: 'c/k' }] } }, { downwardAPI: { items: [{ path: 'd/name', fieldRef: { fieldPath: 'metadata.name' } }] } }, { serviceAccountToken: { path: 'token' } }, { serviceAccountToken: { audience: 'vault', expirationSeconds: 600, path: 't2' } }] } },
  ])),
  created('core-pod-volumes-ephemeral', 'a generic ephemeral volume and the defaults of its claim template', volumes([
    { ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } } },
    { ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { accessModes: ['ReadWriteMany'], selector: { matchLabels: { a: 'b' } }, resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } }, storageClassName: 'fast', volumeMode: 'Block', dataSource: { kind: 'PersistentVolumeClaim', name: 'x' }, volumeName: 'v' } } } },
  ])),
  created('core-pod-volumes-old', 'volume sources of removed drivers are still stored, some with a warning', volumes([
    { gcePersistentDisk: { pdName: 'd', fsType: 'ext4', partition: 1, readOnly: true } }, { awsElasticBlockStore: { volumeID: 'v', fsType: 'ext4', partition: 1, readOnly: true } }, { gitRepo: { repository: 'git@host:x', revision: 'r', directory: 'd' } },
    { glusterfs: { endpoints: 'e', path: 'p', readOnly: true } }, { rbd: { monitors: ['m'], image: 'i' } }, { cinder: { volumeID: 'v', fsType: 'ext4', readOnly: true, secretRef: { name: 's' } } }, { cephfs: { monitors: ['m'], path: '/p', user: 'u', secretFile: '/f', secretRef: { name: 's' }, readOnly: true } },
    { flocker: { datasetName: 'd' } }, { flexVolume: { driver: 'v/d', fsType: 'ext4', secretRef: { name: 's' }, readOnly: true, options: { a: 'b' } } }, { azureFile: { secretName: 's', shareName: 'x', readOnly: true } }, { azureDisk: { diskName: 'd', diskURI: 'https://h/d.vhd' } },
    { azureDisk: { diskName: 'd', diskURI: '/subscriptions/s', kind: 'Managed', cachingMode: 'None', fsType: 'xfs', readOnly: true } }, { vsphereVolume: { volumePath: 'p', fsType: 'ext4', storagePolicyName: 'n', storagePolicyID: 'i' } }, { quobyte: { registry: 'h:1,i:2', volume: 'v', readOnly: true, user: 'u', group: 'g', tenant: 't' } },
    { photonPersistentDisk: { pdID: 'p', fsType: 'ext4' } }, { portworxVolume: { volumeID: 'v', fsType: 'ext4', readOnly: true } }, { scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'x' }, volumeName: 'v' } }, { storageos: { volumeName: 'v', volumeNamespace: 'n', fsType: 'ext4', readOnly: true, secretRef: { name: 's' } } },
  ])),
];
