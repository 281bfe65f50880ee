// Plugins for pods and services that are off by default: AlwaysPullImages, ExtendedResourceToleration, LimitPodHardAntiAffinityTopology, DenyServiceExternalIPs.
import { scenario, GET, POST, PUT, PATCH, APPLY, DELETE } from '../steps.ts';
import { PODS, DEPLOYMENTS, pod, deployment, quiet, dry, only, webhook, mutating, validating, rule, patch, add, allow, hooked, called, brief, policy, binding, guarded } from './kit/admission.mjs';

const needs = 'plugins-pods';
const within = (id, about, steps, o = {}) => scenario(`plugins-${id}`, { section: '7', about, needs, ...o }, steps);
const withHooks = (id, about, configurations, hooks, steps) => ({ ...hooked(id, about, configurations, { hooks, needs }, steps), id: `plugins-${id}` });
const withPolicy = (id, about, objects, steps) => ({ ...guarded(id, about, objects, steps, { needs }), id: `plugins-${id}` });
const ofPods = { rules: [rule('pods', { operations: ['CREATE', 'UPDATE'] })] };
const json = (path, value, op = 'replace') => [{ op, path, value }];

// --- AlwaysPullImages ---
const container = (name = 'c', more = {}) => ({ name, image: 'img:1', ...more });
const containers = (...list) => ({ containers: list });
/** The pull policies of containers and volumes, by name. */
const pulls = { pick: (b) => (b.kind === 'Status' ? b : { ...Object.fromEntries(['initContainers', 'containers', 'ephemeralContainers'].flatMap((l) => (b.spec?.[l] ?? []).map((c) => [`${l}.${c.name}`, `${c.image} ${c.imagePullPolicy}`]))), volumes: (b.spec?.volumes ?? []).map((v) => v.image?.pullPolicy ?? null) }) };
/** Without the diff of Go structs that a refused update of a pod shows. */
const firstLine = { pick: (b) => ({ code: b.code, message: b.message?.split('\n')[0] }) };
const never = { imagePullPolicy: 'Never' };
const image = (pullPolicy) => ({ name: 'v', image: { reference: 'data:1', ...(pullPolicy ? { pullPolicy } : {}) } });
const setNever = patch([add('/spec/containers/0/imagePullPolicy', 'Never')]);
const IF_NEEDED = { ...ofPods, reinvocationPolicy: 'IfNeeded' };
const pulling = [
  ...[['none', {}], ['never', never], ['present', { imagePullPolicy: 'IfNotPresent' }], ['always', { imagePullPolicy: 'Always' }], ['wrong', { imagePullPolicy: 'Nope' }], ['latest', { image: 'img', ...never }]].map(([id, more]) => within(`pull-${id}`, `AlwaysPullImages: a container with ${id}`, [POST(PODS, pod('p', containers(container('c', more))), pulls)])),
  within('pull-all-lists', 'AlwaysPullImages: init containers, containers, all of them', [POST(PODS, pod('p', { initContainers: [container('i', never), container('s', { ...never, restartPolicy: 'Always' })], ...containers(container('a', never), container('b')) }), pulls)]),
  within('pull-volume', 'AlwaysPullImages: image volumes as well', [POST(PODS, pod('p', { ...containers(container()), volumes: [image('Never'), { name: 'w', emptyDir: {} }] }), pulls), POST(PODS, pod('q', { ...containers(container()), volumes: [image()] }), pulls)]),
  within('pull-owned', 'AlwaysPullImages: a value that it changes stays with its owner, one that it adds has none', [POST(PODS, pod('p', containers(container('c', never), container('d'))), { pick: (b) => b.metadata?.managedFields?.map((m) => m.fieldsV1['f:spec']['f:containers']) })]),
  within('pull-dry', 'AlwaysPullImages: a dry run', [POST(PODS, pod('p', containers(container('c', never))), { ...dry, ...pulls })]),
  within('pull-apply', 'AlwaysPullImages: applied, and again', [APPLY(`${PODS}/p`, 'm', pod('p', containers(container('c', never))), pulls), APPLY(`${PODS}/p`, 'm', pod('p', containers(container('c', never))), firstLine)]),
  within('pull-update-same', 'AlwaysPullImages: an update without a new image', [POST(PODS, pod('p', containers(container())), quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, pulls)]),
  within('pull-update-policy', 'AlwaysPullImages: an update of the policy alone is not looked at, validation refuses it', [POST(PODS, pod('p', containers(container())), quiet), PATCH(`${PODS}/p`, 'strategic', { spec: containers({ name: 'c', ...never }) }, firstLine)]),
  within('pull-update-image', 'AlwaysPullImages: an update of the image', [POST(PODS, pod('p', containers(container())), quiet), PATCH(`${PODS}/p`, 'strategic', { spec: containers({ name: 'c', image: 'img:2' }) }, pulls)]),
  within('pull-update-image-policy', 'AlwaysPullImages: an update of image and policy: the policy stays', [POST(PODS, pod('p', containers(container())), quiet), PATCH(`${PODS}/p`, 'strategic', { spec: containers({ name: 'c', image: 'img:2', ...never }) }, pulls)]),
  within('pull-update-swapped', 'AlwaysPullImages: images that another container had are not new', [POST(PODS, pod('p', containers(container('a'), container('b', { image: 'img:2' }))), quiet), PATCH(`${PODS}/p`, 'strategic', { spec: containers({ name: 'a', image: 'img:2', ...never }) }, firstLine)]),
  within('pull-ephemeral', 'AlwaysPullImages: subresources are not looked at', [POST(PODS, pod('p', containers(container())), quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'tool:1', ...never }] } }, pulls), PATCH(`${PODS}/p`, 'strategic', { spec: containers({ name: 'c', image: 'tool:1' }) }, pulls), PATCH(`${PODS}/p`, 'strategic', { spec: containers({ name: 'c', image: 'img:3' }) }, firstLine)]),
  within('pull-workload', 'AlwaysPullImages: the template of a workload is left alone', [POST(DEPLOYMENTS, deployment('d', { template: { metadata: { labels: { app: 'a' } }, spec: containers(container('c', never)) } }), { pick: (b) => b.spec?.template.spec.containers[0].imagePullPolicy })]),
  withHooks('pull-hook-once', 'AlwaysPullImages: what a mutating hook changes is changed back in the second round', mutating(webhook('h', ofPods)), { h: setNever }, [POST(PODS, pod('p', containers(container())), pulls), brief('h', 1, 'object.spec.containers.0.imagePullPolicy')]),
  withHooks('pull-hook-twice', 'AlwaysPullImages: a hook that is called again has the last word, and validation refuses it', mutating(webhook('h', IF_NEEDED)), { h: setNever }, [POST(PODS, pod('p', containers(container()))), called('h', 2)]),
  withHooks('pull-hook-twice-more', 'AlwaysPullImages: several such containers and a volume', mutating(webhook('h', IF_NEEDED)), { h: patch([add('/spec/containers/0/imagePullPolicy', 'Never'), add('/spec/initContainers/0/imagePullPolicy', 'IfNotPresent'), add('/spec/volumes/0/image/pullPolicy', 'Never')]) }, [POST(PODS, pod('p', { initContainers: [container('i')], ...containers(container()), volumes: [image()] }))]),
  withHooks('pull-hook-generated', 'AlwaysPullImages: the refusal has the generated name', mutating(webhook('h', IF_NEEDED)), { h: setNever }, [POST(PODS, { ...pod('p', containers(container())), metadata: { generateName: 'p-' } }, { pick: (b) => ({ ...b, message: b.message?.replace(/p-[a-z0-9]{5}/, 'p-#') }) })]),
  withHooks('pull-hook-update', 'AlwaysPullImages: an update without a new image is not validated either', mutating(webhook('h', { rules: [rule('pods', { operations: ['UPDATE'] })] })), { h: patch([add('/metadata/labels', { a: 'b' })]) }, [POST(PODS, pod('p', containers(container())), quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { annotations: { a: 'b' } } }, pulls)]),
];

// --- ExtendedResourceToleration ---
const tolerations = only('spec.tolerations');
const gpu = (name = 'example.com/gpu', count = '1') => ({ resources: { limits: { [name]: count } } });
const tolerates = (key = 'example.com/gpu', more = {}) => ({ key, operator: 'Exists', effect: 'NoSchedule', ...more });
const extended = [
  within('extended-limit', 'ExtendedResourceToleration: a resource that is limited is requested', [POST(PODS, pod('p', containers(container('c', gpu()))), tolerations)]),
  within('extended-zero', 'ExtendedResourceToleration: a request of none counts as well', [POST(PODS, pod('p', containers(container('c', gpu('example.com/gpu', '0')))), tolerations)]),
  within('extended-several', 'ExtendedResourceToleration: of all containers, sorted, once', [POST(PODS, pod('p', { initContainers: [container('i', gpu('a.example.com/x')), container('j', gpu('z.example.com/x'))], ...containers(container('c', { resources: { limits: { 'example.com/gpu': '1', 'b.example.com/x': '2' } } }), container('d', gpu())) }), tolerations)]),
  ...['cpu', 'hugepages-2Mi', 'kubernetes.io/batch', 'example.kubernetes.io/x', 'attachable-volumes-x', 'requests.example.com/x', 'Example.com/x', 'example.com/GPU'].map((name) => within(`extended-name-${name.replaceAll(/[^a-zA-Z0-9]/g, '-').replaceAll(/[A-Z]/g, (l) => `cap-${l.toLowerCase()}`)}`, `ExtendedResourceToleration: the resource ${name}`, [POST(PODS, pod('p', containers(container('c', { resources: { limits: { cpu: '1', [name]: name.startsWith('huge') ? '2Mi' : '1' } } }))), tolerations)])),
  ...[
    ['same', [tolerates()]], ['other-effect', [tolerates('example.com/gpu', { effect: 'NoExecute' })]], ['any-effect', [{ key: 'example.com/gpu', operator: 'Exists' }]], ['value', [tolerates('example.com/gpu', { operator: 'Equal', value: 'x' })]],
    ['any-key', [{ operator: 'Exists' }]], ['between', [tolerates('a'), tolerates(), tolerates('b')]], ['twice', [tolerates(), tolerates()]], ['seconds', [tolerates('example.com/gpu', { tolerationSeconds: 5 })]], ['default-operator', [{ key: 'example.com/gpu', effect: 'NoSchedule' }]],
  ].map(([id, list]) => within(`extended-given-${id}`, `ExtendedResourceToleration: beside a toleration (${id})`, [POST(PODS, pod('p', { ...containers(container('c', gpu())), tolerations: list }), tolerations)])),
  within('extended-update', 'ExtendedResourceToleration: an update looks again, and keeps what is there', [POST(PODS, pod('p', containers(container('c', gpu()))), quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, tolerations), PATCH(`${PODS}/p`, 'json-patch', json('/spec/tolerations/-', { key: 'k', operator: 'Exists' }, 'add'), tolerations)]),
  within('extended-update-removed', 'ExtendedResourceToleration: an update that removes the toleration', [POST(PODS, pod('p', containers(container('c', gpu()))), quiet), PATCH(`${PODS}/p`, 'merge', { spec: { tolerations: null } }, tolerations)]),
  within('extended-workload', 'ExtendedResourceToleration: the template of a workload is left alone', [POST(DEPLOYMENTS, deployment('d', { template: { metadata: { labels: { app: 'a' } }, spec: containers(container('c', gpu())) } }), only('spec.template.spec.tolerations'))]),
  withHooks('extended-hook', 'ExtendedResourceToleration: a request that a mutating hook adds is seen in the second round', mutating(webhook('h', ofPods)), { h: patch([add('/spec/containers/0/resources', { limits: { 'example.com/fpga': '1' }, requests: { 'example.com/fpga': '1' } })]) }, [POST(PODS, pod('p', containers(container('c', gpu()))), tolerations), brief('h', 1, 'object.spec.tolerations')]),
];

// --- LimitPodHardAntiAffinityTopology ---
const term = (topologyKey) => ({ topologyKey, labelSelector: { matchLabels: { a: 'b' } } });
const apart = (...keys) => ({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: keys.map(term) } } });
const affine = only('spec.affinity');
const antiAffinity = [
  within('anti-affinity-host', 'LimitPodHardAntiAffinityTopology: by node', [POST(PODS, pod('p', apart('kubernetes.io/hostname')), affine)]),
  within('anti-affinity-zone', 'LimitPodHardAntiAffinityTopology: by zone', [POST(PODS, pod('p', apart('topology.kubernetes.io/zone')))]),
  within('anti-affinity-second', 'LimitPodHardAntiAffinityTopology: the first other key is named', [POST(PODS, pod('p', apart('kubernetes.io/hostname', 'rack', 'zone')))]),
  within('anti-affinity-generated', 'LimitPodHardAntiAffinityTopology: the refusal has the generated name', [POST(PODS, { ...pod('p', apart('rack')), metadata: { generateName: 'p-' } }, { pick: (b) => ({ message: b.message?.replace(/p-[a-z0-9]{5}/, 'p-#'), name: b.details?.name.replace(/p-[a-z0-9]{5}/, 'p-#') }) })]),
  within('anti-affinity-preferred', 'LimitPodHardAntiAffinityTopology: what is preferred, and affinity, may be anything', [POST(PODS, pod('p', { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term('rack') }] }, podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('rack')] } } }), quiet)]),
  within('anti-affinity-invalid', 'LimitPodHardAntiAffinityTopology: validation comes first', [POST(PODS, pod('p', apart('')))]),
  within('anti-affinity-dry', 'LimitPodHardAntiAffinityTopology: a dry run, apply', [POST(PODS, pod('p', apart('rack')), dry), APPLY(`${PODS}/p`, 'm', pod('p', apart('rack')))]),
  within('anti-affinity-workload', 'LimitPodHardAntiAffinityTopology: the template of a workload may have it', [POST(DEPLOYMENTS, deployment('d', { template: { metadata: { labels: { app: 'a' } }, spec: { containers: [container()], ...apart('rack') } } }), quiet)]),
  withHooks('anti-affinity-hook', 'LimitPodHardAntiAffinityTopology: what a mutating hook sets is refused, and no validating hook asked', [mutating(webhook('m', ofPods)), validating(webhook('v', ofPods))], { m: patch([add('/spec/affinity', apart('rack').affinity)]), v: allow }, [POST(PODS, pod()), called('m', 1), called('v')]),
  withPolicy('anti-affinity-policy', 'LimitPodHardAntiAffinityTopology: goes before policies', [policy({ rules: [rule('pods')], validations: [{ expression: 'false', message: 'policy' }] }), binding()], [POST(PODS, pod('p', apart('rack'))), POST(PODS, pod('p', apart('kubernetes.io/hostname')))]),
];

// --- DenyServiceExternalIPs ---
const SERVICES = '/api/v1/namespaces/$ns/services';
const service = (externalIPs, more = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { clusterIP: 'None', ports: [{ port: 80 }], ...(externalIPs ? { externalIPs } : {}), ...more } });
const ips = only('spec.externalIPs');
const externalIps = [
  within('external-ips-none', 'DenyServiceExternalIPs: none, or an empty list', [POST(SERVICES, service(), ips), POST(SERVICES, { ...service([]), metadata: { name: 't' } }, ips)]),
  within('external-ips-new', 'DenyServiceExternalIPs: a new service', [POST(SERVICES, service(['192.0.2.1'])), POST(SERVICES, service(['192.0.2.1']), dry), APPLY(`${SERVICES}/s`, 'm', service(['192.0.2.1'])), GET(`${SERVICES}/s`, quiet)]),
  within('external-ips-generated', 'DenyServiceExternalIPs: the refusal has the generated name', [POST(SERVICES, { ...service(['192.0.2.1']), metadata: { generateName: 's-' } }, { pick: (b) => ({ message: b.message?.replace(/s-[a-z0-9]{5}/, 's-#') }) })]),
  within('external-ips-update', 'DenyServiceExternalIPs: an update that adds one', [POST(SERVICES, service(), quiet), PATCH(`${SERVICES}/s`, 'merge', { spec: { externalIPs: ['192.0.2.1'] } }), PATCH(`${SERVICES}/s`, 'merge', { metadata: { labels: { a: 'b' } } }, ips)]),
  within('external-ips-status', 'DenyServiceExternalIPs: the status is not looked at', [POST(SERVICES, service(), quiet), PATCH(`${SERVICES}/s/status`, 'merge', { spec: { externalIPs: ['192.0.2.1'] }, status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } } }, only('spec.externalIPs', 'status'))]),
  within('external-ips-invalid', 'DenyServiceExternalIPs: validation comes first', [POST(SERVICES, service(['nope']))]),
  withHooks('external-ips-hook', 'DenyServiceExternalIPs: what a mutating hook sets is refused', [mutating(webhook('m', { rules: [rule('services')] })), validating(webhook('v', { rules: [rule('services')] }))], { m: patch([add('/spec/externalIPs', ['192.0.2.1'])]), v: allow }, [POST(SERVICES, service()), called('v'), DELETE(`${SERVICES}/s`, undefined, quiet)]),
];

export default [...pulling, ...extended, ...antiAffinity, ...externalIps];
