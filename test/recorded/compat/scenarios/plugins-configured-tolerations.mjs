// PodTolerationRestriction: tolerations by default and those that are allowed, of a namespace (annotations) or of the cluster.
import { scenario, POST, PUT, PATCH } from '../steps.ts';
import { PODS, pod, quiet, dry } from './kit/admission.mjs';

const NAMESPACES = '/api/v1/namespaces';
const names = { defaults: 'scheduler.alpha.kubernetes.io/defaultTolerations', whitelist: 'scheduler.alpha.kubernetes.io/tolerationsWhitelist' };
const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const namespaceOf = (name, given) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations: Object.fromEntries(Object.entries(given).map(([k, v]) => [names[k], text(v)])) } });
const told = { pick: (b) => (b.kind === 'Status' ? b : (b.spec.tolerations ?? null)) };
const bare = { containers: [{ name: 'c', image: 'img' }] };
const burstable = { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '1m' } } }] };
const tolerating = (name, tolerations, spec = bare) => pod(name, { ...spec, ...(tolerations ? { tolerations } : {}) });
const within = (needs, id, about, given, steps) => scenario(`plugins-configured-tolerations-${id}`, { section: '1', about, needs, namespace: false, cleanup: [`${NAMESPACES}/$ns`] }, [POST(NAMESPACES, namespaceOf('$ns', given), quiet), ...steps]);
const plain = (...given) => within('pod-toleration-restriction', ...given);
const configured = (...given) => within('pod-toleration-restriction-configured', ...given);
const exists = (key, more = {}) => ({ key, operator: 'Exists', ...more });
const equal = (key, value, more = {}) => ({ key, operator: 'Equal', value, ...more });
const usual = [exists('node.kubernetes.io/not-ready'), exists('node.kubernetes.io/unreachable'), exists('node.kubernetes.io/memory-pressure')];

export default [
  plain('none', 'without a configuration and annotations', {}, [POST(PODS, tolerating('a'), told), POST(PODS, tolerating('b', [exists('x')]), told)]),
  plain('memory-pressure', 'a pod that is not best-effort tolerates memory pressure', {}, [POST(PODS, tolerating('a', undefined, burstable), told), POST(PODS, tolerating('b', [{ operator: 'Exists' }], burstable), told)]),
  plain('defaults', 'tolerations of the namespace', { defaults: [equal('a', 'b', { effect: 'NoSchedule' })] }, [POST(PODS, tolerating('a'), told), POST(PODS, tolerating('b', [exists('a')]), told), POST(PODS, tolerating('c', [equal('a', 'c')]), told)]),
  plain('defaults-empty', 'none', { defaults: '' }, [POST(PODS, tolerating('a'), told)]),
  plain('defaults-invalid-json', 'an annotation that is not JSON', { defaults: 'a' }, [POST(PODS, tolerating('a'), told)]),
  plain('defaults-wrong-type', 'an annotation of another type', { defaults: { key: 'a' } }, [POST(PODS, tolerating('a'), told)]),
  plain('defaults-invalid', 'tolerations that are not valid', { defaults: [{ key: 'a', operator: 'No' }] }, [POST(PODS, tolerating('a'), told)]),
  plain('defaults-number', 'a value of a wrong type', { defaults: [{ key: 5 }] }, [POST(PODS, tolerating('a'), told)]),
  plain('whitelist', 'what the namespace allows', { whitelist: [...usual, exists('a')] }, [POST(PODS, tolerating('a'), told), POST(PODS, tolerating('b', [equal('a', 'x')]), told), POST(PODS, tolerating('c', [exists('b')]), told), POST(PODS, tolerating('d', [exists('b')]), { ...told, ...dry })]),
  plain('whitelist-empty', 'an empty list allows everything', { whitelist: '[]' }, [POST(PODS, tolerating('a', [exists('b')]), told)]),
  plain('whitelist-blank', 'so does an empty annotation', { whitelist: '' }, [POST(PODS, tolerating('a', [exists('b')]), told)]),
  plain('whitelist-invalid-json', 'one that is not JSON', { whitelist: '[' }, [POST(PODS, tolerating('a', [exists('b')]), told)]),
  plain('whitelist-usual', 'the tolerations of other plugins count as well', { whitelist: [exists('a')] }, [POST(PODS, tolerating('a'), told)]),
  plain('whitelist-equal', 'a value', { whitelist: [...usual, equal('a', 'b'), { key: 'c', value: 'd' }] }, [POST(PODS, tolerating('a', [equal('a', 'b')]), told), POST(PODS, tolerating('b', [equal('a', 'c')]), told), POST(PODS, tolerating('c', [equal('c', 'd')]), told), POST(PODS, tolerating('d', [exists('a')]), told), POST(PODS, tolerating('e', [{ key: 'a', value: 'b' }]), told)]),
  plain('both', 'defaults that are not allowed', { defaults: [exists('x')], whitelist: usual }, [POST(PODS, tolerating('a'), told)]),
  plain('update', 'an update is checked, too', { defaults: [exists('d')] }, [POST(PODS, tolerating('a'), told), PUT(`${NAMESPACES}/$ns`, namespaceOf('$ns', { whitelist: usual }), quiet), PATCH(`${PODS}/a`, 'merge', { metadata: { labels: { a: 'b' } } }, told)]),
  plain('update-adds', 'and gets no defaults', {}, [POST(PODS, tolerating('a', undefined, burstable), told), PUT(`${NAMESPACES}/$ns`, namespaceOf('$ns', { defaults: [exists('d')] }), quiet), PATCH(`${PODS}/a`, 'json-patch', [{ op: 'add', path: '/spec/tolerations/-', value: exists('e') }], told)]),
  plain('status', 'a subresource is not', {}, [POST(PODS, tolerating('a'), quiet), PUT(`${NAMESPACES}/$ns`, namespaceOf('$ns', { whitelist: [exists('z')] }), quiet), PATCH(`${PODS}/a/status`, 'merge', { status: { message: 'm' } }, told)]),
  configured('cluster', 'the defaults of the cluster', {}, [POST(PODS, tolerating('a'), told), POST(PODS, tolerating('b', undefined, burstable), told)]),
  configured('cluster-whitelist', 'what the cluster allows', {}, [POST(PODS, tolerating('a', [exists('allowed')]), told), POST(PODS, tolerating('b', [exists('x')]), told), POST(PODS, tolerating('c', [exists('x', { effect: 'PreferNoSchedule' })]), told)]),
  configured('cluster-seconds', 'no longer than it allows', {}, [POST(PODS, tolerating('a', [exists('timed', { effect: 'NoExecute', tolerationSeconds: 60 })]), told), POST(PODS, tolerating('b', [exists('timed', { effect: 'NoExecute', tolerationSeconds: 61 })]), told), POST(PODS, tolerating('c', [exists('timed', { effect: 'NoExecute' })]), told), POST(PODS, tolerating('d', [exists('timed')]), told)]),
  configured('cluster-and-annotation', 'annotations of the namespace count rather than the cluster', { defaults: [exists('n')], whitelist: [...usual, exists('n')] }, [POST(PODS, tolerating('a'), told), POST(PODS, tolerating('b', [exists('allowed')]), told)]),
  configured('cluster-and-empty-annotation', 'an empty one, too', { defaults: '', whitelist: '' }, [POST(PODS, tolerating('a', [exists('x')]), told)]),
];
