// The status and scale subresources of custom resources.
import { GET, POST, PUT, PATCH, APPLY, DELETE } from '../steps.ts';
import { crd, crdPath, at, widget, object, string, integer, anything, list, withCrd, content, settled, rules } from './kit/crd.mjs';

const section = '4.7';
const spec = object({ replicas: integer(), a: string(), sel: string() });
const status = object({ replicas: integer(), a: string(), sel: string(), n: integer({ minimum: 0 }) });
const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.sel' };
const withStatus = crd({ spec, status, subresources: { status: {} } });
const withScale = crd({ spec, status, subresources: { status: {}, scale } });
const on = (id, about, definition, steps) => withCrd(`crd-subresource-${id}`, { section, about }, definition, steps);
const made = (body = { spec: { replicas: 2, a: 'x' } }, o = {}) => POST(at(), widget('w', body), { id: 'w', compare: 'status', ...o });
const setStatus = (s) => PATCH(at('w/status'), 'merge', { status: s }, { compare: 'status' });
const parts = (b) => (b?.kind === 'Status' ? b : { generation: b?.metadata?.generation, labels: b?.metadata?.labels, spec: b?.spec, status: b?.status });
const rv = { metadata: { name: 'w', resourceVersion: '${w.metadata.resourceVersion}' } };

const statuses = [
  on('status-create', 'status in a create is dropped', withStatus, [POST(at(), widget('w', { spec: { a: 'x' }, status: { a: 'y' } }))]),
  on('status-create-without', 'without the subresource, status is a field like others', crd({ spec, status }), [made({ spec: { a: 'x' }, status: { a: 'y' } }, { compare: undefined, pick: parts }), PATCH(at('w'), 'merge', { status: { a: 'z' } }, { pick: parts })]),
  on('status-put', 'a PUT of the status changes only the status', withStatus, [made(), PUT(at('w/status'), { ...widget('w', { spec: { a: 'changed' }, status: { a: 'y' } }), ...rv })]),
  on('status-put-metadata', 'metadata in a PUT of the status', withStatus, [made(), PUT(at('w/status'), { ...widget('w', { status: { a: 'y' } }), metadata: { ...rv.metadata, labels: { l: '1' }, annotations: { a: '1' }, finalizers: ['example.com/f'] } }, { pick: (b) => b.metadata && { labels: b.metadata.labels ?? null, annotations: b.metadata.annotations ?? null, finalizers: b.metadata.finalizers ?? null, status: b.status } }), GET(at('w'), { pick: parts })]),
  on('status-main-ignores', 'a PUT of the resource keeps the status', withStatus, [made(), setStatus({ a: 'y' }), PATCH(at('w'), 'merge', { spec: { a: 'new' }, status: { a: 'nope' } }, { pick: parts }), PATCH(at('w'), 'merge', { status: null }, { pick: parts })]),
  on('status-generation', 'the generation follows the spec, not the status', withStatus, [made(), PATCH(at('w/status'), 'merge', { status: { a: 'y' } }, { pick: parts }), PATCH(at('w'), 'merge', { spec: { a: 'z' } }, { pick: parts }), PATCH(at('w'), 'merge', { metadata: { labels: { l: '1' } } }, { pick: parts })]),
  on('status-generation-without', 'without the subresource a change of status raises the generation', crd({ spec, status }), [made(), PATCH(at('w'), 'merge', { status: { a: 'y' } }, { pick: parts })]),
  on('status-get', 'reading the status gives the whole resource', withStatus, [made(), setStatus({ a: 'y' }), GET(at('w/status'), { pick: content })]),
  on('status-json-patch', 'a JSON patch of the status', withStatus, [made(), PATCH(at('w/status'), 'json-patch', [{ op: 'add', path: '/status', value: { a: 'y' } }, { op: 'replace', path: '/spec/a', value: 'ignored' }], { pick: parts })]),
  on('status-remove', 'removing the status', withStatus, [made(), setStatus({ a: 'y' }), PATCH(at('w/status'), 'merge', { status: null }, { pick: parts })]),
  on('status-invalid', 'an invalid status', withStatus, [made(), PATCH(at('w/status'), 'merge', { status: { n: -1 } }), PATCH(at('w/status'), 'merge', { status: 'text' }), PATCH(at('w/status'), 'merge', { status: { n: 'x' } })]),
  on('status-pruned', 'unknown fields of the status', withStatus, [made(), PATCH(at('w/status'), 'merge', { status: { a: 'y', zz: 1 }, spec: { zz: 1 }, other: 1 }, { compareHeaders: ['warning'], pick: parts }), PATCH(at('w/status'), 'merge', { status: { zz: 1 } }, { query: { fieldValidation: 'Strict' } })]),
  on('status-invalid-spec-tolerated', 'a stored spec that became invalid does not hinder writes of the status', withStatus, [
    made(), PATCH(crdPath(), 'json-patch', [{ op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/minLength', value: 5 }], { compare: 'status' }), ...settled(), PATCH(at('w/status'), 'merge', { status: { a: 'y' } }, { pick: parts }),
  ]),
  on('status-spec-rules', 'rules at the root also run for writes of the status', crd({ spec, status, subresources: { status: {} }, root: rules('!has(self.status) || !has(self.status.replicas) || self.status.replicas <= self.spec.replicas') }), [made(), PATCH(at('w/status'), 'merge', { status: { replicas: 9 } }), PATCH(at('w/status'), 'merge', { status: { replicas: 1 } }, { pick: parts })]),
  on('status-post-delete', 'verbs that the status does not have', withStatus, [made(), POST(at('w/status'), widget('w')), DELETE(at('w/status'))]),
  on('status-missing', 'the status of what does not exist', withStatus, [GET(at('none/status')), PATCH(at('none/status'), 'merge', { status: {} }), PUT(at('none/status'), widget('none', {}, { metadata: { resourceVersion: '1' } }))]),
  on('status-conflict', 'a PUT of the status with an old resource version, or none', withStatus, [made(), setStatus({ a: 'q' }), PUT(at('w/status'), { ...widget('w', { status: { a: 'y' } }), ...rv }), PUT(at('w/status'), widget('w', { status: { a: 'y' } }))]),
  on('status-managed-fields', 'the manager of the status is recorded with the subresource', withStatus, [made(), PATCH(at('w/status'), 'merge', { status: { a: 'y' } }, { query: { fieldManager: 'statusman' }, pick: (b) => [...b.metadata.managedFields].sort((x, y) => (x.manager < y.manager ? -1 : 1)) })]),
  on('status-apply', 'apply of the status', withStatus, [made(), APPLY(at('w/status'), 'me', widget('w', { status: { a: 'y' } }), { pick: parts }), APPLY(at('w/status'), 'me', widget('w', { spec: { a: 'q' }, status: { a: 'y' } }), { pick: (b) => ({ ...parts(b), managers: b.metadata?.managedFields?.map((m) => [m.manager, m.subresource ?? null, m.fieldsV1]).sort() }) })]),
  on('status-apply-main', 'apply of the resource does not own the status', withStatus, [APPLY(at('w'), 'me', widget('w', { spec: { a: 'x' }, status: { a: 'y' } }))]),
  on('status-conditions', 'a keyed list of conditions in the status', crd({ spec, status: object({ conditions: list(object({ type: string(), status: string() }, { required: ['type'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] }) }), subresources: { status: {} } }), [
    made(), APPLY(at('w/status'), 'one', widget('w', { status: { conditions: [{ type: 'A', status: 'True' }] } }), { pick: parts }), APPLY(at('w/status'), 'two', widget('w', { status: { conditions: [{ type: 'B', status: 'False' }] } }), { pick: parts }),
    PATCH(at('w/status'), 'merge', { status: { conditions: [{ type: 'A' }, { type: 'A' }] } }),
  ]),
  on('status-enabled-later', 'status becomes a subresource by an update of the definition', crd({ spec, status }), [
    made({ spec: { a: 'x' }, status: { a: 'y' } }), PATCH(crdPath(), 'json-patch', [{ op: 'add', path: '/spec/versions/0/subresources', value: { status: {} } }], { compare: 'status' }), ...settled(), PATCH(at('w'), 'merge', { status: { a: 'nope' } }, { pick: parts }), GET(at('w/status'), { pick: parts }),
  ]),
];

const scaleOf = (b) => b;
const scaled = (replicas, more = {}) => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w', ...more }, spec: { replicas } });
const scales = [
  on('scale-get', 'the scale of a resource', withScale, [made(), setStatus({ replicas: 1, sel: 'app=w' }), GET(at('w/scale'))]),
  on('scale-get-no-status', 'a scale without status', withScale, [made(), GET(at('w/scale'), { pick: (b) => [b.spec, b.status] })]),
  on('scale-get-no-replicas', 'a scale without replicas in the spec', withScale, [made({ spec: { a: 'x' } }), GET(at('w/scale'))]),
  on('scale-get-no-selector-path', 'a scale without labelSelectorPath', crd({ spec, status, subresources: { status: {}, scale: { specReplicasPath: scale.specReplicasPath, statusReplicasPath: scale.statusReplicasPath } } }), [made(), setStatus({ replicas: 1, sel: 'app=w' }), GET(at('w/scale'), { pick: (b) => b.status })]),
  on('scale-selector-in-spec', 'a label selector in the spec', crd({ spec, status, subresources: { status: {}, scale: { ...scale, labelSelectorPath: '.spec.sel' } } }), [made({ spec: { replicas: 1, sel: 'a in (b)' } }), GET(at('w/scale'), { pick: (b) => b.status })]),
  on('scale-put', 'setting the replicas by PUT', withScale, [made(), PUT(at('w/scale'), scaled(5)), GET(at('w'), { pick: parts })]),
  on('scale-put-conflict', 'a PUT of the scale with an old resource version or another uid', withScale, [made(), PUT(at('w/scale'), scaled(5, { resourceVersion: '1' })), PUT(at('w/scale'), scaled(5, { uid: '00000000-0000-4000-8000-000000000000' })), PUT(at('w/scale'), scaled(5, { resourceVersion: '${w.metadata.resourceVersion}' }), { pick: (b) => b.spec })]),
  on('scale-put-status-ignored', 'status in a PUT of the scale', withScale, [made(), PUT(at('w/scale'), { ...scaled(5), status: { replicas: 9, selector: 'x=y' } }, { pick: (b) => [b.spec, b.status] })]),
  on('scale-put-wrong-kind', 'a PUT of the scale with another kind or name', withScale, [made(), PUT(at('w/scale'), widget('w')), PUT(at('w/scale'), { ...scaled(1), metadata: { name: 'v' } }), PUT(at('w/scale'), { ...scaled(1), apiVersion: 'autoscaling/v2' })]),
  on('scale-put-negative', 'negative replicas', withScale, [made(), PUT(at('w/scale'), scaled(-1)), PATCH(at('w'), 'merge', { spec: { replicas: -1 } }), POST(at(), widget('v', { spec: { replicas: -1 } }))]),
  on('scale-put-too-many', 'replicas beyond 32 bits', withScale, [made(), POST(at(), widget('v', { spec: { replicas: 2147483648 } })), PUT(at('w/scale'), scaled(2147483648))]),
  on('scale-put-without-spec', 'a PUT of a scale without replicas sets zero', withScale, [made(), PUT(at('w/scale'), { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w' } }, { pick: (b) => b.spec }), GET(at('w'), { pick: parts })]),
  on('scale-patch', 'patches of the scale', withScale, [made(), PATCH(at('w/scale'), 'merge', { spec: { replicas: 7 } }, { pick: (b) => [b.kind, b.spec] }), PATCH(at('w/scale'), 'json-patch', [{ op: 'replace', path: '/spec/replicas', value: 8 }], { pick: (b) => b.spec }), PATCH(at('w/scale'), 'strategic', { spec: { replicas: 9 } }), PATCH(at('w/scale'), 'merge', { spec: { replicas: 'x' } }), GET(at('w'), { pick: parts })]),
  on('scale-apply', 'apply of the scale', withScale, [made(), APPLY(at('w/scale'), 'me', scaled(4)), APPLY(at('w/scale'), 'me', scaled(4), { force: true }), GET(at('w'), { pick: (b) => b.metadata.managedFields.map((m) => [m.manager, m.operation, m.subresource ?? null, m.apiVersion, m.fieldsV1]).sort() })]),
  on('scale-generation', 'a change of the scale raises the generation', withScale, [made(), PUT(at('w/scale'), scaled(2), { compare: 'status' }), GET(at('w'), { pick: parts }), PUT(at('w/scale'), scaled(3), { compare: 'status' }), GET(at('w'), { pick: parts })]),
  on('scale-schema', 'the schema of the resource holds for writes of the scale', crd({ spec: object({ replicas: integer({ maximum: 3 }) }), status, subresources: { scale } }), [made({ spec: { replicas: 1 } }), PUT(at('w/scale'), scaled(5))]),
  on('scale-wrong-types', 'replicas and selector of the wrong type', crd({ spec: anything(), status: anything(), subresources: { scale } }), [POST(at(), widget('v', { spec: { replicas: 'x' } })), POST(at(), widget('v', { spec: { replicas: 1 }, status: { replicas: 'x' } })), POST(at(), widget('v', { spec: { replicas: 1 }, status: { sel: 5 } })), POST(at(), widget('v', { spec: { replicas: 1.5 } })), POST(at(), widget('v', { spec: { replicas: 1 }, status: { replicas: -1 } })), POST(at(), widget('v', { spec: 'x' }))]),
  on('scale-nested-path', 'a path through objects that do not exist yet', crd({ spec: object({ deep: object({ er: object({ n: integer() }) }) }), status, subresources: { scale: { ...scale, specReplicasPath: '.spec.deep.er.n' } } }), [made({ spec: {} }), GET(at('w/scale')), PUT(at('w/scale'), scaled(3)), GET(at('w'), { pick: parts })]),
  on('scale-missing', 'the scale of what does not exist', withScale, [GET(at('none/scale')), PUT(at('none/scale'), { ...scaled(1), metadata: { name: 'none' } })]),
  on('scale-dry-run', 'a dry run of a scale', withScale, [made(), PUT(at('w/scale'), scaled(5), { query: { dryRun: 'All' }, pick: (b) => b.spec }), GET(at('w/scale'), { pick: (b) => b.spec })]),
];

export default [...statuses, ...scales];
