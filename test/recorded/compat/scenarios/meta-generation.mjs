// metadata.generation: which kinds have it, what raises it, and that metadata and status do not (§2.2).
import { scenario, GET, POST, PUT, PATCH, DELETE, POLL } from '../steps.ts';
import * as f from './kit/meta.mjs';

const { at, on } = f;
const gen = (o = {}) => ({ ...f.only('metadata.generation'), ...o });
const spec = (o) => ({ spec: o });
const apps = 'apps/v1', adm = 'admissionregistration.k8s.io/v1';

// kind, path, body, a change that should count, a status (or null when the kind has no status endpoint)
const namespaced = [
  ['deployment', `${apps}/deployments`, f.deployment('x'), spec({ replicas: 2 }), { replicas: 3 }],
  ['replicaset', `${apps}/replicasets`, f.replicaSet('x'), spec({ replicas: 2 }), { replicas: 3 }],
  ['statefulset', `${apps}/statefulsets`, f.statefulSet('x'), spec({ replicas: 2 }), { replicas: 3 }],
  ['daemonset', `${apps}/daemonsets`, f.daemonSet('x'), spec({ minReadySeconds: 2 }), { currentNumberScheduled: 3 }],
  ['replicationcontroller', 'replicationcontrollers', f.rc('x'), spec({ replicas: 2 }), { replicas: 3 }],
  ['job', 'batch/v1/jobs', f.job('x'), spec({ parallelism: 2 }), { active: 1 }],
  ['cronjob', 'batch/v1/cronjobs', f.cronJob('x'), spec({ suspend: true }), { lastScheduleTime: '2001-02-03T04:05:06Z' }],
  ['pod', 'pods', f.pod('x'), spec({ activeDeadlineSeconds: 20 }), { message: 'm' }],
  ['service', 'services', f.service('x', {}, { clusterIP: 'None' }), spec({ sessionAffinity: 'ClientIP' }), { loadBalancer: {} }],
  ['configmap', 'configmaps', f.configMap('x'), { data: { k: 'w' } }, null],
  ['secret', 'secrets', f.secret('x'), { data: { k: 'eA==' } }, null],
  ['serviceaccount', 'serviceaccounts', f.serviceAccount('x'), { automountServiceAccountToken: false }, null],
  ['ingress', 'networking.k8s.io/v1/ingresses', f.ingress('x'), spec({ ingressClassName: 'y' }), { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } }],
  ['networkpolicy', 'networking.k8s.io/v1/networkpolicies', f.networkPolicy('x'), spec({ policyTypes: ['Egress'] }), null],
  ['pdb', 'policy/v1/poddisruptionbudgets', f.pdb('x'), spec({ minAvailable: 2 }), { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }],
  ['hpa', 'autoscaling/v2/horizontalpodautoscalers', f.hpa('x'), spec({ maxReplicas: 5 }), { currentReplicas: 1, desiredReplicas: 2 }],
  ['pvc', 'persistentvolumeclaims', f.pvc('x'), spec({ volumeName: 'y' }), { phase: 'Lost' }],
  ['resourcequota', 'resourcequotas', f.quota('x', {}, { services: '3' }), spec({ hard: { services: '4' } }), { hard: { services: '4' } }],
  ['limitrange', 'limitranges', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'x' }, spec: { limits: [] } }, spec({ limits: [{ type: 'Pod', max: { cpu: '1' } }] }), null],
  ['endpointslice', 'discovery.k8s.io/v1/endpointslices', f.endpointSlice('x'), { endpoints: [{ addresses: ['10.1.2.4'] }] }, null],
  ['endpoints', 'endpoints', { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'x' } }, { subsets: [{ addresses: [{ ip: '10.2.3.4' }], ports: [{ port: 1 }] }] }, null],
  ['podtemplate', 'podtemplates', { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'x' }, template: { spec: { containers: [{ name: 'c', image: 'i' }] } } }, { template: { spec: { hostname: 'h' } } }, null],
  ['controllerrevision', `${apps}/controllerrevisions`, { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'x' }, data: { a: 1 }, revision: 1 }, { revision: 2 }, null],
  ['lease', 'coordination.k8s.io/v1/leases', f.lease('x'), spec({ holderIdentity: 'you' }), null],
  ['role', 'rbac.authorization.k8s.io/v1/roles', f.role('x'), { rules: [] }, null],
  ['csistoragecapacity', 'storage.k8s.io/v1/csistoragecapacities', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity', metadata: { name: 'x' }, storageClassName: 's' }, { capacity: '1Gi' }, null],
];
const cluster = [
  ['node', 'nodes', f.node('$ns-x'), spec({ unschedulable: true }), { phase: 'Running' }],
  ['pv', 'persistentvolumes', f.pv('$ns-x'), spec({ mountOptions: ['ro'] }), { phase: 'Available' }],
  ['priorityclass', 'scheduling.k8s.io/v1/priorityclasses', f.priorityClass('$ns-x'), { description: 'd' }, null],
  ['storageclass', 'storage.k8s.io/v1/storageclasses', f.storageClass('$ns-x'), { allowVolumeExpansion: true }, null],
  ['csidriver', 'storage.k8s.io/v1/csidrivers', f.csiDriver('$ns-x'), spec({ requiresRepublish: true }), null],
  ['csinode', 'storage.k8s.io/v1/csinodes', { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name: '$ns-x' }, spec: { drivers: [] } }, spec({ drivers: [{ name: 'd', nodeID: 'n' }] }), null],
  ['ingressclass', 'networking.k8s.io/v1/ingressclasses', f.ingressClass('$ns-x'), spec({ parameters: { kind: 'K', name: 'n' } }), null],
  ['runtimeclass', 'node.k8s.io/v1/runtimeclasses', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: '$ns-x' }, handler: 'h' }, { scheduling: { nodeSelector: { a: 'b' } } }, null],
  ['clusterrole', 'rbac.authorization.k8s.io/v1/clusterroles', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '$ns-x' }, rules: [] }, { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] }, null],
  ['flowschema', 'flowcontrol.apiserver.k8s.io/v1/flowschemas', f.flowSchema('$ns-x'), spec({ matchingPrecedence: 9998 }), null],
  ['prioritylevel', 'flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', f.priorityLevel('$ns-x'), spec({ limited: { lendablePercent: 5 } }), null],
  ['policy', `${adm}/validatingadmissionpolicies`, f.policy('$ns-x'), spec({ failurePolicy: 'Ignore' }), { observedGeneration: 1 }],
  ['policybinding', `${adm}/validatingadmissionpolicybindings`, f.policyBinding('$ns-x'), spec({ validationActions: ['Warn'] }), null],
  ['validatingwebhook', `${adm}/validatingwebhookconfigurations`, f.webhookConfig('ValidatingWebhookConfiguration', '$ns-x'), { webhooks: null }, null],
  ['mutatingwebhook', `${adm}/mutatingwebhookconfigurations`, f.webhookConfig('MutatingWebhookConfiguration', '$ns-x'), { webhooks: null }, null],
  ['volumeattachment', 'storage.k8s.io/v1/volumeattachments', f.volumeAttachment('$ns-x'), { metadata: { labels: { z: 'z' } } }, { attached: true }],
];

const walk = (path, [id, resource, body, change, status], o) => scenario(`meta-generation-${id}`, { section: '2.2', about: 'generation after create, labels, annotations, status, a real change, a change back to the same, and the mark of a deletion', ...o }, [
  POST(path(resource), body, gen()),
  PATCH(path(resource, body.metadata.name), 'merge', { metadata: { labels: { l: '1' } } }, gen()),
  PATCH(path(resource, body.metadata.name), 'merge', { metadata: { annotations: { a: '1' } } }, gen()),
  ...(status ? [PATCH(path(resource, body.metadata.name, 'status'), 'merge', { status }, gen())] : []),
  PATCH(path(resource, body.metadata.name), 'merge', change, gen()),
  PATCH(path(resource, body.metadata.name), 'merge', change, gen()),
  PATCH(path(resource, body.metadata.name), 'merge', { metadata: { finalizers: ['example.com/hold'] } }, gen()),
  DELETE(path(resource, body.metadata.name), { propagationPolicy: 'Background' }, gen()),
  DELETE(path(resource, body.metadata.name), { propagationPolicy: 'Background' }, gen()),
  PATCH(path(resource, body.metadata.name), 'merge', { metadata: { finalizers: null } }, gen()),
]);

const widgetGeneration = (id, status) => scenario(`meta-generation-custom-resource${id}`, { section: '2.2', about: `generation of a custom resource ${status ? 'with' : 'without'} a status endpoint`, cleanup: [f.crdPath()] }, [
  POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd('widgets', { status }), { compare: 'status' }), POLL(f.widgets(), (_, st) => st === 200, { compare: 'status' }),
  POST(f.widgets(), { ...f.widget(), status: { phase: 'a' } }, { ...f.only('metadata.generation', 'status') }),
  PATCH(f.widgets('w'), 'merge', { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } }, gen()),
  PATCH(f.widgets('w'), 'merge', { status: { phase: 'b' } }, f.only('metadata.generation', 'status')),
  PATCH(f.widgets('w', 'status'), 'merge', { status: { phase: 'c' } }, f.only('metadata.generation', 'status')),
  PATCH(f.widgets('w'), 'merge', { spec: { size: 2 } }, gen()), PATCH(f.widgets('w'), 'merge', { other: { x: 1 } }, gen()),
  PATCH(f.widgets('w'), 'merge', { metadata: { finalizers: ['example.com/hold'] } }, gen()), DELETE(f.widgets('w'), undefined, gen()), PATCH(f.widgets('w'), 'merge', { metadata: { finalizers: null } }, gen())]);

export default [
  ...namespaced.map((row) => walk(at, row)),
  ...cluster.map((row) => walk(on, row, { namespace: false, cleanup: [on(row[1], '$ns-x')] })),
  widgetGeneration('', false), widgetGeneration('-with-status', true),
  scenario('meta-generation-crd', { section: '2.2', about: 'generation of a CustomResourceDefinition: spec counts, metadata does not', cleanup: [f.crdPath()], namespace: false }, [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd(), gen()), PATCH(f.crdPath(), 'merge', { metadata: { labels: { a: 'b' } } }, gen()),
    PATCH(f.crdPath(), 'merge', { spec: { names: { shortNames: ['wd'] } } }, gen()), PATCH(f.crdPath(), 'merge', { spec: { names: { shortNames: ['wd'] } } }, gen())]),
  scenario('meta-generation-deployment-annotation-only', { section: '2.2', about: 'a PUT that changes only annotations raises the generation of a Deployment, one that changes only labels does not' }, [
    POST(at(`${apps}/deployments`), f.deployment('x'), gen()), PUT(at(`${apps}/deployments`, 'x'), f.deployment('x', { labels: { a: 'b' } }), gen()), PUT(at(`${apps}/deployments`, 'x'), f.deployment('x', { labels: { a: 'b' }, annotations: { c: 'd' } }), gen())]),
  scenario('meta-generation-scale', { section: '2.2', about: 'a change through the scale endpoint counts as a change of the spec' }, [
    POST(at(`${apps}/deployments`), f.deployment('x'), gen()), PATCH(at(`${apps}/deployments`, 'x', 'scale'), 'merge', { spec: { replicas: 4 } }, f.only('metadata.generation', 'spec.replicas')), GET(at(`${apps}/deployments`, 'x'), gen())]),
  scenario('meta-generation-scale-rc', { section: '2.2', about: 'generation of a ReplicationController after its scale endpoint was used' }, [
    POST(at('replicationcontrollers'), f.rc('x'), gen()), PATCH(at('replicationcontrollers', 'x', 'scale'), 'merge', { spec: { replicas: 4 } }, gen()), GET(at('replicationcontrollers', 'x'), gen())]),
  scenario('meta-generation-daemonset-template', { section: '2.2', about: 'a change of the template raises the generation and the deprecated template generation of a DaemonSet' }, [
    POST(at(`${apps}/daemonsets`), f.daemonSet('x'), f.only('metadata.generation', 'metadata.annotations')), PATCH(at(`${apps}/daemonsets`, 'x'), 'strategic', { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } }, f.only('metadata.generation', 'metadata.annotations'))]),
  scenario('meta-generation-endpointslice-label', { section: '2.2', about: 'labels, annotations and endpoints of an EndpointSlice' }, [
    POST(at('discovery.k8s.io/v1/endpointslices'), f.endpointSlice('x'), gen()), PATCH(at('discovery.k8s.io/v1/endpointslices', 'x'), 'merge', { metadata: { annotations: { a: 'b' } } }, gen()), PATCH(at('discovery.k8s.io/v1/endpointslices', 'x'), 'merge', { metadata: { labels: { a: 'b' } } }, gen())]),
  scenario('meta-generation-pod-observed', { section: '2.2', about: 'the generation of a pod: tolerations, image, and graceful deletion' }, [
    POST(at('pods'), f.pod('x', {}, { nodeName: 'n' }), gen()), PATCH(at('pods', 'x'), 'strategic', { spec: { containers: [{ name: 'c', image: 'j' }] } }, gen()),
    PATCH(at('pods', 'x'), 'json-patch', [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'k', operator: 'Exists' } }], gen()), DELETE(at('pods', 'x'), { gracePeriodSeconds: 20 }, gen()), DELETE(at('pods', 'x'), { gracePeriodSeconds: 10 }, gen()), DELETE(at('pods', 'x'), { gracePeriodSeconds: 0 }, gen())]),
];
