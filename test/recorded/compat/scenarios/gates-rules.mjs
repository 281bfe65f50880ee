// What feature gates change besides fields: rules, warnings, quotas, finalizers. Each with its gate on and off.
import { gated } from './kit/gates.mjs';
import { DELETE, GET, PATCH, POST, PUT, scenario } from '../steps.ts';

const PODS = '/api/v1/namespaces/$ns/pods';
const MAPS = '/api/v1/namespaces/$ns/configmaps';
const CLAIMS = '/api/v1/namespaces/$ns/persistentvolumeclaims';
const QUOTAS = '/api/v1/namespaces/$ns/resourcequotas';
const SERVICES = '/api/v1/namespaces/$ns/services';
const service = (name, spec = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 1 }], ...spec } });
const container = (o = {}) => ({ name: 'c', image: 'i', ...o });
const pod = (name, spec = {}, metadata = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: { containers: [container()], ...spec } });
const template = (metadata, spec = {}) => ({ metadata: { labels: { a: 'b' }, ...metadata }, spec: { containers: [container()], ...spec } });
const deployment = (name, t) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { selector: { matchLabels: { a: 'b' } }, template: t } });
const claim = (name, spec = {}) => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec } });
const unsafe = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
const warned = { compareHeaders: ['warning'] };
/** Messages with a diff are ours (docs/differences.md). */
const changed = { pick: (b) => b.details?.causes.map(({ field, message }) => [field, message.split('\n')[0]]) ?? b.spec };
const dry = { query: { dryRun: 'All' } };

const quota = (name, hard, spec = {}) => {
  const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard, ...spec } };
  const used = Object.fromEntries(Object.keys(hard).map((one) => [one, '0']));
  return [POST(QUOTAS, body, { compare: 'status' }), PUT(`${QUOTAS}/${name}/status`, { ...body, status: { hard, used } }, { compare: 'status' })];
};
/** Once a pod template is refused, the server knows the quotas: there is no other way to tell. */
const known = [
  ...quota('sentinel', { 'count/podtemplates': '0' }),
  { ...POST('/api/v1/namespaces/$ns/podtemplates', { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'probe' }, template: { spec: { containers: [container()] } } }, { ...dry, compare: 'status', note: 'until the quotas are known' }), kind: 'poll', ms: 10000, until: (_, status) => status === 403 },
];
const used = (name) => GET(`${QUOTAS}/${name}`, { pick: ({ status }) => status.used });
const ofClass = (operator, ...values) => ({ scopeSelector: { matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator, ...(values.length > 0 ? { values } : {}) }] } });

export default [
  ...gated('git-repo-warning', false, 'what is told of a gitRepo volume', [
    POST(PODS, pod('p', { volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] }), warned),
    POST('/apis/apps/v1/namespaces/$ns/deployments', deployment('d', template({}, { volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] })), warned),
    POST('/apis/batch/v1/namespaces/$ns/cronjobs', { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'c' }, spec: { schedule: '@daily', jobTemplate: { spec: { template: template({}, { restartPolicy: 'Never', volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] }) } } } }, warned),
  ]),
  ...gated('selinux-mount-policies', false, 'change policies of pods: MountOption', [
    ...['MountOption', 'Recursive', 'Never', ''].map((seLinuxChangePolicy, at) => POST(PODS, pod(`p${at}`, { securityContext: { seLinuxChangePolicy } }))),
    POST('/apis/apps/v1/namespaces/$ns/deployments', deployment('d', template({}, { securityContext: { seLinuxChangePolicy: 'Recursive' } }))),
    PATCH('/apis/apps/v1/namespaces/$ns/deployments/d', 'merge', { spec: { template: { spec: { securityContext: { seLinuxChangePolicy: 'MountOption' } } } } }),
  ]),
  ...gated('pod-deletion-cost', true, 'what a pod may cost to delete', ['1', '+1', '01', 'x', '', '2147483648', '-2147483648'].flatMap((cost, at) => [
    POST(PODS, pod(`p${at}`, {}, { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }), dry),
    POST('/apis/apps/v1/namespaces/$ns/deployments', deployment(`d${at}`, template({ annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } })), dry),
  ])),
  ...gated('cross-namespace-source-update', false, 'a claim with a source in another namespace: updates', [
    POST(CLAIMS, claim('c', { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'x', namespace: 'other' } })),
    PATCH(`${CLAIMS}/c`, 'merge', { metadata: { labels: { a: 'b' } } }),
    POST(CLAIMS, claim('d', { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'x' } })),
    PATCH(`${CLAIMS}/d`, 'merge', { spec: { dataSourceRef: { namespace: 'other' } } }, { compare: 'status' }),
    POST(CLAIMS, claim('e', { dataSource: { kind: 'PersistentVolumeClaim', name: 'y' }, dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'x', namespace: 'other' } })),
    POST(PODS, pod('p', { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeAttributesClassName: 'A!', dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'x', namespace: 'other' } } } } }] })),
  ]),
  ...gated('attributes-class-change', false, 'the class of the attributes of a bound claim and of a volume', [
    POST(CLAIMS, claim('c', { volumeAttributesClassName: 'a', volumeName: 'v' })),
    PATCH(`${CLAIMS}/c/status`, 'merge', { status: { phase: 'Bound' } }, { compare: 'status' }),
    ...['b', 'B!', '', null].map((volumeAttributesClassName) => PATCH(`${CLAIMS}/c`, 'merge', { spec: { volumeAttributesClassName } }, changed)),
    POST(CLAIMS, claim('d', { volumeName: 'v' })),
    PATCH(`${CLAIMS}/d/status`, 'merge', { status: { phase: 'Bound' } }, { compare: 'status' }),
    ...['', 'b'].map((volumeAttributesClassName) => PATCH(`${CLAIMS}/d`, 'merge', { spec: { volumeAttributesClassName } }, changed)),
    POST('/api/v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: '$ns-v' }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], volumeAttributesClassName: 'a', csi: { driver: 'd.example.com', volumeHandle: 'h' } } }),
    ...['b', 'B!', '', null].map((volumeAttributesClassName) => PATCH('/api/v1/persistentvolumes/$ns-v', 'merge', { spec: { volumeAttributesClassName } }, changed)),
    POST('/api/v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: '$ns-w' }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], volumeAttributesClassName: 'a', hostPath: { path: '/a' } } }),
    POST('/apis/apps/v1/namespaces/$ns/statefulsets', { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 's' }, spec: { selector: { matchLabels: { a: 'b' } }, template: template({}), volumeClaimTemplates: [claim('c', { volumeAttributesClassName: 'A!' })] } }, { compare: 'status' }),
  ], { cleanup: ['/api/v1/persistentvolumes/$ns-v', '/api/v1/persistentvolumes/$ns-w'] }),
  ...gated('attributes-class-quota', false, 'quotas of classes of attributes', [
    ...quota('a', { persistentvolumeclaims: '1' }, ofClass('In', 'a')),
    ...quota('n', { persistentvolumeclaims: '1' }, ofClass('DoesNotExist')),
    ...known,
    ...['a', 'a', 'b', undefined, undefined].map((volumeAttributesClassName, at) => POST(CLAIMS, claim(`c${at}`, { volumeAttributesClassName }))),
    used('a'), used('n'),
  ]),
  ...gated('claim-status-quota', true, 'storage that is set aside counts', [
    POST(CLAIMS, claim('c')),
    ...quota('q', { 'requests.storage': '3Gi' }),
    ...known,
    PATCH(`${CLAIMS}/c/status`, 'merge', { status: { allocatedResources: { storage: '2Gi' } } }),
    used('q'),
    PATCH(`${CLAIMS}/c/status`, 'merge', { status: { allocatedResources: { storage: '9Gi' } } }),
    used('q'),
  ]),
  ...gated('topology-labels-binding', false, 'labels of a binding, and of pods that are made on a node', [
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n', labels: { 'topology.k8s.io/zone': 'z', other: 'x' } } }, { compare: 'status' }),
    ...['a', 'b', 'c'].map((name) => POST(PODS, pod(name, {}, { labels: { 'topology.k8s.io/zone': 'mine', own: 'o' } }))),
    POST(`${PODS}/a/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a', labels: { own: 'p', more: 'q' }, annotations: { n: 'm' } }, target: { kind: 'Node', name: '$ns-n' } }),
    GET(`${PODS}/a`),
    POST(`${PODS}/b/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'b' }, target: { name: '$ns-n' } }),
    GET(`${PODS}/b`),
    POST('/api/v1/namespaces/$ns/bindings', { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'c', labels: { more: 'q' } }, target: { kind: 'Node', name: '$ns-n' } }),
    GET(`${PODS}/c`),
    POST(PODS, pod('d', { nodeName: '$ns-n' }, { labels: { 'topology.k8s.io/zone': 'mine' } })),
    POST(PODS, pod('e', { nodeName: '$ns-none' })),
  ], { cleanup: ['/api/v1/nodes/$ns-n'] }),
  ...gated('log-streams', false, 'streams of a log', [
    POST(PODS, pod('p'), { compare: 'status' }),
    ...[{}, { stream: 'All' }, { stream: 'Stdout' }, { stream: 'stdout' }, { stream: '' }, { stream: 'Stderr', tailLines: '1' }, { stream: 'All', tailLines: '1' }, { stream: 'None', tailLines: '-1' }].map((query) => GET(`${PODS}/p/log`, { query, pick: (b) => b?.details?.causes?.map(({ field, message, reason }) => [field, message.replace(/"(All|Stderr|Stdout)"/g, '*'), reason]) ?? b })),
  ]),
  ...gated('takeover', false, 'rules by declaration', [...[{ replicas: -1 }, { minReadySeconds: -1 }, { replicas: -1, minReadySeconds: -2 }, { replicas: null }, { replicas: -1, selector: { a: '!' } }].map((spec, at) => POST('/api/v1/namespaces/$ns/replicationcontrollers', { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: `r${at}` }, spec: { selector: { a: 'b' }, template: template({}), ...spec } })), ...[{ replicas: -3 }, { minReadySeconds: -1, selector: { c: 'd' }, replicas: -1 }, { minReadySeconds: 1 }].map((spec) => PATCH('/api/v1/namespaces/$ns/replicationcontrollers/r3', 'merge', { spec }))]),
  ...['on', 'off'].map((state) => scenario(`gates-declared-rules-metrics-${state}`, { section: '12', about: `counters of rules by declaration, gate ${state}`, namespace: false, ...(state === 'on' ? {} : { needs: 'gates-off' }) }, [
    GET('/metrics', { text: true, pick: (text) => text.split('\n').filter((line) => line.includes('declarative_validation') && !line.startsWith('# HELP')) }),
    GET('/metrics', { text: true, pick: (text) => text.split('\n').filter((line) => line.includes('name="DeclarativeValidation')).toSorted() }),
  ])),
  ...gated('storage-version-hash', true, 'hashes of storage versions', [
    GET('/api/v1', { pick: (b) => b.resources.filter(({ name }) => !name.includes('/')) }), GET('/apis/apps/v1'), GET('/apis/coordination.k8s.io/v1'),
  ], { namespace: false }),
  ...gated('aggregated-beta', true, 'the aggregated documents of v2beta1', ['application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList', 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'].flatMap((accept) => [
    GET('/api', { headers: { accept }, pick: (b) => ({ kind: b.kind, apiVersion: b.apiVersion, names: b.items?.[0].versions[0].resources.map(({ resource }) => resource) }), compareHeaders: ['content-type'] }),
    GET('/apis', { headers: { accept }, pick: (b) => ({ kind: b.kind, apiVersion: b.apiVersion, first: b.items?.find(({ metadata }) => metadata.name === 'apps') }), compareHeaders: ['content-type'] }),
  ]), { namespace: false }),
  ...gated('openapi-enums', true, 'which values fields may have, in OpenAPI', [
    ...['api/v1', 'apis/apps/v1', 'apis/networking.k8s.io/v1'].map((group) => GET(`/openapi/v3/${group}`, { json: true, pick: (b) => Object.entries(b.components.schemas).flatMap(([name, { properties = {} }]) => Object.entries(properties).flatMap(([field, { enum: values, items }]) => [values, items?.enum].flatMap((one) => (one ? [`${name}.${field}: ${one.join()}`] : [])))).sort() })),
  ], { namespace: false }),
  ...gated('unsafe-delete', false, 'deletes of what cannot be read: options, objects that can be read, collections', [
    POST(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }, { compare: 'status' }),
    ...[{}, { dryRun: ['All'] }, { dryRun: ['None'] }, { propagationPolicy: 'Orphan' }, { orphanDependents: false }, { gracePeriodSeconds: 0 }, { preconditions: {} }, { dryRun: ['All'], orphanDependents: true, gracePeriodSeconds: 1, preconditions: { uid: 'u' } }].map((o) => DELETE(`${MAPS}/none`, { kind: 'DeleteOptions', apiVersion: 'v1', ...unsafe, ...o })),
    DELETE(`${MAPS}/none`, undefined, { query: { ...unsafe } }),
    DELETE(`${MAPS}/none`, undefined, { query: { ...unsafe, uid: '', gracePeriodSeconds: '0' } }),
    DELETE(`${MAPS}/none`, unsafe, { as: 'alice' }),
    DELETE(MAPS, unsafe, { query: { labelSelector: 'none=none' } }),
    DELETE('/apis/apps/v1/namespaces/$ns/deployments/none', unsafe),
    DELETE(`${MAPS}/c`, { ignoreStoreReadErrorWithClusterBreakingPotential: false, dryRun: ['All'] }),
    DELETE(`${MAPS}/c`, unsafe),
  ]),
  ...gated('max-unavailable-default', false, 'how many pods of a StatefulSet may be away, where nothing is said', [undefined, {}, { type: 'RollingUpdate' }, { type: 'RollingUpdate', rollingUpdate: {} }, { rollingUpdate: { partition: 1 } }, { type: 'OnDelete' }, { type: 'OnDelete', rollingUpdate: { partition: 1 } }].map((updateStrategy, at) => POST('/apis/apps/v1/namespaces/$ns/statefulsets', { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: `s${at}` }, spec: { serviceName: 's', selector: { matchLabels: { a: 'b' } }, template: template({}), updateStrategy } }, { pick: (b) => b.spec?.updateStrategy ?? b.message.replace(/0x[0-9a-f]+/g, '<pointer>') }))),
  ...gated('tolerance-in-v1', false, 'tolerances of an autoscaler through its older version', [
    POST('/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers', { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' }, behavior: { scaleUp: { tolerance: '0.1' }, scaleDown: { tolerance: '50m' } } } }),
    GET('/apis/autoscaling/v1/namespaces/$ns/horizontalpodautoscalers/h'),
    PATCH('/apis/autoscaling/v1/namespaces/$ns/horizontalpodautoscalers/h', 'merge', { spec: { maxReplicas: 3 } }),
    GET('/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers/h'),
  ]),
  ...gated('tolerance-by-annotation', false, 'tolerances that are written through the annotations of the older version', [
    ...['{"ScaleUp":{"Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":1}],"Tolerance":"0.10"}}', '{"ScaleUp":{"Tolerance":"0.10"},"ScaleDown":{"StabilizationWindowSeconds":5,"Tolerance":"50m"}}'].flatMap((text, at) => {
      const behavior = { 'autoscaling.alpha.kubernetes.io/behavior': text };
      const autoscaler = (spec, metadata = {}) => ({ apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: `h${at}`, ...metadata }, spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' }, ...spec } });
      const list = (version) => `/apis/autoscaling/${version}/namespaces/$ns/horizontalpodautoscalers`;
      return [
        POST(list('v1'), autoscaler({}, { annotations: behavior })),
        GET(`${list('v2')}/h${at}`),
        PUT(`${list('v1')}/h${at}`, autoscaler({ maxReplicas: 4 })),
        PATCH(`${list('v1')}/h${at}`, 'merge', { metadata: { annotations: behavior } }),
        GET(`${list('v2')}/h${at}`),
        PATCH(`${list('v2')}/h${at}`, 'merge', { spec: { behavior: { scaleUp: { tolerance: '0.25' } } } }),
        PATCH(`${list('v1')}/h${at}/status`, 'merge', { metadata: { annotations: behavior }, status: { currentReplicas: 1 } }),
        GET(`${list('v2')}/h${at}`),
      ];
    }),
  ]),
  ...['on', 'off'].map((state) => scenario(`gates-address-objects-${state}`, { section: '12', about: `addresses of services that are objects, gate ${state}`, ...(state === 'on' ? {} : { needs: 'recorded-addresses' }), cleanup: ['/apis/networking.k8s.io/v1/servicecidrs/$ns-r'] }, [
    GET('/apis/networking.k8s.io/v1/servicecidrs', { pick: (b) => b.items.filter(({ metadata }) => metadata.name === 'kubernetes').map(({ spec }) => spec) }),
    POST(SERVICES, service('a', { clusterIP: '10.0.77.5' })),
    GET('/apis/networking.k8s.io/v1/ipaddresses/10.0.77.5', { pick: (b) => b.spec ?? b }),
    POST(SERVICES, service('b', { clusterIP: '10.0.77.5' })),
    ...(state === 'on' ? [] : [POST(SERVICES, service('b', { clusterIP: '10.0.77.5' }), { query: { dryRun: 'All' } })]),
    ...['10.0.0.0', '10.0.255.255', '10.1.0.1', '192.168.0.1', 'fd00::1'].map((clusterIP) => POST(SERVICES, service('c', { clusterIP }))),
    POST(SERVICES, service('d')),
    POST(SERVICES, service('e'), { query: { dryRun: 'All' }, pick: ({ spec }) => ({ spec, isNetwork: spec.clusterIP === '10.0.0.0' }) }),
    POST('/apis/networking.k8s.io/v1/servicecidrs', { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: '$ns-r' }, spec: { cidrs: ['10.9.0.0/24'] } }, { compare: 'status' }),
    ...(state === 'on' ? [] : [POST(SERVICES, service('f', { clusterIP: '10.9.0.9' }))]),
    DELETE(`${SERVICES}/a`, undefined, { compare: 'status' }),
    GET('/apis/networking.k8s.io/v1/ipaddresses/10.0.77.5', { compare: 'status' }),
    POST(SERVICES, service('b', { clusterIP: '10.0.77.5' }), { compare: 'status' }),
    PATCH(`${SERVICES}/b`, 'merge', { spec: { type: 'ExternalName', externalName: 'x.example.com', clusterIP: null, clusterIPs: null } }, { compare: 'status' }),
    POST(SERVICES, service('g', { clusterIP: '10.0.77.5' }), { compare: 'status' }),
    GET('/apis/networking.k8s.io/v1', { pick: (b) => b.resources.map(({ name }) => name) }),
  ])),
  ...gated('strict-ip-update', false, 'odd addresses: what was there, templates, statuses', [
    POST('/apis/networking.k8s.io/v1/namespaces/$ns/networkpolicies', { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'n' }, spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }] } }, { compare: 'status' }),
    ...['10.0.0.0/08', '::ffff:10.0.0.0/104', '10.0.0.1/8', '2001:DB8::/32'].map((cidr) => PATCH('/apis/networking.k8s.io/v1/namespaces/$ns/networkpolicies/n', 'merge', { spec: { egress: [{ to: [{ ipBlock: { cidr } }] }] } }, { query: { dryRun: 'All' }, pick: (b) => b.details?.causes.slice(0, 1) ?? b.spec })),
    POST('/apis/apps/v1/namespaces/$ns/deployments', deployment('d', template({}, { hostAliases: [{ ip: '01.2.3.4', hostnames: ['a'] }], dnsConfig: { nameservers: ['::ffff:1.2.3.4'] } }))),
    POST('/apis/apps/v1/namespaces/$ns/statefulsets', { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 's' }, spec: { selector: { matchLabels: { a: 'b' } }, template: template({}, { hostAliases: [{ ip: '01.2.3.4', hostnames: ['a'] }] }) } }, { compare: 'status' }),
    POST(PODS, pod('p'), { compare: 'status' }),
    PATCH(`${PODS}/p/status`, 'merge', { status: { podIPs: [{ ip: '01.2.3.4' }], podIP: '01.2.3.4' } }),
    PATCH(`${PODS}/p/status`, 'merge', { status: { hostIPs: [{ ip: '::ffff:1.2.3.4' }], hostIP: '::ffff:1.2.3.4' } }),
    POST('/apis/networking.k8s.io/v1/namespaces/$ns/ingresses', { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'i' }, spec: { defaultBackend: { service: { name: 's', port: { number: 1 } } } } }, { compare: 'status' }),
    PATCH('/apis/networking.k8s.io/v1/namespaces/$ns/ingresses/i/status', 'merge', { status: { loadBalancer: { ingress: [{ ip: '01.2.3.4' }] } } }),
    POST('/apis/discovery.k8s.io/v1/namespaces/$ns/endpointslices', { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 'e' }, addressType: 'IPv4', endpoints: [{ addresses: ['01.2.3.4'] }] }),
  ]),
  scenario('gates-device-class-quota', { section: '12', about: 'quotas of devices of a class', needs: 'all-versions' }, [
    ...quota('q', { 'c.deviceclass.resource.k8s.io/devices': '40', 'count/resourceclaims.resource.k8s.io': '9' }),
    ...known,
    ...[['v1beta1', { requests: [{ name: 'a', deviceClassName: 'c', count: 3 }] }], ['v1beta2', { requests: [{ name: 'a', exactly: { deviceClassName: 'c', count: 2 } }] }], ['v1beta1', { requests: [{ name: 'a', firstAvailable: [{ name: 'a', deviceClassName: 'c', count: 2 }, { name: 'b', deviceClassName: 'c', allocationMode: 'All' }] }] }], ['v1beta2', { requests: [{ name: 'a', exactly: { deviceClassName: 'c', count: 4 } }] }], ['v1alpha3', { requests: [{ name: 'a', deviceClassName: 'd', allocationMode: 'All' }] }]].flatMap(([version, devices], at) => [
      POST(`/apis/resource.k8s.io/${version}/namespaces/$ns/resourceclaims`, { apiVersion: `resource.k8s.io/${version}`, kind: 'ResourceClaim', metadata: { name: `c${at}` }, spec: { devices } }),
      used('q'),
    ]),
  ]),
];
