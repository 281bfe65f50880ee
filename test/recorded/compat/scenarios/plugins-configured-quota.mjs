// ResourceQuota with limited resources: what can be used only where a quota covers it. There is no controller: the scenarios write the status themselves.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';
import { CM, PODS, DEPLOYMENTS, cm, pod, deployment, quiet, dry } from './kit/admission.mjs';

const QUOTAS = '/api/v1/namespaces/$ns/resourcequotas';
const TEMPLATES = '/api/v1/namespaces/$ns/podtemplates';
const CLAIMS = '/api/v1/namespaces/$ns/persistentvolumeclaims';
const quotaOf = (name, hard, spec = {}) => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard, ...spec } });
const known = { ...POST(TEMPLATES, { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'probe' }, template: { spec: { containers: [{ name: 'c', image: 'img' }] } } }, { ...dry, ...quiet, note: 'until the quotas are known' }), kind: 'poll', ms: 10000, until: (_, s) => s === 403 };
const quota = (name, hard, spec = {}, status = true) => [
  POST(QUOTAS, quotaOf(name, hard, spec), quiet),
  ...(status ? [PUT(`${QUOTAS}/${name}/status`, { ...quotaOf(name, hard, spec), status: { hard, used: Object.fromEntries(Object.keys(hard).map((k) => [k, '0'])) } }, quiet)] : []),
];
const sentinel = quota('sentinel', { 'count/podtemplates': '0' });
const within = (id, about, quotas, steps) => scenario(`plugins-configured-quota-${id}`, { section: '7', about, needs: 'quota-limited' }, [...quotas, ...(quotas.length > 0 ? [...sentinel, known] : []), ...steps]);
const told = { pick: (b) => (b.kind === 'Status' ? b : 'accepted') };
const demanding = (name, requests, spec = {}) => pod(name, { containers: [{ name: 'c', image: 'img', resources: { requests } }], ...spec });
const gpu = (name) => pod(name, { containers: [{ name: 'c', image: 'img', resources: { limits: { 'example.com/gpu': '1' } } }] });
const classOf = (name) => POST('/apis/scheduling.k8s.io/v1/priorityclasses', { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value: 5 }, quiet);
const claim = (name, storageClassName) => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } } });
const used = (name) => GET(`${QUOTAS}/${name}`, { pick: (b) => b.status?.used ?? null, note: 'what is used' });
const selects = (operator, values) => ({ scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values ? { values } : {}) }] } });
/** Priority classes come from an informer: wait until one is known. */
const untilClass = (name) => ({ ...POST(PODS, pod('probe', { priorityClassName: name }), { ...dry, ...quiet }), kind: 'poll', ms: 10000, until: (b, s) => s !== 403 || !b.message.includes('no PriorityClass') });

export default [
  within('none', 'no quota at all', [], [POST(PODS, demanding('a', { cpu: '1' }), told), POST(PODS, pod('b'), told), POST(CM, cm(), told), POST(DEPLOYMENTS, deployment(), told)]),
  within('several', 'several resources are named, sorted', [], [POST(PODS, pod('a', { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '1' }, limits: { 'example.com/gpu': '1', 'example.com/a': '1' } } }] }), told)]),
  within('contains', 'a part of a name', [], [POST(PODS, gpu('a'), told), POST(PODS, demanding('b', { memory: '1Gi' }), told)]),
  within('zero', 'nothing is used', [], [POST(PODS, demanding('a', { cpu: '0' }), told)]),
  within('covered', 'a quota covers it', quota('q', { 'requests.cpu': '2' }), [POST(PODS, demanding('a', { cpu: '1' }), told), used('q'), POST(PODS, demanding('b', { cpu: '2' }), told)]),
  within('other', 'a quota for something else does not', quota('q', { pods: '5', 'requests.memory': '5Gi' }), [POST(PODS, demanding('a', { cpu: '1', memory: '1Gi' }), told), used('q')]),
  within('old-name', 'cpu covers cpu, not requests.cpu', quota('q', { cpu: '5' }), [POST(PODS, demanding('a', { cpu: '1' }), told)]),
  within('two-quotas', 'two quotas cover it together', [...quota('q', { 'requests.cpu': '2' }), ...quota('r', { 'requests.example.com/gpu': '2' })], [POST(PODS, pod('a', { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '1' }, limits: { 'example.com/gpu': '1' } } }] }), told), used('q'), used('r')]),
  within('out-of-scope', 'a quota with a scope that the pod is not in does not cover it', quota('q', { 'requests.cpu': '5' }, { scopes: ['Terminating'] }), [POST(PODS, demanding('a', { cpu: '1' }), told), POST(PODS, demanding('b', { cpu: '1' }, { activeDeadlineSeconds: 5 }), told)]),
  within('no-status', 'a quota without a status covers nothing', quota('q', { 'requests.cpu': '5' }, {}, false), [POST(PODS, demanding('a', { cpu: '1' }), told)]),
  within('dry-run', 'a dry run is refused, too', [], [POST(PODS, demanding('a', { cpu: '1' }), { ...told, ...dry }), POST(CM, cm(), { ...told, ...dry })]),
  within('claims', 'storage of a class', [], [POST(CLAIMS, claim('a', 'gold'), told), POST(CLAIMS, claim('b', ''), told)]),
  within('claims-covered', 'storage of a class with a quota', quota('q', { 'gold.storageclass.storage.k8s.io/requests.storage': '5Gi' }), [POST(CLAIMS, claim('a', 'gold'), told), POST(CLAIMS, claim('b', 'silver'), told), used('q')]),
  within('group', 'of another group', quota('q', { 'count/deployments.apps': '5' }), [POST(DEPLOYMENTS, deployment(), told), POST('/apis/apps/v1/namespaces/$ns/replicasets', { ...deployment('r'), kind: 'ReplicaSet' }, told)]),
  within('update', 'an update that uses no more', [], [POST(PODS, pod('a'), quiet), PATCH(`${PODS}/a`, 'merge', { metadata: { labels: { a: 'b' } } }, told)]),
  within('scope', 'a scope that no quota has', [], [classOf('limited'), untilClass('limited'), POST(PODS, pod('a', { priorityClassName: 'limited' }), told), POST(PODS, pod('b'), told)]),
  within('scope-covered', 'and one that a quota has', quota('q', { pods: '5' }, selects('In', ['other'])), [classOf('other'), untilClass('other'), POST(PODS, pod('a', { priorityClassName: 'other' }), told), used('q')]),
  within('scope-exists', 'by any operator', quota('q', { pods: '5' }, selects('Exists')), [classOf('third'), untilClass('third'), POST(PODS, pod('a', { priorityClassName: 'third' }), told)]),
];
