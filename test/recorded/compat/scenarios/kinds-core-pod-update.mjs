// Pods: what may change after creation, on the Pod itself and through its subresources.
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';
import { inNs, pod, patched, withoutDiff } from './kit/kinds-core.mjs';

const at = inNs('pods');
const shown = (b) => ({ generation: b.metadata.generation, spec: b.spec });
const c = (o) => ({ spec: { containers: [{ name: 'c', image: 'busybox:1', ...o }] } });
const update = (id, about, base, rows) => patched(`core-pod-update-${id}`, { about, at, base, shown }, rows);
const gates = [{ name: 'a' }, { name: 'b' }];
const terms = (...nodeSelectorTerms) => ({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } });
const match = (...keys) => ({ matchExpressions: keys.map((key) => ({ key, operator: 'Exists' })) });
const resources = (requests, limits) => ({ spec: { containers: [{ name: 'c', resources: { requests, limits } }] } });
const resizable = pod({ containers: [{ name: 'c', image: 'b:1', resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } } }, { name: 'd', image: 'b:1', resources: { requests: { memory: '1Gi' } }, resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] }] });
const resize = (id, about, rows, base = resizable) => patched(`core-pod-resize-${id}`, { about, at, base, sub: 'resize', shown }, rows.map(([note, patch, type]) => [note, patch, type ?? 'strategic']));
const ephemeral = (...list) => ({ spec: { ephemeralContainers: list } });

export default [
  ...update('allowed', 'images, deadline, more tolerations and metadata may change; generation counts spec changes', pod({ initContainers: [{ name: 'i', image: 'b:1' }] }), [
    ['image', c({ image: 'busybox:2' })], ['image of an init container', { spec: { initContainers: [{ name: 'i', image: 'b:2' }] } }], ['activeDeadlineSeconds set', { spec: { activeDeadlineSeconds: 100 } }], ['activeDeadlineSeconds lowered', { spec: { activeDeadlineSeconds: 50 } }],
    ['labels only', { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } }], ['status is ignored', { status: { phase: 'Running' } }], ['nothing', {}],
  ]),
  ...update('tolerations', 'tolerations may be added, and only their seconds changed', pod({ tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }] }), [
    ['seconds', [{ op: 'replace', path: '/spec/tolerations/0/tolerationSeconds', value: 9 }], 'json-patch'], ['added', [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'n', operator: 'Exists' } }], 'json-patch'],
    ['removed', [{ op: 'remove', path: '/spec/tolerations/0' }], 'json-patch'], ['operator changed', [{ op: 'replace', path: '/spec/tolerations/0/operator', value: 'Equal' }], 'json-patch'], ['added but invalid', [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'a b', operator: 'Exists' } }], 'json-patch'],
  ]),
  ...update('forbidden', 'any other change of the spec is refused', pod({ volumes: [{ name: 'v', emptyDir: {} }] }), [
    ['command', c({ command: ['x'] })], ['env', c({ env: [{ name: 'A', value: 'b' }] })], ['resources', c({ resources: { requests: { cpu: '1' } } })], ['container renamed', { spec: { containers: [{ name: 'z', image: 'busybox:1' }] } }], ['container added', { spec: { containers: [{ name: 'c', image: 'busybox:1' }, { name: 'd', image: 'b' }] } }], ['init container added', { spec: { initContainers: [{ name: 'i', image: 'b' }] } }],
    ['nodeName', { spec: { nodeName: 'n' } }], ['nodeSelector', { spec: { nodeSelector: { a: 'b' } } }], ['restartPolicy', { spec: { restartPolicy: 'Never' } }], ['volumes', { spec: { volumes: [{ name: 'v', hostPath: { path: '/a' } }] } }], ['terminationGracePeriodSeconds', { spec: { terminationGracePeriodSeconds: 1 } }],
    ['serviceAccountName', { spec: { serviceAccountName: 'x' } }], ['hostNetwork', { spec: { hostNetwork: true } }], ['priority', { spec: { priority: 5 } }], ['schedulerName', { spec: { schedulerName: 'x' } }], ['affinity', { spec: terms(match('a')) }], ['readinessGates', { spec: { readinessGates: [{ conditionType: 'a/b' }] } }], ['dnsPolicy', { spec: { dnsPolicy: 'Default' } }],
    ['ephemeralContainers', { spec: { ephemeralContainers: [{ name: 'e', image: 'b' }] } }], ['schedulingGates', { spec: { schedulingGates: [{ name: 'a' }] } }], ['image emptied', c({ image: '' })], ['image padded', c({ image: 'b ' })],
  ]),
  ...update('deadline', 'activeDeadlineSeconds may only go down and never away', pod({ activeDeadlineSeconds: 100 }), [['raised', { spec: { activeDeadlineSeconds: 101 } }], ['removed', { spec: { activeDeadlineSeconds: null } }], ['zero', { spec: { activeDeadlineSeconds: 0 } }], ['negative', { spec: { activeDeadlineSeconds: -1 } }], ['same', { spec: { activeDeadlineSeconds: 100 } }]]),
  ...update('gated', 'while gates remain, node selector and node affinity may be narrowed', pod({ schedulingGates: gates, nodeSelector: { a: 'b' }, ...terms(match('x')) }), [
    ['selector grows', { spec: { nodeSelector: { c: 'd' } } }], ['selector value changes', { spec: { nodeSelector: { a: 'z' } } }], ['selector shrinks', { spec: { nodeSelector: { a: null } } }], ['expression added', { spec: terms(match('x', 'y')) }], ['expression changed', { spec: terms(match('z')) }], ['term added', { spec: terms(match('x', 'y'), match('z')) }], ['affinity removed', { spec: { affinity: null } }],
    ['pod affinity', { spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {}, topologyKey: 'z' }] } } } }], ['gate added', { spec: { schedulingGates: [...gates, { name: 'c' }] } }], ['gate removed', { spec: { schedulingGates: [{ name: 'b' }] } }], ['all gates removed', { spec: { schedulingGates: null } }],
  ]),
  ...update('gated-free', 'a gated Pod without node affinity may get any', pod({ schedulingGates: gates }), [['affinity set', { spec: terms(match('x')) }], ['preferred set', { spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: match('y') }] } } } }], ['nodeName while gated', { spec: { nodeName: 'n' } }]]),
  ...update('metadata', 'metadata that cannot change', pod({}, { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' } }), [
    ['appArmor annotation changed', { metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default' } } }], ['appArmor annotation removed', { metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': null } } }], ['mirror annotation added', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }],
    ['name', { metadata: { name: 'q' } }], ['uid', { metadata: { uid: '11111111-2222-3333-4444-555555555555' } }], ['generation', { metadata: { generation: 7 } }], ['creationTimestamp', { metadata: { creationTimestamp: '2001-01-01T00:00:00Z' } }], ['deletionTimestamp', { metadata: { deletionTimestamp: '2001-01-01T00:00:00Z' } }],
  ]),
  scenario('core-pod-put-minimal', { section: '4.7', about: 'PUT of the original manifest: what admission and defaults set must not be lost' }, [
    POST(at, pod(), { compare: 'status' }), PUT(inNs('pods', 'p'), pod(), { pick: withoutDiff }), PUT(inNs('pods', 'gone'), pod({}, { name: 'gone' })),
  ]),
  scenario('core-pod-put-roundtrip', { section: '4.7', about: 'PUT of what GET gave changes nothing, not even the resource version' }, [
    POST(at, pod(), { id: 'p' }), PUT(inNs('pods', 'p'), '${p}'),
  ]),

  ...patched('core-pod-ephemeral-containers', { about: 'ephemeral containers are added through their subresource', at, base: pod({ volumes: [{ name: 'v', emptyDir: {} }] }), sub: 'ephemeralcontainers', shown }, [
    ['minimal', ephemeral({ name: 'e', image: 'b' }), 'strategic'], ['maximal', ephemeral({ name: 'f', image: 'b', command: ['c'], args: ['a'], workingDir: '/', env: [{ name: 'A', value: 'b' }], envFrom: [{ secretRef: { name: 's' } }], volumeMounts: [{ name: 'v', mountPath: '/v' }], imagePullPolicy: 'Never', terminationMessagePath: '/t', terminationMessagePolicy: 'File', securityContext: { runAsUser: 1 }, stdin: true, stdinOnce: true, tty: true, targetContainerName: 'c' }), 'strategic'],
    ['other fields are ignored', { metadata: { labels: { a: 'b' } }, spec: { hostNetwork: true, containers: [{ name: 'c', image: 'other' }] } }, 'strategic'],
    ['changed', ephemeral({ name: 'e', image: 'z' }), 'strategic'], ['removed', ephemeral({ name: 'x', image: 'b' })], ['name of a container', ephemeral({ name: 'c', image: 'b' }), 'strategic'], ['target unknown', ephemeral({ name: 'g', image: 'b', targetContainerName: 'zzz' }), 'strategic'], ['image missing', ephemeral({ name: 'g' }), 'strategic'],
    ['fields not allowed', ephemeral({ name: 'g', image: 'b', ports: [{ containerPort: 1 }], resources: { requests: { cpu: '1' } }, livenessProbe: { exec: { command: ['x'] } }, readinessProbe: { exec: { command: ['x'] } }, startupProbe: { exec: { command: ['x'] } }, lifecycle: { preStop: { exec: { command: ['x'] } } } }), 'strategic'],
    ['resizePolicy and restartPolicy', ephemeral({ name: 'g', image: 'b', restartPolicy: 'Always', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] }), 'strategic'], ['subPath', ephemeral({ name: 'g', image: 'b', volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'a' }] }), 'strategic'],
  ]),
  scenario('core-pod-ephemeral-get', { section: '4.2', about: 'GET of the ephemeralcontainers and resize subresources gives the Pod; POST is not allowed' }, [
    POST(at, pod(), { compare: 'status' }), GET(inNs('pods', 'p/ephemeralcontainers'), { pick: (b) => b.kind }), GET(inNs('pods', 'p/resize'), { pick: (b) => b.kind }), POST(inNs('pods', 'p/ephemeralcontainers'), pod()), PATCH(inNs('pods', 'gone/ephemeralcontainers'), 'strategic', ephemeral({ name: 'e', image: 'b' })),
  ]),
  ...resize('allowed', 'cpu and memory of containers may change through resize', [
    ['cpu up', resources({ cpu: '1500m' })], ['cpu limit up', resources(undefined, { cpu: '3' })], ['memory limit up', resources(undefined, { memory: '3Gi' })], ['memory request down', resources({ memory: '512Mi' })], ['request added', { spec: { containers: [{ name: 'd', resources: { requests: { cpu: '100m' } } }] } }], ['limit added with restart', { spec: { containers: [{ name: 'd', resources: { limits: { memory: '2Gi' } } }] } }], ['limit lowered with restart', { spec: { containers: [{ name: 'd', resources: { limits: { memory: '1Gi' } } }] } }], ['other fields are ignored', { metadata: { labels: { a: 'b' } }, spec: { hostNetwork: true, containers: [{ name: 'c', image: 'other' }] } }], ['nothing', {}], ['a removed request comes back as the limit', [{ op: 'remove', path: '/spec/containers/0/resources/requests/cpu' }], 'json-patch'],
  ]),
  ...resize('refused', 'resizes that are not allowed', [
    ['request above limit', resources({ cpu: '5' })], ['memory limit lowered', resources(undefined, { memory: '1536Mi' })], ['memory limit added without restart', { spec: { containers: [{ name: 'c', resizePolicy: [{ resourceName: 'memory', restartPolicy: 'NotRequired' }] }, { name: 'd', resizePolicy: [{ resourceName: 'memory', restartPolicy: 'NotRequired' }], resources: { limits: { memory: '2Gi' } } }] } }], ['request removed', [{ op: 'remove', path: '/spec/containers/1/resources/requests/memory' }], 'json-patch'], ['limit removed', [{ op: 'remove', path: '/spec/containers/0/resources/limits/cpu' }], 'json-patch'],
    ['becomes guaranteed', [{ op: 'replace', path: '/spec/containers/0/resources', value: { requests: { cpu: '2', memory: '2Gi' }, limits: { cpu: '2', memory: '2Gi' } } }, { op: 'replace', path: '/spec/containers/1/resources', value: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } } }], 'json-patch'],
    ['container added', [{ op: 'add', path: '/spec/containers/-', value: { name: 'e', image: 'b' } }], 'json-patch'], ['container renamed', [{ op: 'replace', path: '/spec/containers/0/name', value: 'z' }], 'json-patch'], ['other resource', resources({ 'ephemeral-storage': '1Gi' })], ['negative', resources({ cpu: '-1' })], ['resizePolicy', { spec: { containers: [{ name: 'c', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }] } }],
  ]),
  ...resize('together', 'all that is wrong with a resize is told together', [
    ['no amount, and another class', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '-1' } } }] } }],
    ['moved, and no amount', [{ op: 'replace', path: '/spec/containers/0/name', value: 'x' }, { op: 'replace', path: '/spec/containers/1/resources/requests/cpu', value: '-1' }], 'json-patch'],
    ['other amounts of a sidecar', [{ op: 'add', path: '/spec/initContainers/0/resources/limits', value: { 'example.com/x': '1' } }, { op: 'add', path: '/spec/initContainers/0/resources/requests', value: { 'example.com/x': '1' } }], 'json-patch'],
    ['removed everywhere', [{ op: 'remove', path: '/spec/initContainers/0/resources/requests' }, { op: 'remove', path: '/spec/containers/0/resources/requests/cpu' }, { op: 'add', path: '/spec/initContainers/1/resources', value: { requests: { cpu: '1' } } }], 'json-patch'],
  ], pod({ initContainers: [{ name: 's', image: 'b', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } }, { name: 'i', image: 'b' }], containers: [{ name: 'c', image: 'b', resources: { requests: { cpu: '1', memory: '1Gi' } } }, { name: 'd', image: 'b', resources: { requests: { cpu: '1' } } }] })),
  ...resize('other-first', 'where a container had no requests, or no limits, a resize may give it others than cpu and memory', [['request', resources({ 'ephemeral-storage': '2Gi' })], ['request of a list that is there', resources({ 'ephemeral-storage': '3Gi' })], ['limit', resources(undefined, { 'ephemeral-storage': '4Gi' })]], pod()),
  ...resize('best-effort', 'a Pod without resources cannot get any: its QoS class would change', [['request', resources({ cpu: '1' })]], pod()),
  ...resize('init', 'init containers cannot be resized, sidecars can', [['init', { spec: { initContainers: [{ name: 'i', resources: { requests: { cpu: '2' } } }] } }], ['sidecar', { spec: { initContainers: [{ name: 's', resources: { requests: { cpu: '2' } } }] } }]], pod({ initContainers: [{ name: 'i', image: 'b', resources: { requests: { cpu: '1' } } }, { name: 's', image: 'b', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } }] })),
  ...resize('init-order', 'init containers stay where they are, under their own name in what is said', [['added', [{ op: 'add', path: '/spec/initContainers/-', value: { name: 'e', image: 'b' } }], 'json-patch'], ['removed', [{ op: 'remove', path: '/spec/initContainers' }], 'json-patch'], ['renamed', [{ op: 'replace', path: '/spec/initContainers/0/name', value: 'z' }], 'json-patch'], ['both lists', [{ op: 'replace', path: '/spec/initContainers/1/name', value: 'z' }, { op: 'add', path: '/spec/containers/-', value: { name: 'e', image: 'b' } }], 'json-patch']], pod({ initContainers: [{ name: 'i', image: 'b' }, { name: 'j', image: 'b' }], containers: [{ name: 'c', image: 'b', resources: { requests: { cpu: '1' } } }] })),
  ...resize('windows', 'a windows Pod cannot be resized', [['cpu', resources({ cpu: '2' })]], pod({ os: { name: 'windows' }, containers: [{ name: 'c', image: 'b', resources: { requests: { cpu: '1' } } }] })),
  scenario('core-pod-resize-running', { section: '7', about: 'a running container without resources in its status shows a node that cannot resize' }, [
    POST(at, resizable, { compare: 'status' }), PATCH(inNs('pods', 'p/status'), 'merge', { status: { containerStatuses: [{ name: 'c', image: 'b', imageID: 'x', ready: true, restartCount: 0, state: { running: {} } }] } }, { compare: 'status' }),
    PATCH(inNs('pods', 'p/resize'), 'strategic', resources({ cpu: '1500m' })),
  ]),

  scenario('core-pod-binding', { section: '4.2', about: 'binding a Pod sets nodeName, a condition and the annotations of the binding; twice is a conflict' }, [
    POST(at, pod(), { compare: 'status' }), POST(inNs('pods', 'p/binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p', annotations: { a: 'b' }, labels: { c: 'd' } }, target: { apiVersion: 'v1', kind: 'Node', name: 'n1' } }), GET(inNs('pods', 'p')), POST(inNs('pods', 'p/binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n2' } }),
  ]),
  scenario('core-pod-binding-legacy', { section: '4.2', about: 'POST to bindings binds the Pod of that name' }, [
    POST(at, pod(), { compare: 'status' }), POST(inNs('bindings'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { name: 'n1' } }), GET(inNs('pods', 'p'), { pick: (b) => ({ spec: b.spec.nodeName, status: b.status }) }), GET(inNs('bindings')),
  ]),
  scenario('core-pod-binding-invalid', { section: '7', about: 'bindings that are refused' }, [
    POST(at, pod(), { compare: 'status' }),
    ...[['target kind', { kind: 'Machine', name: 'n' }], ['target name missing', { kind: 'Node' }], ['target missing', undefined]].map(([note, target]) => POST(inNs('pods', 'p/binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target }, { note })),
    POST(inNs('pods', 'gone/binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'gone' }, target: { name: 'n' } }, { note: 'no such Pod' }), POST(inNs('pods', 'p/binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'q' }, target: { name: 'n' } }, { note: 'another name' }), POST(inNs('pods', 'p/binding'), pod(), { note: 'not a Binding' }),
    POST(inNs('pods', 'p/binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p', uid: '11111111-2222-3333-4444-555555555555' }, target: { name: 'n' } }, { note: 'another uid' }), GET(inNs('pods', 'p/binding')),
  ]),
  scenario('core-pod-binding-gated', { section: '7', about: 'a Pod with scheduling gates cannot be bound' }, [POST(at, pod({ schedulingGates: gates }), { compare: 'status' }), POST(inNs('pods', 'p/binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { name: 'n' } })]),
  scenario('core-pod-binding-topology', { section: '3', about: 'binding does not copy topology labels of the node to the Pod (the feature is off in v1.33)', cleanup: ['/api/v1/nodes/$ns-n'] }, [
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n', labels: { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', other: 'x' } } }, { compare: 'status' }),
    POST(at, pod(), { compare: 'status' }), POST(inNs('pods', 'p/binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: '$ns-n' } }), GET(inNs('pods', 'p'), { pick: (b) => b.metadata.labels ?? null }),
  ]),

  scenario('core-pod-delete-unbound', { section: '3.1', about: 'a Pod without a node is removed at once' }, [POST(at, pod(), { compare: 'status' }), DELETE(inNs('pods', 'p'), undefined, { pick: (b) => ({ kind: b.kind, deletion: [b.metadata.deletionTimestamp ?? null, b.metadata.deletionGracePeriodSeconds ?? null] }) }), GET(inNs('pods', 'p'))]),
  scenario('core-pod-delete-bound', { section: '3.1', about: 'a Pod with a node is only marked, with its own grace period; a shorter one wins, zero removes it' }, [
    POST(at, pod({ nodeName: 'n', terminationGracePeriodSeconds: 40 }), { compare: 'status' }), DELETE(inNs('pods', 'p'), undefined, { pick: (b) => b.metadata }), DELETE(inNs('pods', 'p'), undefined, { query: { gracePeriodSeconds: '10' }, pick: (b) => b.metadata }), DELETE(inNs('pods', 'p'), undefined, { query: { gracePeriodSeconds: '20' }, pick: (b) => b.metadata }),
    PATCH(inNs('pods', 'p'), 'merge', { metadata: { labels: { still: 'here' } } }, { pick: (b) => b.metadata.labels }), DELETE(inNs('pods', 'p'), undefined, { query: { gracePeriodSeconds: '0' }, pick: (b) => b.metadata }), GET(inNs('pods', 'p')),
  ]),
  scenario('core-pod-delete-finished', { section: '3.1', about: 'a finished Pod is removed at once even with a node' }, [POST(at, pod({ nodeName: 'n' }), { compare: 'status' }), PATCH(inNs('pods', 'p/status'), 'merge', { status: { phase: 'Succeeded' } }, { compare: 'status' }), DELETE(inNs('pods', 'p'), undefined, { pick: (b) => b.metadata }), GET(inNs('pods', 'p'))]),
];
