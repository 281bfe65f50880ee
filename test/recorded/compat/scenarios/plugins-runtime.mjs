// RuntimeClass: corners of what it copies into a pod.
import { scenario, POST } from '../steps.ts';
import { PODS, pod, quiet, only } from './kit/admission.mjs';

const CLASSES = '/apis/node.k8s.io/v1/runtimeclasses';
const shown = only('spec.overhead', 'spec.nodeSelector', 'spec.tolerations');
const within = (id, about, more, spec) => scenario(`plugins-runtime-${id}`, { section: '7', about: `RuntimeClass: ${about}`, cleanup: [`${CLASSES}/$ns-r`] }, [POST(CLASSES, { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: '$ns-r' }, handler: 'h', ...more }, quiet), POST(PODS, pod('p', { runtimeClassName: '$ns-r', ...spec }), shown)]);
const tolerates = (key, more = {}) => ({ key, operator: 'Exists', effect: 'NoSchedule', ...more });
const redundant = { tolerations: [tolerates('k'), { operator: 'Exists' }, tolerates('k')] };
const cpu = { overhead: { podFixed: { cpu: '100m' } } };

export default [
  within('overhead-empty', 'an empty overhead is filled in', cpu, { overhead: {} }),
  within('overhead-empty-alone', 'an empty overhead of a class without', {}, { overhead: {} }),
  within('overhead-class-empty', 'a class with an empty overhead', { overhead: {} }, {}),
  within('overhead-class-empty-given', 'a class with an empty overhead, and a pod with one', { overhead: {} }, { overhead: { cpu: '1' } }),
  within('redundant', 'redundant tolerations of the pod stay without scheduling', {}, redundant),
  within('redundant-selector', 'redundant tolerations of the pod go with any scheduling', { scheduling: { nodeSelector: { a: 'b' } } }, redundant),
  within('redundant-empty', 'even an empty one', { scheduling: {} }, redundant),
  within('redundant-tolerations', 'and with tolerations', { scheduling: { tolerations: [tolerates('z')] } }, { tolerations: [tolerates('k'), tolerates('k', { effect: '' })] }),
  within('selector-empty', 'an empty node selector of the pod', { scheduling: { nodeSelector: { a: 'b' } } }, { nodeSelector: {} }),
  within('selector-class-empty', 'a node selector of the pod alone', { scheduling: { nodeSelector: {} } }, { nodeSelector: { c: 'd' } }),
  within('name-empty', 'an empty name', {}, { runtimeClassName: '' }),
];
