// Pods: what makes a container invalid. One row, one rule; the recorded causes are the exact texts.
import { inNs, pod, container, spec, refused, repeat } from './kit/kinds-core.mjs';

const at = inNs('pods');
const inContainer = (id, about, rows, base = pod()) => refused(`core-pod-container-${id}`, { about, at, base, part: container }, rows);
const withVolumes = pod({ volumes: [{ name: 'v', emptyDir: {} }, { name: 'claim', persistentVolumeClaim: { claimName: 'x' } }] });
const env = (e) => ({ env: [{ name: 'A', ...e }] });
const from = (valueFrom) => env({ valueFrom });
const probe = (p) => ({ livenessProbe: { exec: { command: ['x'] }, ...p } });
const limits = (l, requests) => ({ resources: { limits: l, ...(requests ? { requests } : {}) } });
const requests = (r) => ({ resources: { requests: r } });
const security = (s) => ({ securityContext: s });
const init = (o, more = {}) => ({ initContainers: [{ name: 'i', image: 'b', ...o }], ...more });

export default [
  ...inContainer('basics', 'name, image, and the enumerations of a container', [
    ['name missing', { name: undefined }], ['name in capitals', { name: 'Main' }], ['name with underscore', { name: 'a_b' }], ['name too long', { name: repeat('a', 64) }], ['name ends with a dash', { name: 'a-' }],
    ['image missing', { image: undefined }], ['image empty', { image: '' }], ['image blank', { image: ' ' }], ['image padded', { image: 'busybox ' }],
    ['imagePullPolicy', { imagePullPolicy: 'Sometimes' }], ['terminationMessagePolicy', { terminationMessagePolicy: 'Never' }], ['restartPolicy on a regular container', { restartPolicy: 'Always' }],
  ]),
  ...refused('core-pod-containers-list', { about: 'the list of containers as a whole', at, base: pod(), part: spec }, [
    ['no containers', { containers: [] }], ['containers missing', { containers: undefined }], ['two with one name', { containers: [{ name: 'c', image: 'a' }, { name: 'c', image: 'b' }] }], ['two without name', { containers: [{ image: 'a' }, { image: 'b' }] }],
    ['many faults at once, in this order', { containers: [{ name: 'A', image: '', imagePullPolicy: 'x', ports: [{ containerPort: 0, protocol: 'x' }], env: [{ name: '' }] }] }],
  ]),
  ...inContainer('ports', 'ports', [
    ['containerPort missing', { ports: [{ name: 'a' }] }], ['containerPort zero', { ports: [{ containerPort: 0 }] }], ['containerPort negative', { ports: [{ containerPort: -1 }] }], ['containerPort too large', { ports: [{ containerPort: 65536 }] }],
    ['hostPort negative', { ports: [{ containerPort: 1, hostPort: -1 }] }], ['hostPort too large', { ports: [{ containerPort: 1, hostPort: 65536 }] }], ['protocol', { ports: [{ containerPort: 1, protocol: 'ICMP' }] }], ['protocol in small letters', { ports: [{ containerPort: 1, protocol: 'tcp' }] }],
    ['name too long', { ports: [{ containerPort: 1, name: repeat('a', 16) }] }], ['name only digits', { ports: [{ containerPort: 1, name: '123' }] }], ['name in capitals', { ports: [{ containerPort: 1, name: 'HTTP' }] }], ['name with double dash', { ports: [{ containerPort: 1, name: 'a--b' }] }],
    ['name starts with a dash', { ports: [{ containerPort: 1, name: '-a' }] }], ['name twice', { ports: [{ containerPort: 1, name: 'a' }, { containerPort: 2, name: 'a' }] }], ['hostPort twice', { ports: [{ containerPort: 1, hostPort: 5 }, { containerPort: 2, hostPort: 5 }] }],
    ['hostPort twice with address', { ports: [{ containerPort: 1, hostPort: 5, hostIP: '10.0.0.1' }, { containerPort: 2, hostPort: 5, hostIP: '10.0.0.1' }] }],
  ]),
  ...refused('core-pod-host-ports', { about: 'host ports across containers and with hostNetwork', at, base: pod(), part: spec }, [
    ['the same in two containers', { containers: [{ name: 'a', image: 'b', ports: [{ containerPort: 1, hostPort: 5 }] }, { name: 'b', image: 'b', ports: [{ containerPort: 2, hostPort: 5 }] }] }],
    ['hostNetwork wants hostPort equal to containerPort', (s) => { s.hostNetwork = true; s.containers[0].ports = [{ containerPort: 80, hostPort: 81 }]; }],
    ['in one init container', init({ ports: [{ containerPort: 1, hostPort: 5 }, { containerPort: 2, hostPort: 5 }] })],
  ]),
  ...inContainer('env', 'env and its sources', [
    ['name missing', { env: [{ value: 'x' }] }], ['name with =', { env: [{ name: 'a=b' }] }], ['name not ASCII', { env: [{ name: 'é' }] }], ['name with control character', { env: [{ name: 'a\tb' }] }],
    ['valueFrom without a source', from({})], ['value and valueFrom', env({ value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } })], ['two sources', from({ fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 's', key: 'k' } })],
    ['fieldPath missing', from({ fieldRef: {} })], ['fieldPath unknown', from({ fieldRef: { fieldPath: 'metadata.whoops' } })], ['fieldPath of another version', from({ fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v2' } })], ['all labels not in env', from({ fieldRef: { fieldPath: 'metadata.labels' } })], ['all annotations not in env', from({ fieldRef: { fieldPath: 'metadata.annotations' } })],
    ['label key invalid', from({ fieldRef: { fieldPath: "metadata.labels['a b']" } })], ['annotation key invalid', from({ fieldRef: { fieldPath: "metadata.annotations['a b']" } })], ['subscript not supported', from({ fieldRef: { fieldPath: "metadata.name['a']" } })], ['status.phase not supported', from({ fieldRef: { fieldPath: 'status.phase' } })],
    ['resource missing', from({ resourceFieldRef: {} })], ['resource unknown', from({ resourceFieldRef: { resource: 'limits.gpu' } })], ['divisor of cpu', from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } })], ['divisor of memory', from({ resourceFieldRef: { resource: 'requests.memory', divisor: '2Mi' } })],
    ['divisor of ephemeral-storage', from({ resourceFieldRef: { resource: 'requests.ephemeral-storage', divisor: '1m' } })], ['divisor of hugepages', from({ resourceFieldRef: { resource: 'limits.hugepages-2Mi', divisor: '3' } })],
    ['configMapKeyRef name missing', from({ configMapKeyRef: { key: 'k' } })], ['configMapKeyRef key missing', from({ configMapKeyRef: { name: 'n' } })], ['configMapKeyRef key invalid', from({ configMapKeyRef: { name: 'n', key: 'a/b' } })], ['configMapKeyRef name invalid', from({ configMapKeyRef: { name: 'N', key: 'k' } })],
    ['secretKeyRef name missing', from({ secretKeyRef: { key: 'k' } })], ['secretKeyRef key missing', from({ secretKeyRef: { name: 'n' } })], ['secretKeyRef key is ..', from({ secretKeyRef: { name: 'n', key: '..' } })], ['secretKeyRef key too long', from({ secretKeyRef: { name: 'n', key: repeat('k', 254) } })],
  ]),
  ...inContainer('env-from', 'envFrom', [
    ['no source', { envFrom: [{}] }], ['two sources', { envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'b' } }] }], ['configMapRef name missing', { envFrom: [{ configMapRef: {} }] }], ['secretRef name missing', { envFrom: [{ secretRef: {} }] }],
    ['configMapRef name invalid', { envFrom: [{ configMapRef: { name: 'A' } }] }], ['secretRef name invalid', { envFrom: [{ secretRef: { name: 'a_b' } }] }], ['prefix with =', { envFrom: [{ prefix: 'a=', secretRef: { name: 'b' } }] }],
  ]),
  ...inContainer('volume-mounts', 'volumeMounts', [
    ['name missing', { volumeMounts: [{ mountPath: '/a' }] }], ['unknown volume', { volumeMounts: [{ name: 'w', mountPath: '/a' }] }], ['mountPath missing', { volumeMounts: [{ name: 'v' }] }], ['mountPath twice', { volumeMounts: [{ name: 'v', mountPath: '/a' }, { name: 'claim', mountPath: '/a' }] }],
    ['subPath absolute', { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '/b' }] }], ['subPath with ..', { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'a/../b' }] }], ['subPathExpr absolute', { volumeMounts: [{ name: 'v', mountPath: '/a', subPathExpr: '/b' }] }], ['subPathExpr with ..', { volumeMounts: [{ name: 'v', mountPath: '/a', subPathExpr: '..' }] }],
    ['subPath and subPathExpr', { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'a', subPathExpr: 'b' }] }], ['mountPropagation', { volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'Both' }] }], ['Bidirectional wants privileged', { volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' }] }],
    ['recursiveReadOnly', { volumeMounts: [{ name: 'v', mountPath: '/a', recursiveReadOnly: 'Yes' }] }], ['recursiveReadOnly wants readOnly', { volumeMounts: [{ name: 'v', mountPath: '/a', recursiveReadOnly: 'Enabled' }] }], ['recursiveReadOnly with propagation', { volumeMounts: [{ name: 'v', mountPath: '/a', readOnly: true, mountPropagation: 'HostToContainer', recursiveReadOnly: 'IfPossible' }] }],
  ], withVolumes),
  ...inContainer('volume-devices', 'volumeDevices', [
    ['name missing', { volumeDevices: [{ devicePath: '/a' }] }], ['unknown volume', { volumeDevices: [{ name: 'w', devicePath: '/a' }] }], ['not a claim', { volumeDevices: [{ name: 'v', devicePath: '/a' }] }], ['devicePath missing', { volumeDevices: [{ name: 'claim' }] }],
    ['devicePath with ..', { volumeDevices: [{ name: 'claim', devicePath: '/a/..' }] }], ['name twice', { volumeDevices: [{ name: 'claim', devicePath: '/a' }, { name: 'claim', devicePath: '/b' }] }], ['mounted as well', { volumeMounts: [{ name: 'claim', mountPath: '/m' }], volumeDevices: [{ name: 'claim', devicePath: '/d' }] }],
    ['path of a mount', { volumeMounts: [{ name: 'v', mountPath: '/d' }], volumeDevices: [{ name: 'claim', devicePath: '/d' }] }],
  ], withVolumes),
  ...inContainer('probes', 'probes', [
    ['no handler', { livenessProbe: {} }], ['two handlers', { livenessProbe: { exec: { command: ['x'] }, tcpSocket: { port: 1 } } }], ['exec without command', { livenessProbe: { exec: {} } }], ['httpGet port missing', { livenessProbe: { httpGet: { path: '/' } } }], ['httpGet port too large', { livenessProbe: { httpGet: { port: 65536 } } }],
    ['httpGet port name', { livenessProbe: { httpGet: { port: 'Not_A_Port' } } }], ['httpGet port empty name', { livenessProbe: { httpGet: { port: '' } } }], ['httpGet port digits as text', { livenessProbe: { httpGet: { port: '80' } } }], ['httpGet scheme', { livenessProbe: { httpGet: { port: 1, scheme: 'FTP' } } }], ['httpGet header name', { livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: 'c' }] } } }],
    ['tcpSocket port', { readinessProbe: { tcpSocket: { port: 0 } } }], ['grpc port', { startupProbe: { grpc: { port: 0 } } }],
    ['initialDelaySeconds negative', probe({ initialDelaySeconds: -1 })], ['timeoutSeconds negative', probe({ timeoutSeconds: -1 })], ['periodSeconds negative', probe({ periodSeconds: -1 })], ['successThreshold negative', probe({ successThreshold: -1 })], ['failureThreshold negative', probe({ failureThreshold: -1 })],
    ['liveness successThreshold must be 1', probe({ successThreshold: 2 })], ['startup successThreshold must be 1', { startupProbe: { exec: { command: ['x'] }, successThreshold: 2 } }], ['terminationGracePeriodSeconds zero', probe({ terminationGracePeriodSeconds: 0 })],
    ['terminationGracePeriodSeconds negative', probe({ terminationGracePeriodSeconds: -1 })], ['readiness has no terminationGracePeriodSeconds', { readinessProbe: { exec: { command: ['x'] }, terminationGracePeriodSeconds: 1 } }],
  ]),
  ...inContainer('lifecycle', 'lifecycle handlers', [
    ['no handler', { lifecycle: { preStop: {} } }], ['two handlers', { lifecycle: { postStart: { exec: { command: ['x'] }, httpGet: { port: 1 } } } }], ['exec without command', { lifecycle: { postStart: { exec: {} } } }], ['httpGet port', { lifecycle: { preStop: { httpGet: { port: 0 } } } }],
    ['tcpSocket port', { lifecycle: { preStop: { tcpSocket: { port: 70000 } } } }], ['sleep negative', { lifecycle: { preStop: { sleep: { seconds: -1 } } } }], ['sleep longer than the grace period', { lifecycle: { preStop: { sleep: { seconds: 31 } } } }], ['sleep and exec', { lifecycle: { preStop: { exec: { command: ['x'] }, sleep: { seconds: 1 } } } }],
  ]),
  ...inContainer('resources', 'resource names and quantities', [
    ['unknown plain name', limits({ gpu: '1' })], ['name known but not for containers', limits({ storage: '1Gi' })], ['pods is not for containers', limits({ pods: '1' })], ['name invalid', limits({ 'a b': '1' })], ['name with two slashes', limits({ 'a/b/c': '1' })], ['extended name with requests. prefix', limits({ 'requests.example.com/x': '1' })],
    ['limit negative', limits({ cpu: '-1' })], ['request negative', requests({ memory: '-1Gi' })], ['request above limit', limits({ cpu: '1' }, { cpu: '2' })], ['memory request above limit', limits({ memory: '1Gi' }, { memory: '1025Mi' })], ['extended resource not whole', limits({ 'example.com/x': '1500m' })],
    ['extended request without limit', requests({ 'example.com/x': '1' })], ['extended request unlike limit', limits({ 'example.com/x': '2' }, { 'example.com/x': '1' })], ['hugepages alone', limits({ 'hugepages-2Mi': '2Mi' })], ['hugepages request without limit', requests({ cpu: '1', 'hugepages-2Mi': '2Mi' })], ['hugepages request unlike limit', limits({ cpu: '1', 'hugepages-2Mi': '4Mi' }, { cpu: '1', 'hugepages-2Mi': '2Mi' })],
    ['hugepages not a multiple', limits({ cpu: '1', 'hugepages-2Mi': '3Mi' })], ['hugepages size zero', limits({ cpu: '1', 'hugepages-0': '1Mi' })], ['hugepages size not a quantity', limits({ cpu: '1', 'hugepages-big': '1Mi' })], ['requests. name', limits({ 'requests.cpu': '1' })],
  ]),
  ...inContainer('bad-quantity', 'a quantity that cannot be parsed is a decoding error, not a validation error', [
    ['letters', limits({ cpu: 'lots' })], ['unknown suffix', limits({ memory: '1GB' })], ['empty', limits({ cpu: '' })], ['a list', limits({ cpu: [] })], ['two points', limits({ cpu: '1.2.3' })],
  ]),
  ...inContainer('resize-policy', 'resizePolicy', [
    ['resource unknown', { resizePolicy: [{ resourceName: 'gpu', restartPolicy: 'NotRequired' }] }], ['resource missing', { resizePolicy: [{ restartPolicy: 'NotRequired' }] }], ['policy unknown', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'Maybe' }] }], ['policy missing', { resizePolicy: [{ resourceName: 'cpu' }] }],
    ['resource twice', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }, { resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }], ['with restartPolicy Never', (c, o) => { o.spec.restartPolicy = 'Never'; c.resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]; }],
  ]),
  ...inContainer('security', 'securityContext of a container', [
    ['runAsUser negative', security({ runAsUser: -1 })], ['runAsUser too large', security({ runAsUser: 2147483648 })], ['runAsGroup negative', security({ runAsGroup: -1 })], ['procMount unknown', security({ procMount: 'Masked' })], ['procMount unmasked wants hostUsers false', security({ procMount: 'Unmasked' })],
    ['privileged without escalation', security({ privileged: true, allowPrivilegeEscalation: false })], ['CAP_SYS_ADMIN without escalation', security({ allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } })],
    ['seccomp type missing', security({ seccompProfile: {} })], ['seccomp type unknown', security({ seccompProfile: { type: 'Strict' } })], ['seccomp Localhost wants a profile', security({ seccompProfile: { type: 'Localhost' } })], ['seccomp profile absolute', security({ seccompProfile: { type: 'Localhost', localhostProfile: '/a' } })], ['seccomp profile with ..', security({ seccompProfile: { type: 'Localhost', localhostProfile: 'a/../b' } })],
    ['seccomp profile without Localhost', security({ seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'a' } })], ['appArmor type missing', security({ appArmorProfile: {} })], ['appArmor type unknown', security({ appArmorProfile: { type: 'x' } })], ['appArmor Localhost wants a profile', security({ appArmorProfile: { type: 'Localhost' } })], ['appArmor profile empty', security({ appArmorProfile: { type: 'Localhost', localhostProfile: '' } })],
    ['appArmor profile padded', security({ appArmorProfile: { type: 'Localhost', localhostProfile: ' a' } })], ['appArmor profile too long', security({ appArmorProfile: { type: 'Localhost', localhostProfile: repeat('a', 4096) } })], ['appArmor profile without Localhost', security({ appArmorProfile: { type: 'Unconfined', localhostProfile: 'a' } })],
  ]),
  ...inContainer('windows', 'windowsOptions of a container', [
    ['gmsaCredentialSpecName', security({ windowsOptions: { gmsaCredentialSpecName: 'A_b' } })], ['gmsaCredentialSpec empty', security({ windowsOptions: { gmsaCredentialSpec: '' } })], ['runAsUserName empty', security({ windowsOptions: { runAsUserName: '' } })], ['runAsUserName control character', security({ windowsOptions: { runAsUserName: 'a\u0001' } })],
    ['runAsUserName two backslashes', security({ windowsOptions: { runAsUserName: 'a\\b\\c' } })], ['runAsUserName domain', security({ windowsOptions: { runAsUserName: '.d\\u' } })], ['runAsUserName domain too long', security({ windowsOptions: { runAsUserName: `${repeat('d', 256)}\\u` } })], ['runAsUserName user missing', security({ windowsOptions: { runAsUserName: 'd\\' } })],
    ['runAsUserName user too long', security({ windowsOptions: { runAsUserName: repeat('u', 105) } })], ['runAsUserName dots only', security({ windowsOptions: { runAsUserName: '. .' } })], ['runAsUserName characters', security({ windowsOptions: { runAsUserName: 'a@b' } })], ['hostProcess wants hostNetwork', security({ windowsOptions: { hostProcess: true } })],
  ]),
  ...refused('core-pod-init-containers', { about: 'init containers, with and without restartPolicy Always', at, base: pod(), part: spec }, [
    ['name of a regular container', init({ name: 'c' })], ['two with one name', { initContainers: [{ name: 'i', image: 'b' }, { name: 'i', image: 'b' }] }], ['name missing', init({ name: undefined })], ['image padded', init({ image: ' b' })], ['restartPolicy unknown', init({ restartPolicy: 'OnFailure' })],
    ['lifecycle', init({ lifecycle: { preStop: { exec: { command: ['x'] } } } })], ['livenessProbe', init({ livenessProbe: { exec: { command: ['x'] } } })], ['readinessProbe', init({ readinessProbe: { exec: { command: ['x'] } } })], ['startupProbe', init({ startupProbe: { exec: { command: ['x'] } } })],
    ['sidecar with a bad probe', init({ restartPolicy: 'Always', livenessProbe: { exec: { command: ['x'] }, successThreshold: 2 } })], ['sidecar sleeps too long', init({ restartPolicy: 'Always', lifecycle: { preStop: { sleep: { seconds: 99 } } } })],
    ['ephemeralContainers on create', { ephemeralContainers: [{ name: 'e', image: 'b' }] }],
  ]),
];
