// Field selectors of lists.
import { scenario, GET, PATCH, SLEEP } from '../steps.ts';
import { CM, PODS, SECRETS, EVENTS, LEASES, NODES, ns, q, cm, pod, secret, event, lease, node, make, LIST } from './kit/listwatch.mjs';

const BATCH = '/apis/batch/v1', APPS = '/apis/apps/v1', EVENTSK8S = ns('events', '/apis/events.k8s.io/v1');
const lists = (path, ...selectors) => selectors.map((fieldSelector) => LIST(path, { fieldSelector }));
const matching = (id, about, setup, path, ...selectors) => scenario(`fields-${id}`, { section: '4.3', about }, [...setup, ...lists(path, ...selectors)]);
const status = (path, s) => PATCH(`${path}/status`, 'merge', { status: s }, { compare: 'status' });

const pods = [
  pod('a', undefined, { nodeName: 'n1', restartPolicy: 'Never', hostNetwork: true }),
  pod('b', undefined, { nodeName: 'n2', schedulerName: 'mine', serviceAccountName: 'robot' }),
  pod('c', undefined, { restartPolicy: 'OnFailure' }),
];
const svc = (name, spec) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
const job = (name) => ({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] } } } });
const rc = (name, replicas) => ({ apiVersion: 'v1', kind: 'ReplicationController', metadata: { name }, spec: { replicas, selector: { a: name }, template: { metadata: { labels: { a: name } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } } } });

const supported = [
  ['/api/v1', ['configmaps', 'endpoints', 'events', 'limitranges', 'persistentvolumeclaims', 'pods', 'podtemplates', 'replicationcontrollers', 'resourcequotas', 'secrets', 'serviceaccounts', 'services'], true],
  ['/api/v1', ['namespaces', 'nodes', 'persistentvolumes', 'componentstatuses'], false],
  [APPS, ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'], true],
  ['/apis/autoscaling/v1', ['horizontalpodautoscalers'], true], ['/apis/autoscaling/v2', ['horizontalpodautoscalers'], true], [BATCH, ['cronjobs', 'jobs'], true],
  ['/apis/coordination.k8s.io/v1', ['leases'], true], ['/apis/discovery.k8s.io/v1', ['endpointslices'], true], ['/apis/events.k8s.io/v1', ['events'], true],
  ['/apis/networking.k8s.io/v1', ['ingresses', 'networkpolicies'], true], ['/apis/policy/v1', ['poddisruptionbudgets'], true], ['/apis/rbac.authorization.k8s.io/v1', ['roles', 'rolebindings'], true],
  ['/apis/storage.k8s.io/v1', ['csistoragecapacities'], true],
  ['/apis/admissionregistration.k8s.io/v1', ['validatingwebhookconfigurations', 'validatingadmissionpolicies'], false], ['/apis/apiextensions.k8s.io/v1', ['customresourcedefinitions'], false], ['/apis/apiregistration.k8s.io/v1', ['apiservices'], false],
  ['/apis/certificates.k8s.io/v1', ['certificatesigningrequests'], false], ['/apis/flowcontrol.apiserver.k8s.io/v1', ['flowschemas', 'prioritylevelconfigurations'], false], ['/apis/networking.k8s.io/v1', ['ingressclasses', 'ipaddresses', 'servicecidrs'], false],
  ['/apis/node.k8s.io/v1', ['runtimeclasses'], false], ['/apis/rbac.authorization.k8s.io/v1', ['clusterroles', 'clusterrolebindings'], false], ['/apis/scheduling.k8s.io/v1', ['priorityclasses'], false],
  ['/apis/storage.k8s.io/v1', ['csidrivers', 'csinodes', 'storageclasses', 'volumeattachments'], false],
];
const short = (group) => group.split('/').slice(2).join('-').replace(/\..*?-/, '-').replace(/^v1$/, 'core');
const perKind = supported.flatMap(([group, kinds, inNamespace]) => kinds.map((r) => {
  const path = inNamespace ? ns(r, group) : `${group}/${r}`;
  return scenario(`fields-unsupported-${short(group)}-${r}`, { section: '4.3', namespace: false, about: `${r} (${group}): a name nobody has, a namespace, and a field that cannot be selected by` },
    ['metadata.name=$ns-absent', 'metadata.name=$ns-absent,metadata.namespace=$ns', 'metadata.name=$ns-absent,spec.unknown=x'].map((fieldSelector) => GET(q(path, { fieldSelector }))));
}));

const invalid = {
  'no-operator': 'metadata.name', 'no-key': '=x', 'in-operator': 'metadata.name in (a)', 'greater': 'metadata.name>a', 'unescaped-equals': 'metadata.name=a=b', 'unescaped-double': 'metadata.name==a=b', 'bang': '!metadata.name',
  'bad-escape': 'metadata.name=a\\b', 'escape-at-end': 'metadata.name=a\\', 'spaces': ' metadata.name = a ', 'space-before-value': 'metadata.name= a', 'second-term': 'metadata.name=a,oops', 'upper-case': 'Metadata.Name=a', 'label-key': 'metadata.labels.app=x', 'data-key': 'data.k=v', 'uid': 'metadata.uid=x', 'annotation': 'metadata.annotations.a=x',
  'not-equals-unknown': 'spec.x!=y', 'three-equals': 'metadata.name===a', 'not-equals-equals': 'metadata.name!==a',
};

export default [
  matching('name', 'metadata.name: =, == and !=', make(CM, cm('a'), cm('b'), cm('c')), CM, 'metadata.name=a', 'metadata.name==a', 'metadata.name!=a', 'metadata.name=none', 'metadata.name=', 'metadata.name!=', 'metadata.name=A'),
  matching('namespace', 'metadata.namespace in a namespaced list', make(CM, cm('a'), cm('b')), CM, 'metadata.namespace=$ns', 'metadata.namespace=other', 'metadata.namespace!=other', 'metadata.namespace!=$ns', 'metadata.namespace='),
  matching('combined', 'several terms must all match', make(CM, cm('a'), cm('b'), cm('c')), CM, 'metadata.name!=a,metadata.name!=b', 'metadata.name=a,metadata.name=b', 'metadata.name=a,metadata.name=a', 'metadata.name=a,metadata.name!=b', 'metadata.name=a,metadata.namespace=$ns', 'metadata.name=a,metadata.namespace=x'),
  matching('empty-terms', 'empty selectors and empty terms', make(CM, cm('a'), cm('b')), CM, '', ',', 'metadata.name=a,', ',metadata.name=a', 'metadata.name=a,,metadata.namespace=$ns'),
  matching('only-operator', 'an operator without key and value selects everything', make(CM, cm('a'), cm('b')), CM, '=', '==', '!=', '=,metadata.name=a'),
  matching('escapes', 'escaped characters in a value', make(CM, cm('a')), CM, 'metadata.name=a\\,b', 'metadata.name=a\\=b', 'metadata.name=a\\\\b', 'metadata.name!=a\\,b'),
  matching('odd-names', 'names that no object can have', make(CM, cm('a')), CM, 'metadata.name=a/b', 'metadata.name=..', 'metadata.name=a%b', 'metadata.name=*', 'metadata.name="a"', 'metadata.name!=a/b'),
  scenario('fields-by-name-in-full', { section: '4.3', about: 'a list narrowed to one name is a list, found or not' }, [...make(CM, cm('a'), cm('b')), GET(q(CM, { fieldSelector: 'metadata.name=a' })), GET(q(CM, { fieldSelector: 'metadata.name=z' }))]),

  matching('pod-node', 'spec.nodeName and its alias spec.host', make(PODS, ...pods), PODS, 'spec.nodeName=n1', 'spec.nodeName!=n1', 'spec.nodeName=', 'spec.nodeName!=', 'spec.host=n2'),
  matching('pod-restart-policy', 'spec.restartPolicy', make(PODS, ...pods), PODS, 'spec.restartPolicy=Always', 'spec.restartPolicy=Never', 'spec.restartPolicy!=Always'),
  matching('pod-scheduler', 'spec.schedulerName', make(PODS, ...pods), PODS, 'spec.schedulerName=mine', 'spec.schedulerName=default-scheduler', 'spec.schedulerName!=mine'),
  matching('pod-service-account', 'spec.serviceAccountName', make(PODS, ...pods), PODS, 'spec.serviceAccountName=robot', 'spec.serviceAccountName=', 'spec.serviceAccountName!=robot'),
  matching('pod-host-network', 'spec.hostNetwork as true or false', make(PODS, ...pods), PODS, 'spec.hostNetwork=true', 'spec.hostNetwork=false', 'spec.hostNetwork!=true', 'spec.hostNetwork=', 'spec.hostNetwork=1'),
  matching('pod-phase', 'status.phase', [...make(PODS, ...pods), status(`${PODS}/a`, { phase: 'Running' })], PODS, 'status.phase=Pending', 'status.phase=Running', 'status.phase!=Running', 'status.phase='),
  matching('pod-ip', 'status.podIP and status.podIPs', [...make(PODS, ...pods), status(`${PODS}/a`, { podIP: '10.1.0.5', podIPs: [{ ip: '10.1.0.5' }] })], PODS, 'status.podIP=10.1.0.5', 'status.podIP=', 'status.podIP!=10.1.0.5', 'status.podIPs=10.1.0.5', 'status.podIPs='),
  matching('pod-nominated-node', 'status.nominatedNodeName', [...make(PODS, ...pods), status(`${PODS}/c`, { nominatedNodeName: 'n9' })], PODS, 'status.nominatedNodeName=n9', 'status.nominatedNodeName=', 'status.nominatedNodeName!=n9'),
  matching('pod-combined', 'fields of a pod together', make(PODS, ...pods), PODS, 'spec.nodeName=n1,status.phase=Pending', 'spec.nodeName!=n1,spec.restartPolicy=Always', 'metadata.name=a,spec.nodeName=n2', 'spec.nodeName=,status.phase!=Succeeded,status.phase!=Failed'),
  matching('pod-unsupported', 'fields of a pod that cannot be selected by', [], PODS, 'spec.nodename=x', 'spec.containers=x', 'status.hostIP=x', 'metadata.uid=x', 'spec.priority=0'),
  matching('secret-type', 'type of secrets', make(SECRETS, secret('a'), secret('b', 'example.com/own'), secret('c', 'Opaque')), SECRETS, 'type=Opaque', 'type!=Opaque', 'type=example.com/own', 'type=', 'type=Opaque,metadata.name!=a'),
  matching('service', 'spec.type and spec.clusterIP of services', make(ns('services'), svc('a', { clusterIP: 'None' }), svc('b', { type: 'ExternalName', externalName: 'x.example.com' }), svc('c')), ns('services'), 'spec.type=ClusterIP', 'spec.type=ExternalName', 'spec.clusterIP=None', 'spec.clusterIP=', 'spec.type=ClusterIP,spec.clusterIP!=None', 'spec.sessionAffinity=None'),
  matching('job', 'status.successful of jobs', make(ns('jobs', BATCH), job('a'), job('b')), ns('jobs', BATCH), 'status.successful=0', 'status.successful!=0', 'status.successful=1', 'status.active=0', 'spec.parallelism=1'),
  matching('replication-controller', 'status.replicas of replication controllers', make(ns('replicationcontrollers'), rc('a', 0), rc('b', 2)), ns('replicationcontrollers'), 'status.replicas=0', 'status.replicas!=0', 'spec.replicas=2'),
  scenario('fields-node', { section: '4.3', namespace: false, cleanup: [`${NODES}/$ns-a`, `${NODES}/$ns-b`], about: 'spec.unschedulable of nodes' }, [
    ...make(NODES, node('$ns-a', { own: '$ns' }, { unschedulable: true }), node('$ns-b', { own: '$ns' })),
    ...['spec.unschedulable=true', 'spec.unschedulable=false', 'spec.unschedulable!=true', 'spec.unschedulable=', 'metadata.name=$ns-a', 'metadata.name!=$ns-a', 'metadata.namespace=', 'spec.providerID=x'].map((fieldSelector) => LIST(NODES, { labelSelector: 'own=$ns', fieldSelector }))]),
  scenario('fields-namespace-phase', { section: '4.3', about: 'status.phase of namespaces' }, [
    ...['metadata.name=$ns,status.phase=Active', 'metadata.name=$ns,status.phase=Terminating', 'metadata.name=$ns,status.phase!=Terminating', 'metadata.name=$ns,spec.finalizers=kubernetes'].map((fieldSelector) => LIST('/api/v1/namespaces', { fieldSelector }))]),
  matching('event-involved', 'involvedObject.* of events', make(EVENTS,
    event('a', { kind: 'Pod', name: 'p', uid: 'u1', apiVersion: 'v1', resourceVersion: '7', fieldPath: 'spec.x' }), event('b', { kind: 'Service', name: 's' })), EVENTS,
  'involvedObject.kind=Pod', 'involvedObject.kind!=Pod', 'involvedObject.name=s', 'involvedObject.namespace=$ns', 'involvedObject.uid=u1', 'involvedObject.apiVersion=v1', 'involvedObject.resourceVersion=7', 'involvedObject.fieldPath=spec.x', 'involvedObject.kind=Pod,involvedObject.name=p'),
  matching('event-others', 'reason, type, source and reportingComponent of events', make(EVENTS, event('a'),
    event('b', {}, { fields: { reason: 'Other', type: 'Warning', source: { component: 'c2' }, reportingComponent: 'example.com/r', reportingInstance: 'i', action: 'x' } }),
    event('c', {}, { fields: { source: {}, reportingComponent: 'example.com/r3', reportingInstance: 'i', action: 'x' } })), EVENTS,
  'reason=Tested', 'reason!=Tested', 'type=Warning', 'type=Normal', 'source=oracle', 'source=c2', 'source=example.com/r3', 'reportingComponent=example.com/r', 'reportingComponent=', 'message=x'),
  matching('event-regarding', 'regarding.* of events.k8s.io/v1', make(EVENTS, event('a', { kind: 'Pod', name: 'p' }), event('b', { kind: 'Service', name: 's' }, { fields: { reason: 'Other' } })), EVENTSK8S,
    'regarding.kind=Pod', 'regarding.name=s', 'regarding.namespace=$ns', 'reason=Other', 'reportingController=', 'type=Normal', 'involvedObject.kind=Pod', 'source=oracle', 'note=x'),
  matching('lease', 'a kind with name and namespace only', make(LEASES, lease('a'), lease('b')), LEASES, 'metadata.name=a', 'metadata.name!=a', 'spec.holderIdentity=x', 'metadata.labels=x'),
  matching('deployment', 'kinds of apps have name and namespace only', [], ns('deployments', APPS), 'metadata.name=a', 'status.replicas=0', 'spec.replicas!=0', 'metadata.name=a,spec.x=y'),
  ...perKind,
  ...Object.entries(invalid).map(([id, fieldSelector]) => scenario(`fields-invalid-${id}`, { section: '4.3', namespace: false, about: `what the field selector ${fieldSelector} is answered with` }, [GET(q(CM, { fieldSelector })), GET(q(PODS, { fieldSelector }))])),
  scenario('fields-invalid-on-watch', { section: '4.3', namespace: false, about: 'an unknown field on a watch' }, [GET(q(CM, { watch: '1', fieldSelector: 'spec.x=y' })), GET(q(PODS, { watch: '1', fieldSelector: 'spec.x=y' }))]),
  scenario('fields-invalid-on-deletecollection', { section: '4.3', namespace: false, about: 'an unknown field on deletecollection' }, [{ kind: 'request', method: 'DELETE', path: q(CM, { fieldSelector: 'spec.x=y' }) }]),
  scenario('fields-from-cache', { section: '4.5', about: 'field selectors with resourceVersion=0' }, [...make(PODS, ...pods), SLEEP(300), ...['spec.nodeName=n1', 'metadata.name=b', 'metadata.name!=b'].map((fieldSelector) => LIST(PODS, { fieldSelector, resourceVersion: '0' }))]),
  scenario('fields-across-namespaces', { section: '4.3', about: 'a field of pods in a list across namespaces' }, [
    ...make(PODS, pod('a', undefined, { nodeName: '$ns-n1' }), pod('b', undefined, { nodeName: '$ns-n2' })), LIST('/api/v1/pods', { fieldSelector: 'spec.nodeName=$ns-n1' }), LIST('/api/v1/pods', { fieldSelector: 'metadata.name=b,metadata.namespace=$ns' }), LIST('/api/v1/pods', { fieldSelector: 'spec.nodeName=$ns-n2,metadata.name=a' })]),
];
