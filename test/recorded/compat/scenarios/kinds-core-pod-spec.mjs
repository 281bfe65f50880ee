// Pods: what makes a Pod invalid outside its containers and volumes.
import { scenario, POST } from '../steps.ts';
import { inNs, pod, spec, root, refused, repeat } from './kit/kinds-core.mjs';

const at = inNs('pods');
const inSpec = (id, about, rows) => refused(`core-pod-${id}`, { about, at, base: pod(), part: spec }, rows);
const security = (s, more) => ({ securityContext: s, ...more });
const node = (o) => ({ affinity: { nodeAffinity: o } });
const required = (...nodeSelectorTerms) => node({ requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } });
const expression = (e) => required({ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'], ...e }] });
const term = (t) => ({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { a: 'b' } }, topologyKey: 'zone', ...t }] } } });
const weighted = (weight) => ({ affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: { labelSelector: {}, topologyKey: 'z' } }] } } });
const spread = (...list) => ({ topologySpreadConstraints: list.map((c) => ({ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } }, ...c })) });
const toleration = (t) => ({ tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule', ...t }] });
const dns = (dnsConfig, more) => ({ dnsConfig, ...more });
const annotated = (annotations) => (o) => { o.metadata.annotations = annotations; };
const windows = (o) => ({ os: { name: 'windows' }, ...o });

export default [
  ...inSpec('enums', 'enumerations of a Pod spec', [
    ['restartPolicy', { restartPolicy: 'Sometimes' }], ['dnsPolicy', { dnsPolicy: 'Cluster' }], ['os', { os: { name: 'macos' } }], ['os name missing', { os: {} }],
  ]),
  ...inSpec('names', 'names in a Pod spec', [
    ['serviceAccountName', { serviceAccountName: 'A_b' }], ['nodeName', { nodeName: 'Node_1' }], ['hostname', { hostname: 'a.b' }], ['hostname too long', { hostname: repeat('h', 64) }], ['subdomain', { subdomain: 'A' }], ['nodeSelector key', { nodeSelector: { 'a b': 'c' } }], ['nodeSelector value', { nodeSelector: { a: 'c d' } }],
    ['readinessGates', { readinessGates: [{ conditionType: 'a b' }] }], ['schedulingGates name', { schedulingGates: [{ name: 'a b' }] }], ['schedulingGates empty', { schedulingGates: [{ name: '' }] }], ['schedulingGates twice', { schedulingGates: [{ name: 'a' }, { name: 'a' }] }], ['nodeName with gates', { nodeName: 'n', schedulingGates: [{ name: 'a' }] }],
  ]),
  ...inSpec('numbers', 'numbers in a Pod spec', [['activeDeadlineSeconds zero', { activeDeadlineSeconds: 0 }], ['activeDeadlineSeconds negative', { activeDeadlineSeconds: -1 }], ['activeDeadlineSeconds too large', { activeDeadlineSeconds: 2147483648 }], ['overhead negative', { runtimeClassName: undefined, overhead: { cpu: '-1' } }]]),
  ...inSpec('security', 'securityContext of a Pod', [
    ['runAsUser', security({ runAsUser: -1 })], ['runAsGroup', security({ runAsGroup: 2147483648 })], ['fsGroup', security({ fsGroup: -1 })], ['supplementalGroups', security({ supplementalGroups: [1, -1] })], ['supplementalGroupsPolicy', security({ supplementalGroupsPolicy: 'Any' })], ['fsGroupChangePolicy', security({ fsGroupChangePolicy: 'Never' })],
    ['seLinuxChangePolicy', security({ seLinuxChangePolicy: 'MountOption' })], ['seccomp', security({ seccompProfile: { type: 'Localhost' } })], ['appArmor', security({ appArmorProfile: { type: 'x' } })], ['shareProcessNamespace with hostPID', { shareProcessNamespace: true, hostPID: true }],
    ['sysctl name missing', security({ sysctls: [{ value: '1' }] })], ['sysctl name invalid', security({ sysctls: [{ name: 'Kernel', value: '1' }] })], ['sysctl twice', security({ sysctls: [{ name: 'a.b', value: '1' }, { name: 'a.b', value: '2' }] })], ['sysctl too long', security({ sysctls: [{ name: repeat('a', 254), value: '1' }] })],
    ['net sysctl with hostNetwork', security({ sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }] }, { hostNetwork: true })], ['ipc sysctl with hostIPC', security({ sysctls: [{ name: 'kernel.shmmax', value: '1' }] }, { hostIPC: true })],
    ['hostUsers with hostNetwork', { hostUsers: false, hostNetwork: true }], ['hostUsers with hostPID', { hostUsers: false, hostPID: true }], ['hostUsers with hostIPC', { hostUsers: false, hostIPC: true }],
  ]),
  ...inSpec('windows', 'what a windows or linux Pod may not set', [
    ['linux with windowsOptions', { os: { name: 'linux' }, securityContext: { windowsOptions: { runAsUserName: 'a' } } }], ['linux container with windowsOptions', (s) => { s.os = { name: 'linux' }; s.containers[0].securityContext = { windowsOptions: { runAsUserName: 'a' } }; }],
    ['windows Pod security', windows({ securityContext: { appArmorProfile: { type: 'Unconfined' }, seLinuxOptions: {}, seccompProfile: { type: 'Unconfined' }, fsGroup: 1, fsGroupChangePolicy: 'Always', sysctls: [{ name: 'a.b', value: '1' }], runAsUser: 1, runAsGroup: 1, supplementalGroups: [1], supplementalGroupsPolicy: 'Merge', seLinuxChangePolicy: 'Recursive' } })],
    ['windows namespaces', windows({ hostPID: true, hostIPC: true, hostUsers: true, shareProcessNamespace: false })],
    ['windows container security', (s) => { s.os = { name: 'windows' }; s.containers[0].securityContext = { appArmorProfile: { type: 'Unconfined' }, seLinuxOptions: {}, seccompProfile: { type: 'Unconfined' }, capabilities: {}, readOnlyRootFilesystem: true, privileged: false, allowPrivilegeEscalation: true, procMount: 'Default', runAsUser: 1, runAsGroup: 1 }; }],
    ['hostProcess differs between Pod and container', (s) => { s.hostNetwork = true; s.securityContext = { windowsOptions: { hostProcess: true } }; s.containers[0].securityContext = { windowsOptions: { hostProcess: false } }; }],
    ['hostProcess in one of two containers', (s) => { s.hostNetwork = true; s.containers.push({ name: 'd', image: 'b', securityContext: { windowsOptions: { hostProcess: true } } }); }],
  ]),
  ...inSpec('node-affinity', 'node affinity', [
    ['no terms', required()], ['operator unknown', expression({ operator: 'Like' })], ['operator missing', expression({ operator: undefined })], ['In without values', expression({ values: [] })], ['Exists with values', expression({ operator: 'Exists' })], ['Gt with two values', expression({ operator: 'Gt', values: ['1', '2'] })], ['key missing', expression({ key: undefined })], ['key invalid', expression({ key: 'a b' })], ['value invalid', expression({ values: ['a b'] })],
    ['field unknown', required({ matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['v'] }] })], ['field operator', required({ matchFields: [{ key: 'metadata.name', operator: 'Exists' }] })], ['field with two values', required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a', 'b'] }] })], ['field value', required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['A_b'] }] })],
    ['weight zero', node({ preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }] })], ['weight too large', node({ preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }] })],
  ]),
  ...inSpec('pod-affinity', 'pod affinity and anti-affinity', [
    ['topologyKey missing', term({ topologyKey: undefined })], ['topologyKey invalid', term({ topologyKey: 'a b' })], ['namespace invalid', term({ namespaces: ['A'] })], ['selector operator', term({ labelSelector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } })], ['selector In without values', term({ labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } })], ['selector Exists with values', term({ labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['1'] }] } })],
    ['selector key invalid', term({ labelSelector: { matchLabels: { 'a b': 'c' } } })], ['selector value invalid', term({ labelSelector: { matchLabels: { a: 'b c' } } })], ['namespaceSelector value invalid', term({ namespaceSelector: { matchLabels: { a: 'b c' } } })], ['weight zero', weighted(0)], ['weight too large', weighted(101)], ['matchLabelKeys without selector', term({ labelSelector: undefined, matchLabelKeys: ['v'] })],
    ['matchLabelKeys invalid', term({ matchLabelKeys: ['a b'] })], ['mismatchLabelKeys without selector', term({ labelSelector: undefined, mismatchLabelKeys: ['v'] })], ['key in both lists', term({ matchLabelKeys: ['v'], mismatchLabelKeys: ['v'] })],
    ['key in selector as well', (s, o) => { o.metadata.labels = { v: '1' }; Object.assign(s, term({ labelSelector: { matchLabels: { v: '2' } }, matchLabelKeys: ['v'] })); }],
  ]),
  ...inSpec('topology-spread', 'topologySpreadConstraints', [
    ['maxSkew zero', spread({ maxSkew: 0 })], ['maxSkew negative', spread({ maxSkew: -1 })], ['topologyKey missing', spread({ topologyKey: undefined })], ['whenUnsatisfiable', spread({ whenUnsatisfiable: 'Wait' })], ['whenUnsatisfiable missing', spread({ whenUnsatisfiable: undefined })], ['the same pair twice', spread({}, {})], ['minDomains zero', spread({ minDomains: 0 })], ['minDomains with ScheduleAnyway', spread({ whenUnsatisfiable: 'ScheduleAnyway', minDomains: 1 })],
    ['nodeAffinityPolicy', spread({ nodeAffinityPolicy: 'x' })], ['nodeTaintsPolicy', spread({ nodeTaintsPolicy: 'x' })], ['matchLabelKeys without selector', spread({ labelSelector: undefined, matchLabelKeys: ['v'] })], ['matchLabelKeys in selector', spread({ matchLabelKeys: ['a'] })], ['matchLabelKeys invalid', spread({ matchLabelKeys: ['a b'] })], ['selector invalid', spread({ labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } })],
  ]),
  ...inSpec('tolerations', 'tolerations', [
    ['operator unknown', toleration({ operator: 'In' })], ['Exists with value', toleration({ operator: 'Exists' })], ['empty key wants Exists', toleration({ key: '' })], ['effect unknown', toleration({ effect: 'NoRun' })], ['seconds want NoExecute', toleration({ tolerationSeconds: 5 })], ['key invalid', toleration({ key: 'a b' })], ['value invalid', toleration({ value: 'a b' })], ['value too long', toleration({ value: repeat('v', 64) })],
  ]),
  ...inSpec('dns', 'dnsConfig and hostAliases', [
    ['None wants dnsConfig', { dnsPolicy: 'None' }], ['None wants a nameserver', dns({ searches: ['a'] }, { dnsPolicy: 'None' })], ['four nameservers', dns({ nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] })], ['nameserver not an address', dns({ nameservers: ['dns.example'] })], ['33 searches', dns({ searches: Array.from({ length: 33 }, (_, i) => `s${i}`) })], ['searches too long', dns({ searches: Array.from({ length: 10 }, (_, i) => `${repeat('a', 60)}.${repeat('b', 60)}.${repeat('c', 60)}.s${i}`).concat(Array.from({ length: 2 }, (_, i) => `${repeat('a', 60)}.${repeat('b', 60)}.t${i}`)) })],
    ['search invalid', dns({ searches: ['a b'] })], ['search in capitals', dns({ searches: ['A.example'] })], ['option without name', dns({ options: [{ value: '1' }] })], ['alias without address', { hostAliases: [{ hostnames: ['a'] }] }], ['alias address', { hostAliases: [{ ip: 'x', hostnames: ['a'] }] }], ['alias hostname', { hostAliases: [{ ip: '1.2.3.4', hostnames: ['A_b'] }] }],
  ]),
  ...refused('core-pod-annotations', { about: 'annotations that the server itself reads', at, base: pod(), part: root }, [
    ['mirror Pod wants nodeName', annotated({ 'kubernetes.io/config.mirror': 'x' })], ['deletion cost not a number', annotated({ 'controller.kubernetes.io/pod-deletion-cost': '1.5' })], ['deletion cost with plus', annotated({ 'controller.kubernetes.io/pod-deletion-cost': '+1' })], ['deletion cost out of range', annotated({ 'controller.kubernetes.io/pod-deletion-cost': '2147483648' })],
    ['seccomp Pod annotation', annotated({ 'seccomp.security.alpha.kubernetes.io/pod': 'strict' })], ['seccomp container annotation', annotated({ 'container.seccomp.security.alpha.kubernetes.io/c': 'localhost//a' })], ['appArmor of no container', annotated({ 'container.apparmor.security.beta.kubernetes.io/zzz': 'runtime/default' })], ['appArmor profile', annotated({ 'container.apparmor.security.beta.kubernetes.io/c': 'strict' })],
    ['seccomp annotation unlike field', (o) => { o.metadata.annotations = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' }; o.spec.securityContext = { seccompProfile: { type: 'RuntimeDefault' } }; }],
    ['appArmor annotation unlike field', (o) => { o.metadata.annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' }; o.spec.containers[0].securityContext = { appArmorProfile: { type: 'RuntimeDefault' } }; }],
    ['tolerations annotation', annotated({ 'scheduler.alpha.kubernetes.io/tolerations': '{' })],
  ]),
  ...refused('core-pod-metadata', { about: 'metadata of a Pod', at, base: pod(), part: (o) => o.metadata }, [
    ['name in capitals', { name: 'Pod' }], ['name too long', { name: repeat('a', 254) }], ['name missing', { name: undefined }], ['label key', { labels: { 'a b': 'c' } }], ['label value', { labels: { a: 'b c' } }], ['annotation key', { annotations: { 'a b': 'c' } }], ['finalizer not qualified', { finalizers: ['mine'] }], ['finalizer invalid', { finalizers: ['a b/c'] }],
    ['owner without name', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', uid: 'x' }] }], ['two controllers', { ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'x', controller: true }, { apiVersion: 'v1', kind: 'A', name: 'b', uid: 'y', controller: true }] }], ['owner is an Event', { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'a', uid: 'x' }] }],
  ]),
  scenario('core-pod-admission-refusals', { section: '7', about: 'refusals that come from default admission plug-ins, not from validation' }, [
    POST(at, pod({ priorityClassName: 'gone' }), { note: 'unknown priority class' }), POST(at, pod({ priority: 5 }), { note: 'priority given by hand' }), POST(at, pod({ preemptionPolicy: 'Never' }), { note: 'preemptionPolicy given by hand' }), POST(at, pod({ runtimeClassName: 'gone' }), { note: 'unknown runtime class' }), POST(at, pod({ overhead: { cpu: '1' } }), { note: 'overhead without runtime class' }),
    POST(at, pod({}, { name: 'p', namespace: 'other' }), { note: 'another namespace in the body' }),
  ]),
];
