// PodNodeSelector: the node selector of a namespace, by its annotation or by default, and the labels that a configuration allows.
import { scenario, POST, PUT, PATCH } from '../steps.ts';
import { PODS, DEPLOYMENTS, pod, deployment, quiet, dry } from './kit/admission.mjs';

const NAMESPACES = '/api/v1/namespaces';
const key = 'scheduler.alpha.kubernetes.io/node-selector';
const namespaceOf = (name, annotation) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...(annotation === undefined ? {} : { annotations: { [key]: annotation } }) } });
const told = { pick: (b) => (b.kind === 'Status' ? b : (b.spec.nodeSelector ?? null)) };
const selecting = (name, nodeSelector, more = {}) => pod(name, { ...(nodeSelector ? { nodeSelector } : {}), ...more });
const annotated = (needs, id, about, annotation, steps) => scenario(`plugins-configured-node-selector-${id}`, { section: '1', about, needs, namespace: false, cleanup: [`${NAMESPACES}/$ns`] }, [POST(NAMESPACES, namespaceOf('$ns', annotation), quiet), ...steps]);
const plain = (...given) => annotated('pod-node-selector', ...given);
const configured = (...given) => annotated('pod-node-selector-configured', ...given);
const listed = (id, about, name, annotation, steps) => scenario(`plugins-configured-node-selector-${id}`, { section: '1', about, needs: 'pod-node-selector-configured', namespace: false, cleanup: [`${NAMESPACES}/${name}`] }, [POST(NAMESPACES, namespaceOf(name, annotation), quiet), ...steps(`/api/v1/namespaces/${name}/pods`)]);

export default [
  plain('none', 'without a configuration and an annotation', undefined, [POST(PODS, selecting('a'), told), POST(PODS, selecting('b', { x: 'y' }), told)]),
  plain('annotation', 'the annotation is merged', 'zone=a, disk=ssd', [POST(PODS, selecting('a'), told), POST(PODS, selecting('b', { x: 'y' }), told), POST(PODS, selecting('c', { zone: 'a' }), told)]),
  plain('conflict', 'a pod that selects otherwise', 'zone=a', [POST(PODS, selecting('a', { zone: 'b' }), told), POST(PODS, selecting('b', { zone: 'b' }), { ...told, ...dry })]),
  plain('annotation-empty', 'an empty annotation', '', [POST(PODS, selecting('a'), told)]),
  plain('annotation-not-a-pair', 'an annotation that is not a selector', 'zone', [POST(PODS, selecting('a'), told)]),
  plain('annotation-two-signs', 'with two signs', 'a=b=c', [POST(PODS, selecting('a'), told)]),
  plain('annotation-set', 'a set', 'zone in (a,b)', [POST(PODS, selecting('a'), told)]),
  plain('annotation-not-equal', 'another operator', 'zone!=a', [POST(PODS, selecting('a'), told)]),
  plain('annotation-double-equal', 'two equal signs', 'zone==a', [POST(PODS, selecting('a'), told)]),
  plain('annotation-bad-key', 'a key that is no label', 'a b=c', [POST(PODS, selecting('a'), told)]),
  plain('annotation-bad-value', 'a value that is no label', 'a=b c', [POST(PODS, selecting('a'), told)]),
  plain('annotation-blank-value', 'a value that is blank', 'a=', [POST(PODS, selecting('a'), told)]),
  plain('annotation-comma', 'a comma at the end', 'a=b,', [POST(PODS, selecting('a'), told)]),
  plain('annotation-key-twice', 'a key twice', 'a=b,a=c', [POST(PODS, selecting('a'), told)]),
  plain('update', 'updates of pods are not touched', 'zone=a', [POST(PODS, selecting('a'), told), PUT(`${NAMESPACES}/$ns`, namespaceOf('$ns', 'zone=b'), quiet), PATCH(`${PODS}/a`, 'merge', { metadata: { labels: { a: 'b' } } }, told)]),
  plain('deployment', 'templates neither', 'zone=a', [POST(DEPLOYMENTS, deployment(), { pick: (b) => b.spec.template.spec.nodeSelector ?? null })]),
  configured('default', 'the default of the cluster', undefined, [POST(PODS, selecting('a'), told), POST(PODS, selecting('b', { x: 'y' }), told), POST(PODS, selecting('c', { zone: 'b' }), told)]),
  configured('default-and-annotation', 'the annotation counts rather than the default', 'disk=ssd', [POST(PODS, selecting('a'), told), POST(PODS, selecting('c', { zone: 'b' }), told)]),
  configured('default-and-empty-annotation', 'also if it is empty', '', [POST(PODS, selecting('a'), told)]),
  listed('whitelist', 'labels that the namespace may use', 'listed-nodes', undefined, (path) => [POST(path, selecting('a'), told), POST(path, selecting('b', { disk: 'ssd' }), told), POST(path, selecting('c', { disk: 'hdd' }), told), POST(path, selecting('d', { x: 'y' }), told)]),
  listed('whitelist-annotation', 'an annotation beyond the whitelist', 'listed-annotated', 'zone=b', (path) => [POST(path, selecting('a'), told), POST(path, selecting('b', { zone: 'a' }), told)]),
  listed('whitelist-invalid', 'a whitelist that is not a selector', 'listed-invalid', undefined, (path) => [POST(path, selecting('a'), told)]),
];
