// LimitRanger: defaults, minima, maxima and ratios of containers, pods and claims.
import { scenario, DELETE, GET, POST, PATCH } from '../steps.ts';
import { PODS, DEPLOYMENTS, pod, deployment, quiet, dry, only } from './kit/admission.mjs';

const RANGES = '/api/v1/namespaces/$ns/limitranges';
const CLAIMS = '/api/v1/namespaces/$ns/persistentvolumeclaims';
const claim = (storage, name = 'v', spec = {}) => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage } }, ...spec } });
const range = (limits, name = 'l') => POST(RANGES, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name }, spec: { limits } }, quiet);
/** The last range also limits claims: once a large one is refused, the server knows the ranges. */
const sentinel = range([{ type: 'PersistentVolumeClaim', max: { storage: '100Ti' } }], 'sentinel');
const known = { ...POST(CLAIMS, claim('200Ti', 'probe'), { ...dry, ...quiet, note: 'until the ranges are known' }), kind: 'poll', ms: 10000, until: (_, s) => s === 403 };
const within = (id, about, limits, steps) => scenario(`admission-limits-${id}`, { section: '7', about }, [...(Array.isArray(limits[0]) ? limits.map((l, i) => range(l, `l${i}`)) : [range(limits)]), sentinel, known, ...steps]);
const demanding = (resources, name = 'p') => pod(name, { containers: [{ name: 'c', image: 'img', ...(resources ? { resources } : {}) }] });
/** Several complaints come in no fixed order: sorted. */
const sorted = (b) => ({ ...b, message: b.message.replace(/\[(.*)\]$/, (_, list) => `[${list.split(/, (?=minimum|maximum|\w+ max limit)/).sort().join(', ')}]`) });
const filled = { pick: (b) => (b.kind === 'Status' ? sorted(b) : { annotations: b.metadata.annotations ?? null, init: b.spec.initContainers?.map((c) => c.resources), containers: b.spec.containers.map((c) => c.resources) }) };
const tried = (resources, note) => POST(PODS, demanding(resources), { ...dry, ...filled, note });
const rows = (...list) => list.map(([note, resources]) => tried(resources, note));

const defaults = [
  within('defaults', 'default and defaultRequest', [{ type: 'Container', default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '1', memory: '512Mi' } }], rows(['nothing given', undefined], ['a request', { requests: { cpu: '500m' } }], ['a limit', { limits: { cpu: '3' } }], ['all given', { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } }])),
  within('defaults-limit-only', 'default alone', [{ type: 'Container', default: { cpu: '2' } }], rows(['nothing given', undefined], ['a request', { requests: { cpu: '500m' } }], ['a request above the default limit', { requests: { cpu: '5' } }])),
  within('defaults-request-only', 'defaultRequest alone', [{ type: 'Container', defaultRequest: { cpu: '1' } }], rows(['nothing given', undefined], ['a limit', { limits: { cpu: '2' } }], ['a limit below the default request', { limits: { cpu: '500m' } }])),
  within('defaults-from-max', 'max is the default limit', [{ type: 'Container', max: { cpu: '2' } }], rows(['nothing given', undefined])),
  within('defaults-from-min', 'min is the default request', [{ type: 'Container', min: { cpu: '100m' } }], rows(['nothing given', undefined])),
  within('defaults-several-containers', 'several containers, and init containers', [{ type: 'Container', default: { cpu: '2' }, defaultRequest: { memory: '1Mi' } }], [POST(PODS, pod('p', { initContainers: [{ name: 'i', image: 'img' }], containers: [{ name: 'b', image: 'img' }, { name: 'a', image: 'img', resources: { limits: { cpu: '1' } } }] }), filled)]),
  within('defaults-annotation', 'an annotation of the client is kept apart', [{ type: 'Container', default: { cpu: '2' } }], [POST(PODS, pod('p', {}, { annotations: { 'kubernetes.io/limit-ranger': 'mine', other: 'x' } }), filled)]),
  within('defaults-two-ranges', 'two ranges for different resources', [[{ type: 'Container', default: { cpu: '2' } }], [{ type: 'Container', default: { memory: '1Gi' } }]], [POST(PODS, pod(), only('spec.containers'))]),
  within('defaults-pod-type', 'a range of type Pod has no defaults', [{ type: 'Pod', max: { cpu: '2' } }], rows(['nothing given', undefined], ['a limit', { limits: { cpu: '1' } }])),
  within('defaults-workload', 'a workload is left alone', [{ type: 'Container', default: { cpu: '2' } }], [POST(DEPLOYMENTS, deployment(), only('spec.template.spec.containers'))]),
  within('defaults-owner', 'what was filled in belongs to nobody', [{ type: 'Container', default: { cpu: '2' } }], [POST(PODS, pod(), { pick: (b) => [b.spec?.containers[0].resources, b.metadata?.managedFields?.map((m) => m.fieldsV1['f:spec']['f:containers'])] })]),
  within('defaults-extended', 'extended resources', [{ type: 'Container', default: { 'example.com/gpu': '1' } }], rows(['nothing given', undefined])),
];
const containers = [
  within('min', 'a minimum for containers', [{ type: 'Container', min: { cpu: '200m' } }], rows(['request too small', { requests: { cpu: '100m' } }], ['limit too small', { limits: { cpu: '100m' } }], ['both too small', { requests: { cpu: '100m' }, limits: { cpu: '150m' } }], ['enough', { requests: { cpu: '200m' } }])),
  within('max', 'a maximum for containers', [{ type: 'Container', max: { cpu: '1', memory: '1Gi' } }], rows(['limit too large', { limits: { cpu: '2', memory: '1Gi' } }], ['request too large', { requests: { cpu: '2' } }], ['both resources', { limits: { cpu: '2', memory: '2Gi' } }], ['at most', { limits: { cpu: '1', memory: '1Gi' } }])),
  within('max-several', 'several containers that are too large', [{ type: 'Container', max: { cpu: '1' } }], [POST(PODS, pod('p', { initContainers: [{ name: 'i', image: 'img', resources: { limits: { cpu: '3' } } }], containers: ['a', 'b'].map((name) => ({ name, image: 'img', resources: { limits: { cpu: '2' } } })) }), filled)]),
  within('ratio', 'a ratio of limit to request', [{ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }], rows(['too large', { requests: { cpu: '1' }, limits: { cpu: '3' } }], ['just enough', { requests: { cpu: '1' }, limits: { cpu: '2' } }], ['no limit', { requests: { cpu: '1' } }], ['no request', { limits: { cpu: '1' } }], ['nothing', undefined])),
  within('ratio-fraction', 'a ratio with a fraction', [{ type: 'Container', maxLimitRequestRatio: { cpu: '1500m' } }], rows(['too large', { requests: { cpu: '100m' }, limits: { cpu: '200m' } }], ['fits', { requests: { cpu: '100m' }, limits: { cpu: '150m' } }])),
  within('ratio-memory', 'a ratio of memory', [{ type: 'Container', maxLimitRequestRatio: { memory: '2' } }], rows(['too large', { requests: { memory: '100Mi' }, limits: { memory: '300Mi' } }])),
  within('several-errors', 'several errors at once', [{ type: 'Container', min: { cpu: '200m' }, max: { memory: '1Gi' }, maxLimitRequestRatio: { cpu: '2' } }], rows(['all', { requests: { cpu: '100m', memory: '2Gi' }, limits: { cpu: '1', memory: '2Gi' } }])),
  within('ephemeral-storage', 'other resources', [{ type: 'Container', max: { 'ephemeral-storage': '1Gi' } }], rows(['too large', { limits: { 'ephemeral-storage': '2Gi' } }])),
  within('quantities', 'how quantities are printed', [{ type: 'Container', max: { memory: '1000M', cpu: '1.5' } }], rows(['too large', { limits: { memory: '1.5Gi', cpu: '2000m' } }])),
];
const two = (resources) => pod('p', { containers: ['a', 'b'].map((name) => ({ name, image: 'img', resources })) });
const pods = [
  within('pod-max', 'a maximum for pods: containers add up', [{ type: 'Pod', max: { cpu: '1' } }], [POST(PODS, two({ requests: { cpu: '600m' }, limits: { cpu: '600m' } })), POST(PODS, two({ limits: { cpu: '500m' } }), { ...dry, ...quiet })]),
  within('pod-min', 'a minimum for pods', [{ type: 'Pod', min: { cpu: '1' } }], [POST(PODS, two({ requests: { cpu: '400m' } })), POST(PODS, two(undefined)), POST(PODS, two({ requests: { cpu: '500m' } }), { ...dry, ...quiet })]),
  within('pod-ratio', 'a ratio for pods', [{ type: 'Pod', maxLimitRequestRatio: { cpu: '2' } }], [POST(PODS, two({ requests: { cpu: '100m' }, limits: { cpu: '300m' } })), POST(PODS, two({ requests: { cpu: '100m' }, limits: { cpu: '200m' } }), { ...dry, ...quiet })]),
  within('pod-init', 'the largest init container counts', [{ type: 'Pod', max: { cpu: '1' } }], [POST(PODS, pod('p', { initContainers: [{ name: 'i', image: 'img', resources: { limits: { cpu: '2' } } }], containers: [{ name: 'c', image: 'img', resources: { limits: { cpu: '1' } } }] }))]),
  within('pod-sidecar', 'init containers that go on running add up', [{ type: 'Pod', max: { cpu: '1' } }], [POST(PODS, pod('p', { initContainers: [{ name: 'i', image: 'img', restartPolicy: 'Always', resources: { limits: { cpu: '500m' } } }], containers: [{ name: 'c', image: 'img', resources: { limits: { cpu: '1' } } }] }))]),
  within('pod-and-container', 'errors of both types', [{ type: 'Container', max: { cpu: '1' } }, { type: 'Pod', max: { cpu: '1500m' } }], [POST(PODS, two({ limits: { cpu: '2' } }), filled)]),
  within('pod-level', 'resources of the whole pod', [{ type: 'Pod', max: { cpu: '1' } }], [POST(PODS, pod('p', { resources: { limits: { cpu: '2' } } }), filled)]),
];
const claims = [
  within('claim-min', 'a minimum for claims', [{ type: 'PersistentVolumeClaim', min: { storage: '2Gi' } }], [POST(CLAIMS, claim('1Gi')), POST(CLAIMS, claim('2Gi'), quiet)]),
  within('claim-max', 'a maximum for claims', [{ type: 'PersistentVolumeClaim', max: { storage: '2Gi' } }], [POST(CLAIMS, claim('3Gi')), POST(CLAIMS, claim('2Gi'), quiet)]),
];
const updates = [
  within('update', 'an update of a pod is not checked', [{ type: 'Container', max: { cpu: '1' } }], [PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, quiet), GET(`${PODS}/p`, filled)]),
  within('resize', 'a resize is checked', [{ type: 'Container', min: { cpu: '500m' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } }], [POST(PODS, demanding({ requests: { cpu: '1' }, limits: { cpu: '2' } }), quiet), PATCH(`${PODS}/p/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { limits: { cpu: '3' } } }] } }), PATCH(`${PODS}/p/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '100m' } } }] } }, filled), PATCH(`${PODS}/p/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1500m' } } }] } }, quiet)]),
  within('deleted', 'a deleted range no longer counts', [{ type: 'Container', max: { cpu: '1' } }], [tried({ limits: { cpu: '2' } }), { ...POST(`${RANGES}/l`, undefined, quiet), method: 'DELETE' }, { ...POST(PODS, demanding({ limits: { cpu: '2' } }), { ...dry, ...quiet }), kind: 'poll', ms: 8000, until: (_, s) => s === 201 }]),
  within('two-ranges', 'two ranges: both must hold', [[{ type: 'Container', max: { cpu: '1' } }], [{ type: 'Container', max: { cpu: '3' } }]], [POST(PODS, demanding({ limits: { cpu: '2' } }), dry), POST(PODS, demanding({ limits: { cpu: '1' } }), { ...dry, ...quiet })]),
];
updates[0].steps.unshift(POST(PODS, demanding({ limits: { cpu: '5' } }), quiet)); // before the range

const RESIZE = `${PODS}/p/resize`;
const resized = (resources, o = filled) => PATCH(RESIZE, 'strategic', { spec: { containers: [{ name: 'c', resources }] } }, o);
const side = (resources, name = 'i') => ({ name, image: 'img', restartPolicy: 'Always', resources });
const of = (cpu) => ({ requests: { cpu }, limits: { cpu } });
const whole = (resources, containers = [{ name: 'c', image: 'img' }], more = {}) => pod('p', { resources, containers, ...more });
const more = [
  within('ratio-pod-several', 'the ratio of a pod is that of its sums', [{ type: 'Pod', maxLimitRequestRatio: { cpu: '2', memory: '1' } }], [POST(PODS, pod('p', { containers: [{ name: 'a', image: 'img', resources: { requests: { cpu: '100m', memory: '1Mi' }, limits: { cpu: '100m', memory: '1Mi' } } }, { name: 'b', image: 'img', resources: { requests: { cpu: '100m', memory: '1Mi' }, limits: { cpu: '400m', memory: '3Mi' } } }] }), filled)]),
  within('ratio-zero', 'a ratio, and amounts of zero', [{ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }], rows(['request 0', { requests: { cpu: '0' }, limits: { cpu: '1' } }], ['limit 0', { requests: { cpu: '0' }, limits: { cpu: '0' } }], ['below one', { requests: { cpu: '1' }, limits: { cpu: '1' } }])),
  within('ratio-large', 'a ratio of large amounts', [{ type: 'Container', maxLimitRequestRatio: { memory: '1500m' } }], rows(['large', { requests: { memory: '8Pi' }, limits: { memory: '13Pi' } }], ['fine', { requests: { memory: '8Pi' }, limits: { memory: '12Pi' } }])),
  within('ratio-claim', 'of claims: a ratio is not looked at', [{ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, maxLimitRequestRatio: { storage: '1' } }], [POST(CLAIMS, claim('2Gi'), quiet)]),
  within('claim-other', 'of claims: another resource is missed', [{ type: 'PersistentVolumeClaim', min: { cpu: '1' }, max: { memory: '1Gi' } }], [POST(CLAIMS, claim('2Gi'), { pick: sorted })]),
  within('claim-limits', 'of claims: limits do not count', [{ type: 'PersistentVolumeClaim', max: { storage: '2Gi' } }], [POST(CLAIMS, claim('1Gi', 'v', { resources: { requests: { storage: '1Gi' }, limits: { storage: '5Gi' } } }), quiet), PATCH(`${CLAIMS}/v`, 'merge', { metadata: { labels: { a: 'b' } } }, quiet)]),
  within('sidecar-container', 'a sidecar is a container of its own', [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '100m' } }], [POST(PODS, pod('p', { initContainers: [side(of('2')), side(of('50m'), 'j')], containers: [{ name: 'c', image: 'img', resources: of('1') }] }), filled)]),
  within('sidecar-before-init', 'sidecars count beside later init containers', [{ type: 'Pod', max: { cpu: '1' } }], [POST(PODS, pod('p', { initContainers: [side(of('300m')), { name: 'j', image: 'img', resources: of('800m') }], containers: [{ name: 'c', image: 'img', resources: of('100m') }] }), filled), POST(PODS, pod('p', { initContainers: [{ name: 'j', image: 'img', resources: of('800m') }, side(of('300m'))], containers: [{ name: 'c', image: 'img', resources: of('100m') }] }), { ...filled, ...dry })]),
  within('defaults-sidecar', 'defaults of sidecars', [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '100m' } }], [POST(PODS, pod('p', { initContainers: [side(undefined)] }), filled)]),
  within('ephemeral-containers', 'ephemeral containers are not looked at', [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '500m' } }], [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'img' }] } }, { pick: (b) => (b.kind === 'Status' ? b : b.spec.ephemeralContainers.map((e) => e.resources)) })]),
  within('pod-level-container', 'resources of the whole pod and a limit for containers', [{ type: 'Container', default: { cpu: '2' }, max: { cpu: '2' } }], [POST(PODS, whole({ requests: { cpu: '1' }, limits: { cpu: '1' } }), filled)]),
  within('pod-level-min', 'resources of the whole pod and a minimum for pods', [{ type: 'Pod', min: { cpu: '1', memory: '1Gi' } }], [POST(PODS, whole({ requests: { cpu: '500m', memory: '2Gi' } }), filled), POST(PODS, whole({ requests: { cpu: '2' } }, [{ name: 'c', image: 'img', resources: { requests: { cpu: '1', memory: '1Gi' } } }]), { ...filled, ...dry })]),
  within('pod-level-ratio', 'resources of the whole pod and a ratio', [{ type: 'Pod', maxLimitRequestRatio: { cpu: '2' } }], [POST(PODS, whole({ requests: { cpu: '1' }, limits: { cpu: '3' } }), filled)]),
  within('resize-defaults', 'a resize gets defaults', [{ type: 'Container', default: { memory: '1Gi' }, defaultRequest: { memory: '512Mi' } }], [resized({ requests: { cpu: '2' } })]),
  within('resize-pod', 'a resize and a limit for pods', [{ type: 'Pod', max: { cpu: '2' }, min: { cpu: '200m' } }], [resized(of('3')), resized(of('100m')), resized(of('1500m'), quiet)]),
  within('resize-terminating', 'a pod that is being deleted may be resized', [{ type: 'Container', max: { cpu: '1' } }], [DELETE(`${PODS}/p`, undefined, quiet), resized(of('3'), quiet)]),
  within('hugepages', 'huge pages', [{ type: 'Container', max: { 'hugepages-2Mi': '4Mi' } }], rows(['too many', { requests: { 'hugepages-2Mi': '8Mi', cpu: '1' }, limits: { 'hugepages-2Mi': '8Mi', cpu: '1' } }], ['none', { requests: { cpu: '1' } }])),
  within('two-ranges-both', 'two ranges that both refuse: one of them is told', [[{ type: 'Container', max: { cpu: '1' } }], [{ type: 'Container', max: { cpu: '1' } }, { type: 'Pod', max: { cpu: '1' } }]], [POST(PODS, demanding({ limits: { cpu: '2' } }), { compare: 'status' })]),
];
for (const { id, steps } of more) if (/resize-(defaults|pod|terminating)$/.test(id)) steps.unshift(POST(PODS, pod('p', { ...(id.endsWith('terminating') ? { nodeName: 'n' } : {}), containers: [{ name: 'c', image: 'img', resources: of('1') }] }), quiet)); // before the range

export default [...more, ...defaults, ...containers, ...pods, ...claims, ...updates];
