// What a refusal names, and in which order: causes that only an unusual object shows.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';

const core = (resource) => `/api/v1/namespaces/$ns/${resource}`;
const of = (group, resource) => `/apis/${group}/namespaces/$ns/${resource}`;
const container = { name: 'c', image: 'i' };
const pod = { containers: [container] };
const object = (apiVersion, kind, rest, name = 'x') => ({ apiVersion, kind, metadata: { name }, ...rest });
const shown = (body) => (body.kind === 'Status' ? { message: body.message, reason: body.reason, causes: body.details?.causes } : { spec: body.spec, template: body.template });
const dryRun = { query: { dryRun: 'All' }, pick: shown };
const creates = (id, path, objects, options = {}) => scenario(`kinds-causes-${id}`, { section: 'causes', ...options }, objects.map((body) => POST(path, body, dryRun)));
const template = (spec) => object('v1', 'PodTemplate', { template: { metadata: { labels: { a: 'b' } }, spec: { ...pod, ...spec } } });
const deployment = (spec) => object('apps/v1', 'Deployment', { spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { ...pod, ...spec } } } });
const job = (spec) => object('batch/v1', 'Job', { spec: { ...spec, template: { spec: { ...pod, restartPolicy: 'Never' } } } });
const hpa = (...metrics) => object('autoscaling/v2', 'HorizontalPodAutoscaler', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, metrics } });
const volume = (spec, capacity = { storage: '1Gi' }) => object('v1', 'PersistentVolume', { spec: { accessModes: ['ReadWriteOnce'], capacity, ...spec } }, '$ns-x');
const podWith = (...volumes) => object('v1', 'Pod', { spec: { ...pod, volumes: volumes.map((one, at) => ({ name: `v${at}`, ...one })) } });
const hostPath = { path: '/a' };
const csi = { driver: 'd', volumeHandle: 'h' };
const flexVolume = { driver: 'a/b' };
const ephemeral = (id, rest, name = id) => PATCH(`${core('pods/x')}/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name, image: 'i', terminationMessagePolicy: 'File', ...rest }] } }, { query: { dryRun: 'All' }, pick: (body) => (body.kind === 'Status' ? shown(body) : body.spec.ephemeralContainers) });
const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 1 } };
const listOf = (rest) => ({ apiVersion: 'v1', kind: 'List', ...rest });

export default [
  creates('overhead-template', core('podtemplates'), [{ storage: '1' }, { pods: '1' }, { 'hugepages-2Mi': '1Mi' }, { 'hugepages-2Mi': '2Mi' }, { 'hugepages-2Mi': '2Mi', cpu: '1' }, { 'bad name': '1' }, { unknown: '1' }, { cpu: '-1' }, { cpu: '1', memory: '1.5' }, { 'ephemeral-storage': '1', 'a/b/c': '1' }, {}].map((overhead) => template({ overhead }))),
  creates('overhead-deployment', of('apps/v1', 'deployments'), [{ storage: '1' }, { 'hugepages-2Mi': '1Mi' }, { cpu: '1' }].map((overhead) => deployment({ overhead }))),
  creates('preemption-template', core('podtemplates'), ['', 'X', 'Never', 'PreemptLowerPriority'].map((preemptionPolicy) => template({ preemptionPolicy }))),
  scenario('kinds-causes-ephemeral-empty', { section: 'causes', about: 'An ephemeral container may not set what it cannot have, even to nothing' }, [
    POST(core('pods'), object('v1', 'Pod', { spec: pod }), { compare: 'status' }),
    ephemeral('ports', { ports: [] }), ephemeral('lifecycle', { lifecycle: {} }), ephemeral('resize', { resizePolicy: [] }), ephemeral('restart', { restartPolicy: '' }), ephemeral('resources', { resources: {} }), ephemeral('limits', { resources: { limits: {} } }), ephemeral('claims', { resources: { claims: [] } }),
    ephemeral('probe', { livenessProbe: {} }), ephemeral('ready', { readinessProbe: {} }), ephemeral('startup', { startupProbe: {} }), ephemeral('nothing', { ports: null, lifecycle: null, livenessProbe: null }), ephemeral('mounts', { volumeMounts: [], volumeDevices: [], env: [] }),
  ]),
  scenario('kinds-causes-ephemeral-put', { section: 'causes' }, [
    POST(core('pods'), object('v1', 'Pod', { spec: pod }), { id: 'made', compare: 'status' }),
    ...[{ ports: [] }, { lifecycle: {}, resizePolicy: [], restartPolicy: '', resources: { limits: {} } }, { resources: {} }, { resources: { claims: [] } }, { resources: { requests: {} } }, {}].map((rest) => PUT(`${core('pods/x')}/ephemeralcontainers`, object('v1', 'Pod', { spec: { ...pod, ephemeralContainers: [{ name: 'e', image: 'i', terminationMessagePolicy: 'File', ...rest }] } }), { query: { dryRun: 'All' }, pick: (body) => (body.kind === 'Status' ? shown(body) : body.spec.ephemeralContainers) })),
  ]),
  creates('volume-two-sources', '/api/v1/persistentvolumes', [
    { hostPath, flexVolume }, { hostPath, flexVolume: {} }, { flexVolume, csi }, { hostPath, flexVolume, csi }, { flexVolume: {}, csi: {} }, { hostPath, cephfs: { monitors: ['m'] } }, { cephfs: {}, csi }, { hostPath, gcePersistentDisk: { pdName: 'p' } }, { gcePersistentDisk: {} }, { hostPath, local: { path: '/a' } }, { flexVolume, local: { path: '/a' } },
    { hostPath, photonPersistentDisk: { pdID: 'p' }, scaleIO: { gateway: 'g' }, storageos: {}, rbd: {}, portworxVolume: { volumeID: 'v' }, quobyte: {}, nfs: {}, vsphereVolume: {}, azureDisk: {}, azureFile: {}, iscsi: {}, fc: {}, flocker: {}, glusterfs: {}, awsElasticBlockStore: {}, cinder: {} },
  ].map((spec) => volume(spec)), { namespace: false }),
  creates('pod-two-sources', core('pods'), [
    podWith({ emptyDir: {}, gcePersistentDisk: { pdName: 'p' } }), podWith({ gcePersistentDisk: {} }), podWith({ emptyDir: {}, cephfs: { monitors: ['m'] } }), podWith({ emptyDir: {}, flexVolume }), podWith({ hostPath, emptyDir: {} }),
    podWith({ emptyDir: {}, gitRepo: {}, awsElasticBlockStore: {}, secret: {}, nfs: {}, iscsi: {}, glusterfs: {}, flocker: {}, persistentVolumeClaim: {}, rbd: {}, cinder: {}, quobyte: {}, downwardAPI: {}, fc: {}, configMap: {}, azureFile: {}, vsphereVolume: {}, photonPersistentDisk: {}, portworxVolume: {}, azureDisk: {}, storageos: {}, projected: {}, scaleIO: {}, csi: {}, ephemeral: {} }), podWith({ emptyDir: {}, image: {} }),
  ]),
  creates('autoscaler-sources', of('autoscaling/v2', 'horizontalpodautoscalers'), [
    hpa({ resource: {}, containerResource: { name: 'n' } }), hpa({ type: 'X', resource: cpu, containerResource: { ...cpu, container: 'c' } }), hpa({ type: 'X', resource: cpu }), hpa({ type: 'Pods', resource: cpu, external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } }), hpa({ type: 'Resource', resource: cpu, pods: {} }), hpa({ resource: cpu }),
  ]),
  creates('job-completion-mode', of('batch/v1', 'jobs'), ['X', '', 'NonIndexed', 'Indexed'].flatMap((completionMode) => [job({ completionMode, backoffLimitPerIndex: 1, maxFailedIndexes: 1 }), job({ completionMode, completions: 1, maxFailedIndexes: 1 })])),
  creates('amounts-beyond-64-bits', '/api/v1/persistentvolumes', ['9223372036854775807', '18446744073709551616', '10E', '8Ei', '7Ei', '999E', '9.3E'].map((storage) => volume({ hostPath }, { storage })), { namespace: false }),
  creates('amounts-of-claims', core('persistentvolumeclaims'), ['9223372036854775807', '9223372036854775808', '18446744073709551616', '10E', '8Ei', '7Ei', '999E'].map((storage) => object('v1', 'PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } } }))),
  creates('amounts-of-containers', core('podtemplates'), ['9223372036854775807', '9223372036854775808', '18446744073709551616', '10E', '8Ei', '999E'].map((memory) => template({ containers: [{ ...container, resources: { limits: { memory, 'example.com/x': memory } } }] }))),
  creates('list-as-body', core('configmaps'), [{ items: 'x' }, { items: [1] }, { items: ['x', {}] }, { items: {} }, { items: null }, { items: [] }, {}, { items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }] }, { metadata: 'x' }, { metadata: { resourceVersion: 1 } }, { other: 1 }, { items: [], metadata: { name: 'a' } }].map(listOf)),
  scenario('kinds-causes-list-as-body-strict', { section: 'causes' }, [{ other: 1 }, { items: 'x', other: 1 }].flatMap((rest) => ['Strict', 'Ignore'].map((fieldValidation) => POST(core('configmaps'), listOf(rest), { query: { fieldValidation } })))),
  scenario('kinds-causes-list-as-update', { section: 'causes' }, [
    POST(core('configmaps'), object('v1', 'ConfigMap', {}), { compare: 'status' }),
    ...[{ items: 'x' }, { items: [] }, { metadata: { name: 'x' } }].map((rest) => PUT(core('configmaps/x'), listOf(rest))),
    POST(of('apps/v1', 'deployments'), listOf({ items: 'x' })), POST(of('apps/v1', 'deployments'), listOf({ items: [] })), POST(core('configmaps'), { apiVersion: 'apps/v1', kind: 'List', items: 'x' }),
  ]),
];
