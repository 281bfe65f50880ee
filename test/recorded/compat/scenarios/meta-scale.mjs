// The scale endpoint (§4.2).
import { scenario, GET, POST, PUT, PATCH, DELETE, APPLY, POLL } from '../steps.ts';
import * as f from './kit/meta.mjs';

const { at, on } = f;
const scale = (name, replicas, metadata = {}, rest = {}) => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name, namespace: '$ns', ...metadata }, spec: { replicas }, ...rest });
const kinds = [
  ['deployment', 'apps/v1/deployments', f.deployment], ['replicaset', 'apps/v1/replicasets', f.replicaSet], ['statefulset', 'apps/v1/statefulsets', f.statefulSet], ['rc', 'replicationcontrollers', f.rc],
];

const perKind = kinds.flatMap(([id, r, body]) => {
  const main = at(r, 'x'), sub = at(r, 'x', 'scale');
  const s = (name, about, steps) => scenario(`meta-scale-${id}-${name}`, { section: '4.2', about }, steps);
  const made = (m, spec) => POST(at(r), body('x', m, { replicas: 2, ...spec }), { id: 'o', compare: 'status' });
  return [
    s('get', 'GET: replicas, the selector as a string, the metadata of the object', [made({ labels: { l: 'm' }, annotations: { a: 'n' } }), PATCH(at(r, 'x', 'status'), 'merge', { status: { replicas: 7 } }, { compare: 'status' }), GET(sub)]),
    s('put', 'PUT with and without a resourceVersion', [made(), PUT(sub, scale('x', 5)), PUT(sub, scale('x', 6, { resourceVersion: '${o.metadata.resourceVersion}' })), GET(main, f.only('spec.replicas', 'metadata.generation'))]),
    s('put-rv', 'PUT with the current resourceVersion', [made(), PUT(sub, scale('x', 6, { resourceVersion: '${o.metadata.resourceVersion}' })), GET(main, f.only('spec.replicas', 'metadata.generation'))]),
    s('put-status', 'the status of a Scale is not written', [made(), PUT(sub, scale('x', 5, {}, { status: { replicas: 9, selector: 'z=z' } }))]),
    s('put-metadata', 'labels and annotations of a Scale are not written', [made(), PUT(sub, scale('x', 5, { labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['example.com/a'] })), GET(main, f.only('metadata.labels', 'metadata.annotations', 'metadata.finalizers', 'spec.replicas'))]),
    s('put-unchanged', 'a PUT of the same number keeps the resourceVersion', [made(), GET(sub, f.only('metadata.resourceVersion')), PUT(sub, scale('x', 2), f.only('metadata.resourceVersion'))]),
    s('negative', 'a negative number', [made(), PUT(sub, scale('x', -1)), PATCH(sub, 'merge', { spec: { replicas: -1 } })]),
    s('zero', 'zero, given or left out', [made(), PUT(sub, scale('x', 0)), PUT(sub, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'x', namespace: '$ns' } }), GET(main, f.only('spec.replicas'))]),
    s('patch', 'patches of a Scale', [made(), PATCH(sub, 'merge', { spec: { replicas: 3 } }), PATCH(sub, 'strategic', { spec: { replicas: 4 } }, f.only('spec')), PATCH(sub, 'json-patch', [{ op: 'test', path: '/spec/replicas', value: 4 }, { op: 'replace', path: '/spec/replicas', value: 5 }], f.only('spec'))]),
    s('apply', 'apply of a Scale', [made(), APPLY(sub, 'a-manager', { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'x' }, spec: { replicas: 3 } }), APPLY(sub, 'a-manager', { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'x' }, spec: { replicas: 3 } }, { force: true }), GET(main, { pick: (b) => b.metadata.managedFields.filter((m) => m.subresource) })]),
    s('wrong-kind', 'a body of another kind or name', [made(), PUT(sub, body('x')), PUT(sub, scale('y', 1)), PUT(sub, { ...scale('x', 1), apiVersion: 'extensions/v1beta1' }), PUT(sub, scale('x', 1, { namespace: 'other' }))]),
    s('missing', 'a missing object', [GET(sub), PUT(sub, scale('x', 1)), PATCH(sub, 'merge', {})]),
    s('uid', 'another uid in the Scale', [made(), PUT(sub, scale('x', 3, { uid: '11111111-2222-3333-4444-555555555555' })), PATCH(sub, 'merge', { metadata: { uid: '11111111-2222-3333-4444-555555555555' }, spec: { replicas: 3 } })]),
    s('dry-run', 'a dry run', [made(), PATCH(sub, 'merge', { spec: { replicas: 9 } }, { query: { dryRun: 'All' } }), GET(main, f.only('spec.replicas'))]),
    s('methods', 'methods that it does not have', [made(), POST(sub, scale('x', 1)), DELETE(sub)]),
  ];
});

const s = (name, about, steps, o = {}) => scenario(`meta-scale-${name}`, { section: '4.2', about, ...o }, steps);
const d = at('apps/v1/deployments', 'x'), ds = at('apps/v1/deployments', 'x', 'scale');
const scaled = (scaleSpec) => f.crd('widgets', { status: true, subresources: { scale: scaleSpec } });
const ready = (c) => [POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), c, { compare: 'status' }), POLL(f.widgets(), (_, st) => st === 200, { compare: 'status' })];
export default [
  ...perKind,
  s('selector-set', 'the selector string of a set-based selector: order and form', [
    POST(at('apps/v1/deployments'), f.deployment('x', {}, { selector: { matchLabels: { app: 'a', z: '1', b: '2' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['y', 'x'] }, { key: 'no', operator: 'DoesNotExist' }, { key: 'yes', operator: 'Exists' }, { key: 'not', operator: 'NotIn', values: ['q'] }] }, template: { metadata: { labels: { app: 'a', z: '1', b: '2', tier: 'x', yes: '1' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } }), { compare: 'status' }), GET(ds, f.only('status'))]),
  s('no-daemonset', 'kinds without a scale endpoint', [POST(at('apps/v1/daemonsets'), f.daemonSet('x'), { compare: 'status' }), GET(at('apps/v1/daemonsets', 'x', 'scale')), GET(at('batch/v1/jobs', 'x', 'scale'))]),
  s('apply-conflict', 'an apply of replicas to the object conflicts with the scale writer', [
    POST(at('apps/v1/deployments'), f.deployment('x', {}, { replicas: 1 }), { query: { fieldManager: 'a-creator' }, compare: 'status' }), PATCH(ds, 'merge', { spec: { replicas: 4 } }, { query: { fieldManager: 'b-scaler' }, compare: 'status' }), APPLY(d, 'c-applier', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec: { replicas: 2 } })]),
  s('terminating', 'a marked object can be scaled', [POST(at('apps/v1/deployments'), f.deployment('x', { finalizers: ['example.com/a'] }), { compare: 'status' }), DELETE(d, undefined, { compare: 'status' }), PATCH(ds, 'merge', { spec: { replicas: 4 } })]),
  s('strict', 'unknown fields of a Scale', [POST(at('apps/v1/deployments'), f.deployment('x'), { compare: 'status' }), PUT(ds, scale('x', 2, {}, { colour: 'red' }), { compareHeaders: ['warning'] }), PUT(ds, scale('x', 2, {}, { colour: 'red' }), { query: { fieldValidation: 'Strict' } })]),
  s('forbidden', 'the scale endpoint is a resource of its own for authorization', [POST(at('apps/v1/deployments'), f.deployment('x'), { compare: 'status' }), GET(ds, { as: 'alice' }), PATCH(ds, 'merge', { spec: { replicas: 2 } }, { as: 'alice' })]),
  s('custom-resource', 'the scale endpoint of a custom resource', [
    ...ready(scaled({ specReplicasPath: '.spec.size', statusReplicasPath: '.status.size', labelSelectorPath: '.status.selector' })), POST(f.widgets(), f.widget(), { compare: 'status' }), GET(f.widgets('w', 'scale')), PATCH(f.widgets('w', 'status'), 'merge', { status: { size: 3, selector: 'a=b' } }, { compare: 'status' }),
    GET(f.widgets('w', 'scale')), PATCH(f.widgets('w', 'scale'), 'merge', { spec: { replicas: 5 } }), PUT(f.widgets('w', 'scale'), { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w', namespace: '$ns' }, spec: { replicas: 6 } }), PATCH(f.widgets('w', 'scale'), 'merge', { spec: { replicas: -1 } }), GET(f.widgets('w'), f.only('spec', 'metadata.generation'))], { cleanup: [f.crdPath()] }),
  s('custom-resource-absent', 'the scale of a custom resource without the field of the replicas', [
    ...ready(scaled({ specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' })), POST(f.widgets(), f.widget('w', {}, {}), { compare: 'status' }), GET(f.widgets('w', 'scale')), PATCH(f.widgets('w', 'scale'), 'merge', { spec: { replicas: 2 } }), POST(f.widgets(), f.widget('v', {}, {}), { compare: 'status' }), PUT(f.widgets('v', 'scale'), { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'v', namespace: '$ns' }, spec: { replicas: 6 } }), GET(f.widgets('none', 'scale'))], { cleanup: [f.crdPath()] }),
  s('custom-resource-none', 'a custom resource without a scale endpoint', [...ready(f.crd()), POST(f.widgets(), f.widget(), { compare: 'status' }), GET(f.widgets('w', 'scale'))], { cleanup: [f.crdPath()] }),
];
