// Items that are there twice: where an object is written that no typed object can be made of, it loses its owners.
import { scenario, POST, PATCH, APPLY } from '../steps.ts';
import { WIDGETS, widgets, widget, withWidgets } from './kit/apply.mjs';

const schema = { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } }, status: { type: 'object', properties: { s: { type: 'string' } } } } };
const finalizers = ['example.com/b', 'example.com/b'];
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'n', uid: 'u1' };
const owners = [owner, owner];
const merge = (path, body) => PATCH(path, 'application/merge-patch+json', body, { query: { fieldManager: 'm' } });
const custom = (id, about, ...steps) => scenario(`apply-twice-${id}`, withWidgets('2.9', about), [...widgets(schema, { version: { subresources: { status: {} } } }), ...steps]);
const W = `${WIDGETS}/w`;
const map = (metadata) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'w', ...metadata } });
const V2 = W.replace('/v1/', '/v2/');
const both = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema: { openAPIV3Schema: schema }, subresources: { status: {} } }));
const versions = (id, about, ...steps) => scenario(`apply-twice-${id}`, withWidgets('2.9', about), [...widgets(schema, { versions: both }), APPLY(V2, 'm1', { ...widget('w', { spec: { a: 'x' } }), apiVersion: '$ns.example.com/v2' }), ...steps]);
const MAPS = '/api/v1/namespaces/$ns/configmaps';

export default [
  custom('finalizers-status', 'finalizers twice, through the status of a custom kind', APPLY(W, 'm1', widget('w', { spec: { a: 'x' } })), merge(`${W}/status`, { metadata: { finalizers }, status: { s: '1' } }), merge(`${W}/status`, { status: { s: '2' } })),
  custom('owners-status', 'owner references twice, through the status', APPLY(W, 'm1', widget('w', { spec: { a: 'x' } })), merge(`${W}/status`, { metadata: { ownerReferences: owners }, status: { s: '1' } })),
  custom('finalizers-object', 'finalizers twice, in a create and in a patch of a custom object', POST(WIDGETS, widget('v', { metadata: { name: 'v', finalizers } })), APPLY(W, 'm1', widget('w', { spec: { a: 'x' } })), merge(W, { metadata: { finalizers } }), merge(W, { spec: { a: 'y' } }), APPLY(W, 'm1', widget('w', { spec: { a: 'z' } })), merge(W, { metadata: { finalizers: null } }), merge(`${WIDGETS}/v`, { metadata: { finalizers: null } })),
  versions('versions-status', 'through the status, where another version has owners', merge(`${W}/status`, { metadata: { finalizers }, status: { s: '1' } }), merge(`${W}/status`, { status: { s: '2' } })),
  versions('versions-object', 'in a patch, where another version has owners', merge(W, { metadata: { finalizers } }), merge(W, { spec: { a: 'y' } }), merge(W, { metadata: { finalizers: null } })),
  versions('versions-same', 'in a patch of the version that has owners, then of the other', merge(V2, { metadata: { finalizers } }), merge(W, { spec: { a: 'y' } }), merge(W, { metadata: { finalizers: null } })),
  versions('versions-owners', 'owner references, where another version has owners', merge(`${W}/status`, { metadata: { ownerReferences: owners }, status: { s: '1' } }), merge(W, { metadata: { ownerReferences: owners } })),
  scenario('apply-twice-finalizers-built-in', { section: '2.9', about: 'finalizers twice, in a create and in a patch of a ConfigMap' }, [POST(MAPS, map({ finalizers })), merge(`${MAPS}/w`, { data: { a: 'b' } }), APPLY(`${MAPS}/w`, 'm1', { ...map({}), data: { c: 'd' } }), merge(`${MAPS}/w`, { metadata: { finalizers: ['example.com/b'] } }), merge(`${MAPS}/w`, { metadata: { finalizers } }), merge(`${MAPS}/w`, { metadata: { finalizers: null } })]),
  scenario('apply-twice-owners-built-in', { section: '2.9', about: 'owner references twice, in a patch of a ConfigMap and of the status of a Pod' }, [POST(MAPS, map({})), merge(`${MAPS}/w`, { metadata: { ownerReferences: owners } }), merge(`${MAPS}/w`, { data: { a: 'b' } })]),
];
