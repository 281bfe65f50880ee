// PodSecurity: the controls of the levels baseline and restricted, the modes, versions, and labels of namespaces.
import { scenario, AUDITED, POST, PATCH, SLEEP } from '../steps.ts';
import { grantAll } from './kit/audit.mjs';
import { PODS, DEPLOYMENTS, quiet, dry, warned } from './kit/admission.mjs';

const prefix = 'pod-security.kubernetes.io/';
const labelled = (o) => Object.fromEntries(Object.entries(o).map(([k, v]) => [`${prefix}${k}`, v]));
/** The scenario's namespace is made with these labels, so that they count from the start. */
const made = (labels, o = quiet) => POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns', labels: labelled(labels) } }, o);
const within = (id, about, labels, steps) => scenario(`admission-podsecurity-${id}`, { section: '7', about, namespace: false, cleanup: ['/api/v1/namespaces/$ns'] }, [made(labels), ...steps]);

const container = (name = 'c', securityContext) => ({ name, image: 'img', ...(securityContext ? { securityContext } : {}) });
const podOf = (spec, metadata = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, spec });
const plain = (spec = {}, metadata) => podOf({ containers: [container()], ...spec }, metadata);
const careful = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
const carefulPod = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
/** A pod that the level restricted accepts, with changes. */
const strict = (spec = {}, metadata) => podOf({ securityContext: carefulPod, containers: [container('c', careful)], ...spec }, metadata);
const strictWith = (podContext = {}, containerContext = {}) => strict({ securityContext: { ...carefulPod, ...podContext }, containers: [container('c', { ...careful, ...containerContext })] });

const chunks = (rows, size) => Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size));
/** One scenario per control: each row is a pod, tried as a dry run. */
const control = (level, id, about, rows, labels = {}) => chunks(rows, 12).map((group, i, all) => within(`${level}-${id}${all.length > 1 ? `-${i + 1}` : ''}`, about, { enforce: level, ...labels },
  group.map(([note, pod]) => POST(PODS, pod, { ...dry, note, pick: (b) => (b.kind === 'Status' ? b : 'accepted') }))));
const contexts = (...list) => list.map((c, i) => container(`c${i}`, c));
const onContainer = (securityContext) => plain({ containers: [container('c', securityContext)] });
const onPod = (securityContext) => plain({ securityContext });
const onInit = (securityContext) => plain({ initContainers: [container('i', securityContext)] });
const sysctl = (...names) => onPod({ sysctls: names.map((name) => ({ name, value: '1' })) });
const apparmor = (value, name = 'c') => plain({}, { annotations: { [`container.apparmor.security.beta.kubernetes.io/${name}`]: value } });
const ports = (...list) => plain({ containers: list.map((hostPorts, i) => ({ ...container(`c${i}`), ports: hostPorts.map((p, n) => ({ name: `p${n}`, containerPort: p || 80 + n, hostPort: p })) })) });
const volumes = (...list) => plain({ volumes: list.map((v, i) => ({ name: `v${i}`, ...v })) });

const baseline = [
  ['plain', 'an ordinary pod', [['plain', plain()], ['restricted', strict()]]],
  ['host-namespaces', 'host namespaces', [['hostNetwork', plain({ hostNetwork: true })], ['hostPID', plain({ hostPID: true })], ['hostIPC', plain({ hostIPC: true })], ['all', plain({ hostNetwork: true, hostPID: true, hostIPC: true })], ['false', plain({ hostNetwork: false, hostPID: false })], ['hostUsers', plain({ hostUsers: true })]]],
  ['privileged', 'privileged containers', [['one', onContainer({ privileged: true })], ['false', onContainer({ privileged: false })], ['init', onInit({ privileged: true })], ['two', plain({ containers: contexts({ privileged: true }, {}, { privileged: true }) })], ['both', plain({ initContainers: [container('i', { privileged: true })], containers: [container('c', { privileged: true })] })]]],
  ['capabilities', 'added capabilities', [
    ['allowed', onContainer({ capabilities: { add: ['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'] } })],
    ['NET_ADMIN', onContainer({ capabilities: { add: ['NET_ADMIN'] } })], ['NET_RAW', onContainer({ capabilities: { add: ['NET_RAW'] } })], ['ALL', onContainer({ capabilities: { add: ['ALL'] } })], ['with prefix', onContainer({ capabilities: { add: ['CAP_CHOWN'] } })], ['lower case', onContainer({ capabilities: { add: ['chown'] } })],
    ['two', onContainer({ capabilities: { add: ['SYS_TIME', 'NET_ADMIN'] } })], ['in two containers', plain({ containers: contexts({ capabilities: { add: ['SYS_TIME'] } }, { capabilities: { add: ['NET_ADMIN', 'CHOWN'] } }) })], ['the same in two', plain({ containers: contexts({ capabilities: { add: ['SYS_TIME'] } }, { capabilities: { add: ['SYS_TIME'] } }) })], ['init', onInit({ capabilities: { add: ['SYS_TIME'] } })], ['dropped', onContainer({ capabilities: { drop: ['NET_ADMIN'] } })],
  ]],
  ['host-path', 'hostPath volumes', [['one', volumes({ hostPath: { path: '/a' } })], ['two', volumes({ hostPath: { path: '/a' } }, { emptyDir: {} }, { hostPath: { path: '/b' } })], ['others', volumes({ emptyDir: {} }, { configMap: { name: 'c' } }, { nfs: { server: 's', path: '/x' } })]]],
  ['host-ports', 'host ports', [['one', ports([80])], ['two', ports([80, 81])], ['zero', ports([0])], ['in two containers', ports([81], [80])], ['the same in two', plain({ containers: [{ ...container('a'), ports: [{ containerPort: 80, hostPort: 80 }] }, { ...container('b'), ports: [{ containerPort: 81, hostPort: 80, protocol: 'UDP' }] }] })], ['init', plain({ initContainers: [{ ...container('i'), ports: [{ containerPort: 80, hostPort: 80 }] }] })]]],
  ['apparmor', 'AppArmor profiles', [
    ['annotation runtime/default', apparmor('runtime/default')], ['annotation localhost', apparmor('localhost/x')], ['annotation unconfined', apparmor('unconfined')], ['field RuntimeDefault', onPod({ appArmorProfile: { type: 'RuntimeDefault' } })], ['field Localhost', onPod({ appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } })],
    ['field Unconfined of the pod', onPod({ appArmorProfile: { type: 'Unconfined' } })], ['field Unconfined of a container', onContainer({ appArmorProfile: { type: 'Unconfined' } })], ['both', plain({ securityContext: { appArmorProfile: { type: 'Unconfined' } }, containers: [container('c', { appArmorProfile: { type: 'Unconfined' } })] })], ['two containers', plain({ containers: contexts({ appArmorProfile: { type: 'Unconfined' } }, { appArmorProfile: { type: 'Unconfined' } }) })],
  ]],
  ['selinux', 'SELinux options', [
    ...['container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t', ''].map((type) => [`type "${type}"`, onPod({ seLinuxOptions: { type } })]),
    ['type custom', onPod({ seLinuxOptions: { type: 'custom_t' } })], ['user', onPod({ seLinuxOptions: { user: 'u' } })], ['role', onContainer({ seLinuxOptions: { role: 'r' } })], ['level', onPod({ seLinuxOptions: { level: 's0' } })], ['all of pod and container', plain({ securityContext: { seLinuxOptions: { user: 'u', role: 'r', type: 't' } }, containers: [container('c', { seLinuxOptions: { user: 'v', type: 't2' } })] })], ['two containers', plain({ containers: contexts({ seLinuxOptions: { type: 'a' } }, { seLinuxOptions: { type: 'a' } }) })],
  ]],
  ['proc-mount', 'procMount', [['Default', onContainer({ procMount: 'Default' })], ['Unmasked', plain({ hostUsers: false, containers: [container('c', { procMount: 'Unmasked' })] })], ['Unmasked in two', plain({ hostUsers: false, containers: contexts({ procMount: 'Unmasked' }, { procMount: 'Unmasked' }) })]]],
  ['seccomp', 'seccomp profiles', [
    ['RuntimeDefault', onPod({ seccompProfile: { type: 'RuntimeDefault' } })], ['Localhost', onPod({ seccompProfile: { type: 'Localhost', localhostProfile: 'x' } })], ['Unconfined of the pod', onPod({ seccompProfile: { type: 'Unconfined' } })], ['Unconfined of a container', onContainer({ seccompProfile: { type: 'Unconfined' } })], ['both', plain({ securityContext: { seccompProfile: { type: 'Unconfined' } }, containers: contexts({ seccompProfile: { type: 'Unconfined' } }, { seccompProfile: { type: 'RuntimeDefault' } }) })], ['init', onInit({ seccompProfile: { type: 'Unconfined' } })],
  ]],
  ['sysctls', 'sysctls', [
    ['allowed', sysctl('kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies', 'net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start', 'net.ipv4.ip_local_reserved_ports', 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout', 'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes')],
    ['rmem and wmem', sysctl('net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem')], ['one', sysctl('kernel.msgmax')], ['two', sysctl('net.core.somaxconn', 'kernel.msgmax')], ['with an allowed one', sysctl('kernel.shm_rmid_forced', 'kernel.sem')],
  ]],
  ['windows', 'host processes of Windows', [['pod', plain({ hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true } } })], ['container', plain({ hostNetwork: true, containers: [container('c', { windowsOptions: { hostProcess: true } })] })], ['both', plain({ hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true } }, containers: [container('c', { windowsOptions: { hostProcess: true } })] })], ['false', onPod({ windowsOptions: { hostProcess: false } })]]],
  ['several', 'several controls at once', [['several', plain({ hostNetwork: true, hostPID: true, volumes: [{ name: 'v', hostPath: { path: '/' } }], containers: [container('c', { privileged: true, capabilities: { add: ['SYS_ADMIN'] }, seccompProfile: { type: 'Unconfined' } })], securityContext: { sysctls: [{ name: 'kernel.sem', value: '1' }] } })]]],
].flatMap(([id, about, rows]) => control('baseline', id, about, rows));

const sources = {
  configMap: { configMap: { name: 'c' } }, csi: { csi: { driver: 'd.example.com' } }, downwardAPI: { downwardAPI: {} }, emptyDir: { emptyDir: {} }, ephemeral: { ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } } }, persistentVolumeClaim: { persistentVolumeClaim: { claimName: 'c' } }, projected: { projected: { sources: [] } }, secret: { secret: { secretName: 's' } },
  hostPath: { hostPath: { path: '/a' } }, nfs: { nfs: { server: 's', path: '/x' } }, gcePersistentDisk: { gcePersistentDisk: { pdName: 'd' } }, awsElasticBlockStore: { awsElasticBlockStore: { volumeID: 'v' } }, gitRepo: { gitRepo: { repository: 'r' } }, iscsi: { iscsi: { targetPortal: 't', iqn: 'iqn.2001-04.com.example:x', lun: 0 } }, glusterfs: { glusterfs: { endpoints: 'e', path: 'p' } }, rbd: { rbd: { monitors: ['m'], image: 'i' } },
  cephfs: { cephfs: { monitors: ['m'] } }, cinder: { cinder: { volumeID: 'v' } }, fc: { fc: { targetWWNs: ['w'], lun: 0 } }, flexVolume: { flexVolume: { driver: 'd/e' } }, flocker: { flocker: { datasetName: 'd' } }, azureDisk: { azureDisk: { diskName: 'd', diskURI: 'https://x/d.vhd' } }, azureFile: { azureFile: { secretName: 's', shareName: 's' } }, vsphereVolume: { vsphereVolume: { volumePath: 'p' } }, quobyte: { quobyte: { registry: 'r:1', volume: 'v' } }, portworxVolume: { portworxVolume: { volumeID: 'v' } }, scaleIO: { scaleIO: { gateway: 'g', system: 's', secretRef: { name: 's' }, volumeName: 'v' } }, storageos: { storageos: { volumeName: 'v' } },
};
const restricted = [
  ['plain', 'an ordinary pod violates four controls', [['plain', plain()], ['two containers', plain({ containers: [container('a'), container('b')] })], ['many containers', plain({ containers: Array.from({ length: 5 }, (_, i) => container(`c${i}`)), initContainers: [container('i')] })], ['as it should be', strict()]]],
  ['volumes', 'types of volumes', [...Object.entries(sources).map(([name, source]) => [name, strict({ volumes: [{ name: 'v', ...source }] })]), ['two', strict({ volumes: [{ name: 'b', nfs: { server: 's', path: '/x' } }, { name: 'a', hostPath: { path: '/a' } }] })], ['none given', strict({ volumes: [{ name: 'v' }] })]]],
  ['privilege-escalation', 'allowPrivilegeEscalation', [['absent', strictWith({}, { allowPrivilegeEscalation: undefined })], ['true', strictWith({}, { allowPrivilegeEscalation: true })], ['two containers', strict({ containers: [container('a', { ...careful, allowPrivilegeEscalation: true }), container('b', { capabilities: { drop: ['ALL'] } }), container('c', careful)] })], ['init', strict({ initContainers: [container('i', { capabilities: { drop: ['ALL'] } })] })]]],
  ['run-as-non-root', 'runAsNonRoot', [['absent', strictWith({ runAsNonRoot: undefined })], ['false of the pod', strictWith({ runAsNonRoot: false })], ['false of the container', strictWith({}, { runAsNonRoot: false })], ['of the container alone', strictWith({ runAsNonRoot: undefined }, { runAsNonRoot: true })], ['false of both', strictWith({ runAsNonRoot: false }, { runAsNonRoot: false })], ['false of the pod, true of the container', strictWith({ runAsNonRoot: false }, { runAsNonRoot: true })], ['one container of two', strict({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } }, containers: [container('a', { ...careful, runAsNonRoot: true }), container('b', careful)] })]]],
  ['run-as-user', 'runAsUser', [['0 of the pod', strictWith({ runAsUser: 0 })], ['0 of the container', strictWith({}, { runAsUser: 0 })], ['1000', strictWith({ runAsUser: 1000 }, { runAsUser: 1001 })], ['0 of both', strictWith({ runAsUser: 0 }, { runAsUser: 0 })], ['0 of two containers', strict({ containers: [container('a', { ...careful, runAsUser: 0 }), container('b', { ...careful, runAsUser: 0 })] })]]],
  ['seccomp', 'seccomp profiles', [['absent', strictWith({ seccompProfile: undefined })], ['of the container alone', strictWith({ seccompProfile: undefined }, { seccompProfile: { type: 'Localhost', localhostProfile: 'x' } })], ['Unconfined of the pod', strictWith({ seccompProfile: { type: 'Unconfined' } })], ['Unconfined of the container', strictWith({}, { seccompProfile: { type: 'Unconfined' } })], ['one container of two', strict({ securityContext: { runAsNonRoot: true }, containers: [container('a', { ...careful, seccompProfile: { type: 'RuntimeDefault' } }), container('b', careful)] })], ['Unconfined of both', strictWith({ seccompProfile: { type: 'Unconfined' } }, { seccompProfile: { type: 'Unconfined' } })]]],
  ['capabilities', 'capabilities', [
    ['nothing dropped', strictWith({}, { capabilities: undefined })], ['another one dropped', strictWith({}, { capabilities: { drop: ['NET_RAW'] } })], ['ALL among others', strictWith({}, { capabilities: { drop: ['NET_RAW', 'ALL'] } })], ['lower case', strictWith({}, { capabilities: { drop: ['all'] } })], ['NET_BIND_SERVICE added', strictWith({}, { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } })], ['CHOWN added', strictWith({}, { capabilities: { drop: ['ALL'], add: ['CHOWN'] } })],
    ['both', strictWith({}, { capabilities: { add: ['SYS_TIME', 'CHOWN'] } })], ['two containers', strict({ containers: [container('a', { allowPrivilegeEscalation: false, capabilities: { add: ['CHOWN'] } }), container('b', { allowPrivilegeEscalation: false, capabilities: { add: ['KILL'], drop: ['ALL'] } })] })],
  ]],
  ['windows', 'pods for Windows need less', [['plain', plain({ os: { name: 'windows' } })], ['with runAsNonRoot', plain({ os: { name: 'windows' }, securityContext: { runAsNonRoot: true } })], ['linux', plain({ os: { name: 'linux' } })]]],
  ['baseline-too', 'what baseline forbids is forbidden too', [['hostNetwork', strict({ hostNetwork: true })], ['hostPath', strict({ volumes: [{ name: 'v', hostPath: { path: '/' } }] })], ['privileged', strict({ containers: [container('c', { privileged: true, capabilities: { drop: ['ALL'] } })] })], ['capability', strictWith({}, { capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } })]]],
].flatMap(([id, about, rows]) => control('restricted', id, about, rows));

const privileged = control('privileged', 'anything', 'the level privileged forbids nothing', [['everything', plain({ hostNetwork: true, hostPID: true, containers: [container('c', { privileged: true })] })]]);
const unlabelled = [within('unlabelled', 'without labels nothing is forbidden', {}, [POST(PODS, plain({ hostNetwork: true, containers: [container('c', { privileged: true })] }), { ...dry, ...quiet, ...warned })])];

// --- versions ---
const tryPlain = (o = {}) => POST(PODS, plain(), { ...dry, pick: (b) => (b.kind === 'Status' ? b : 'accepted'), ...warned, ...o });
const versions = [
  ...['latest', 'v1.33', 'v1.25', 'v1.22', 'v1.19', 'v1.18', 'v1.8', 'v1.7', 'v1.0', 'v1.99'].map((v) => within(`version-${v.replaceAll('.', '-')}`, `enforce-version ${v}`, { enforce: 'restricted', 'enforce-version': v }, [tryPlain()])),
  within('version-selinux', 'container_engine_t came with v1.31', { enforce: 'baseline', 'enforce-version': 'v1.30' }, [POST(PODS, onPod({ seLinuxOptions: { type: 'container_engine_t' } }), { ...dry, pick: (b) => (b.kind === 'Status' ? b : 'accepted') })]),
  within('version-sysctls', 'sysctls of later versions', { enforce: 'baseline', 'enforce-version': 'v1.26' }, [POST(PODS, sysctl('net.ipv4.ip_local_reserved_ports', 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_rmem'), { ...dry, pick: (b) => (b.kind === 'Status' ? b : 'accepted') })]),
  within('version-seccomp', 'seccomp by annotation before v1.19', { enforce: 'baseline', 'enforce-version': 'v1.18' }, [POST(PODS, plain({}, { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } }), { ...dry, pick: (b) => (b.kind === 'Status' ? b : 'accepted') })]),
  within('version-windows', 'pods for Windows before v1.25', { enforce: 'restricted', 'enforce-version': 'v1.24' }, [POST(PODS, plain({ os: { name: 'windows' }, securityContext: { runAsNonRoot: true } }), { ...dry, pick: (b) => (b.kind === 'Status' ? b : 'accepted') })]),
];

// --- modes ---
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container()] } };
const jobTemplate = { spec: { restartPolicy: 'Never', containers: [container()] } };
const selector = { matchLabels: { app: 'a' } };
const apps = (kind, spec = {}) => [`/apis/apps/v1/namespaces/$ns/${kind.toLowerCase()}s`, { apiVersion: 'apps/v1', kind, metadata: { name: 'w' }, spec: { selector, template, ...spec } }];
const workloads = {
  deployment: apps('Deployment'), replicaset: apps('ReplicaSet'), statefulset: apps('StatefulSet', { serviceName: 's' }), daemonset: apps('DaemonSet'),
  job: ['/apis/batch/v1/namespaces/$ns/jobs', { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'w' }, spec: { template: jobTemplate } }],
  cronjob: ['/apis/batch/v1/namespaces/$ns/cronjobs', { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'w' }, spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } } }],
  'replication-controller': ['/api/v1/namespaces/$ns/replicationcontrollers', { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'w' }, spec: { selector: { app: 'a' }, template } }],
  'pod-template': ['/api/v1/namespaces/$ns/podtemplates', { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'w' }, template }],
};
const seen = { ...quiet, ...warned };
const modes = [
  within('warn-pod', 'warn: a pod is accepted with a warning', { warn: 'restricted' }, [POST(PODS, plain(), seen), POST(PODS, strict({}, { name: 'q' }), seen)]),
  within('warn-version', 'warn with a version', { warn: 'restricted', 'warn-version': 'v1.19' }, [POST(PODS, plain(), seen)]),
  within('audit-pod', 'audit: nothing shows', { audit: 'restricted' }, [POST(PODS, plain(), seen)]),
  within('enforce-and-warn', 'enforce baseline, warn restricted', { enforce: 'baseline', warn: 'restricted' }, [POST(PODS, plain(), seen), POST(PODS, plain({ hostNetwork: true }, { name: 'q' }), warned)]),
  within('enforce-and-warn-same', 'a refused pod comes without warnings', { enforce: 'restricted', warn: 'restricted' }, [POST(PODS, plain(), warned)]),
  within('warn-delete', 'a delete is not looked at', { warn: 'restricted' }, [POST(PODS, plain(), quiet), { ...POST(`${PODS}/p`, undefined, seen), method: 'DELETE' }]),
  ...Object.entries(workloads).map(([id, [path, body]]) => within(`warn-${id}`, `warn: a ${body.kind} is warned about`, { warn: 'restricted' }, [POST(path, body, { ...dry, ...seen })])),
  within('enforce-workload', 'enforce: a workload is not refused', { enforce: 'restricted' }, [POST(DEPLOYMENTS, workloads.deployment[1], seen)]),
  within('warn-workload-update', 'warn: an update of a workload, whatever it changes', { warn: 'baseline' }, [POST(DEPLOYMENTS, { ...workloads.deployment[1], spec: { selector, template: { ...template, spec: { hostNetwork: true, containers: [container()] } } } }, seen), PATCH(`${DEPLOYMENTS}/w`, 'merge', { metadata: { labels: { a: 'b' } } }, seen), PATCH(`${DEPLOYMENTS}/w`, 'merge', { spec: { replicas: 2 } }, seen)]),
  within('warn-workload-scale', 'warn: scale and status of a workload are not looked at', { warn: 'baseline' }, [POST(DEPLOYMENTS, { ...workloads.deployment[1], spec: { selector, template: { ...template, spec: { hostNetwork: true, containers: [container()] } } } }, seen), PATCH(`${DEPLOYMENTS}/w/scale`, 'merge', { spec: { replicas: 2 } }, seen), PATCH(`${DEPLOYMENTS}/w/status`, 'merge', { status: { replicas: 2 } }, seen)]),
];

// --- updates of pods ---
const relabel = (labels, o) => PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: labelled(labels) } }, o);
const bad = plain({ hostNetwork: true });
const updates = [
  within('update-label', 'a change of labels of a pod that violates the level', {}, [POST(PODS, bad, quiet), relabel({ enforce: 'baseline' }, quiet), SLEEP(700), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { annotations: { a: 'b' } } }, quiet)]),
  within('update-image', 'a change of its image is refused', {}, [POST(PODS, bad, quiet), relabel({ enforce: 'baseline' }, quiet), SLEEP(700), PATCH(`${PODS}/p`, 'strategic', { spec: { containers: [{ name: 'c', image: 'other' }] } })]),
  within('update-tolerations', 'a change of its tolerations is accepted', {}, [POST(PODS, bad, quiet), relabel({ enforce: 'baseline' }, quiet), SLEEP(700), PATCH(`${PODS}/p`, 'json-patch', [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'k', operator: 'Exists' } }], quiet)]),
  within('update-status', 'its status may change', {}, [POST(PODS, bad, quiet), relabel({ enforce: 'baseline' }, quiet), SLEEP(700), PATCH(`${PODS}/p/status`, 'merge', { status: { phase: 'Running' } }, quiet), POST(`${PODS}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }, quiet)]),
  within('ephemeral', 'ephemeral containers are looked at', { enforce: 'baseline' }, [POST(PODS, plain(), quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'img', securityContext: { privileged: true } }] } }), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'img' }] } }, quiet)]),
  within('resize', 'a resize of a pod that violates the level is accepted', {}, [POST(PODS, plain({ hostNetwork: true, containers: [{ ...container(), resources: { requests: { cpu: '1' } } }] }), quiet), relabel({ enforce: 'baseline' }, quiet), SLEEP(700), PATCH(`${PODS}/p/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } })]),
];

// --- namespaces ---
const other = (labels) => POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-other', labels: labelled(labels) } }, { ...dry, pick: (b) => (b.kind === 'Status' ? b : 'accepted') });
const namespaces = [
  scenario('admission-podsecurity-namespace-labels', { section: '7', about: 'labels that a new namespace may not have', namespace: false }, [
    ['level', { enforce: 'nope' }], ['level empty', { enforce: '' }], ['case', { enforce: 'Baseline' }], ['version', { 'enforce-version': 'nope' }], ['version without v', { 'enforce-version': '1.30' }], ['patch version', { 'enforce-version': 'v1.30.1' }], ['major version', { 'enforce-version': 'v2.0' }], ['warn and audit', { warn: 'x', audit: 'y', 'warn-version': 'z' }], ['version of the future', { enforce: 'baseline', 'enforce-version': 'v1.99' }], ['unknown label', { other: 'x' }], ['version alone', { 'enforce-version': 'v1.20' }],
  ].map(([note, labels]) => ({ ...other(labels), note }))),
  within('namespace-update-invalid', 'an update with an invalid label', { enforce: 'baseline' }, [relabel({ enforce: 'nope' }), relabel({ warn: 'nope' })]),
  within('namespace-pods', 'a stricter level: existing pods that violate it are named', {}, [
    POST(PODS, plain({}, { name: 'a' }), quiet), POST(PODS, bad, quiet), POST(PODS, plain({ hostNetwork: true }, { name: 'q' }), quiet), POST(PODS, plain({ containers: [container('c', { privileged: true })] }, { name: 'r' }), quiet), POST(PODS, strict({}, { name: 's' }), quiet), SLEEP(800),
    relabel({ enforce: 'baseline' }, seen), relabel({ enforce: 'restricted' }, seen),
  ]),
  within('namespace-pods-fine', 'a stricter level that all pods meet', {}, [POST(PODS, strict(), quiet), SLEEP(800), relabel({ enforce: 'restricted' }, seen)]),
  within('namespace-pods-relaxed', 'a level that is relaxed or the same: no warning', { enforce: 'baseline' }, [POST(PODS, plain(), quiet), relabel({ enforce: 'privileged' }, seen), relabel({ warn: 'restricted', audit: 'restricted' }, seen)]),
  within('namespace-pods-version', 'the same level of another version', { enforce: 'restricted', 'enforce-version': 'v1.7' }, [POST(PODS, onPod({ runAsNonRoot: true }), quiet), SLEEP(800), relabel({ 'enforce-version': 'latest' }, seen)]),
  within('namespace-pods-dry-run', 'a dry run warns as well', {}, [POST(PODS, bad, quiet), SLEEP(800), relabel({ enforce: 'baseline' }, { ...seen, ...dry })]),
  within('namespace-pods-owned', 'pods of one owner', {}, [
    ...['a', 'b', 'c'].map((name) => POST(PODS, plain({ hostNetwork: true }, { name, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: '11111111-1111-1111-1111-111111111111', controller: true }] }), quiet)), SLEEP(800), relabel({ enforce: 'baseline' }, seen),
  ]),
  within('namespace-enforced', 'a label that is added counts for later pods', {}, [relabel({ enforce: 'baseline' }, quiet), SLEEP(700), POST(PODS, bad, { pick: (b) => [b.code, b.reason] })]),
];

const seccompOff = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' };
const hosted = (path, body) => POST(path, JSON.parse(JSON.stringify(body).replace('"containers"', '"hostNetwork":true,"containers"')), { ...quiet, ...sender('audit-metadata') });
const sender = (level) => ({ as: { cert: { cn: '$ns-u', o: [level, '$ns-all'] } } });
const annotated = { pick: (events) => events.map(({ stage, annotations = {}, objectRef, responseStatus }) => [stage, objectRef?.resource ?? null, responseStatus?.code ?? null, Object.fromEntries(Object.entries(annotations).filter(([key]) => key.startsWith(prefix)))]) };
const audited = (id, about, labels, steps) => scenario(`admission-podsecurity-audited-${id}`, { section: '7', about, needs: 'audit', namespace: false, cleanup: ['/api/v1/namespaces/$ns'] }, [made(labels), ...grantAll, AUDITED(6, quiet), ...steps, AUDITED(2 * steps.length, annotated)]);
const more = [
  within('update-annotation', 'an annotation that stood for a field may change', { enforce: 'baseline', 'enforce-version': 'v1.18' }, [POST(PODS, plain(), quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { annotations: seccompOff } }, quiet), PATCH(`${PODS}/p`, 'strategic', { spec: { containers: [{ name: 'c', image: 'other' }] } })]),
  within('update-init-image', 'a change of the image of an init container is refused', {}, [POST(PODS, plain({ hostNetwork: true, initContainers: [container('i')] }), quiet), relabel({ enforce: 'baseline' }, quiet), SLEEP(700), PATCH(`${PODS}/p`, 'strategic', { spec: { initContainers: [{ name: 'i', image: 'other' }] } })]),
  within('update-same-image', 'an update with the same image, by PUT-like patch', {}, [POST(PODS, bad, quiet), relabel({ enforce: 'baseline' }, quiet), SLEEP(700), PATCH(`${PODS}/p`, 'strategic', { spec: { containers: [{ name: 'c', image: 'img' }] }, metadata: { labels: { a: 'b' } } }, quiet)]),
  within('ephemeral-again', 'an ephemeral container that is there already', {}, [POST(PODS, bad, quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'img' }] } }, quiet), relabel({ enforce: 'baseline' }, quiet), SLEEP(700), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { metadata: { labels: { a: 'b' } } }, quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'f', image: 'img' }] } })]),
  within('warn-implied', 'warn follows a stricter enforce, with its version', { enforce: 'restricted', 'enforce-version': 'v1.24', warn: 'baseline' }, [POST(DEPLOYMENTS, workloads.deployment[1], seen), relabel({ warn: null }, quiet), SLEEP(700), PATCH(`${DEPLOYMENTS}/w`, 'merge', { metadata: { labels: { a: 'b' } } }, { ...dry, ...seen })]),
  within('warn-implied-version', 'and with a version of its own', { enforce: 'restricted', 'warn-version': 'v1.20' }, [POST(DEPLOYMENTS, workloads.deployment[1], seen)]),
  within('warn-audit-versions', 'versions of the future', { enforce: 'restricted', 'enforce-version': 'v1.99', warn: 'restricted', 'warn-version': 'v1.0' }, [POST(PODS, plain(), warned), POST(DEPLOYMENTS, workloads.deployment[1], seen)]),
  within('warn-no-template', 'a ReplicationController without a template', { warn: 'restricted' }, [POST(workloads['replication-controller'][0], { ...workloads['replication-controller'][1], spec: { selector: { app: 'a' }, replicas: 0 } }, { ...dry, ...seen })]),
  within('namespace-pods-controllers', 'pods of several controllers, some of a kind', {}, [
    ...['z', 'a', 'm'].map((name, i) => POST(PODS, plain({ hostNetwork: true }, { name, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `r${i % 2}`, uid: `u${i % 2}`, controller: true }] }), quiet)), POST(PODS, plain({ hostPID: true }, { name: 'b' }), quiet), SLEEP(800),
    relabel({ enforce: 'baseline' }, seen),
  ]),
  within('namespace-status', 'the status of a namespace is not looked at', {}, [POST(PODS, bad, quiet), SLEEP(800), PATCH('/api/v1/namespaces/$ns/status', 'merge', { metadata: { labels: labelled({ enforce: 'baseline' }) } }, seen)]),
  ...Object.entries(workloads).map(([id, [path, body]]) => audited(id, `audit annotations of a ${body.kind}`, { audit: 'baseline', warn: 'privileged' }, [hosted(path, body)])),
  audited('enforced', 'of a pod that is refused, one that violates what is audited, and one that is changed', { enforce: 'baseline', audit: 'restricted', 'audit-version': 'v1.25' }, [POST(PODS, bad, { ...quiet, ...sender('audit-metadata') }), POST(PODS, plain(), { ...quiet, ...sender('audit-metadata') }), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, { ...quiet, ...sender('audit-metadata') }), PATCH(`${PODS}/p`, 'strategic', { spec: { containers: [{ name: 'c', image: 'other' }] } }, { ...quiet, ...sender('audit-metadata') })]),
  audited('privileged', 'of a namespace without levels', {}, [POST(PODS, bad, { ...quiet, ...sender('audit-metadata') }), hosted(...workloads.deployment)]),
];

export default [...more, ...baseline, ...restricted, ...privileged, ...unlabelled, ...versions, ...modes, ...updates, ...namespaces];
