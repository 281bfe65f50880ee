// What the listwatch scenarios share: paths with a readable query, small objects, and pickers that keep recordings to the point.
import { GET, POST, PATCH, DELETE, WATCHED } from '../../steps.ts';

/** A path with its query, encoded no more than needed, so that a step's label shows what was asked. */
export const q = (path, params = {}) => {
  const enc = (v) => encodeURIComponent(v).replace(/%3D/g, '=').replace(/%2C/g, ',').replace(/%2F/g, '/').replace(/%24ns/g, '$ns').replace(/%24%7B(.*?)%7D/g, (_, t) => `\${${t}}`);
  const list = Object.entries(params).filter(([, v]) => v !== undefined).map(([k, v]) => (v === null ? k : `${k}=${enc(v)}`)).join('&');
  return list ? `${path}${path.includes('?') ? '&' : '?'}${list}` : path;
};

export const ns = (resource, group = '/api/v1') => `${group}/namespaces/$ns/${resource}`;
export const CM = ns('configmaps');
export const PODS = ns('pods');
export const SECRETS = ns('secrets');
export const EVENTS = ns('events');
export const LEASES = ns('leases', '/apis/coordination.k8s.io/v1');
export const NODES = '/api/v1/nodes';

const meta = (name, labels, more) => ({ name, ...(labels ? { labels } : {}), ...more });
export const cm = (name, labels, more = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: meta(name, labels, more.metadata), ...(more.data ? { data: more.data } : {}) });
export const pod = (name, labels, spec = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata: meta(name, labels), spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } });
export const secret = (name, type, labels) => ({ apiVersion: 'v1', kind: 'Secret', metadata: meta(name, labels), ...(type ? { type } : {}) });
export const lease = (name, labels, spec = {}) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: meta(name, labels), spec });
export const node = (name, labels, spec) => ({ apiVersion: 'v1', kind: 'Node', metadata: meta(name, labels), ...(spec ? { spec } : {}) });
export const event = (name, involved = {}, more = {}) => ({
  apiVersion: 'v1', kind: 'Event', metadata: meta(name, more.labels),
  involvedObject: { kind: 'Pod', namespace: '$ns', name: 'p', ...involved },
  reason: 'Tested', message: 'a test', type: 'Normal', source: { component: 'oracle' }, ...more.fields,
});

const quietly = { compare: 'status' };
/** Setup: its answers matter elsewhere, so only the status is compared. */
export const make = (path, ...objects) => objects.map((o) => POST(path, o, { ...quietly, id: `made_${o.metadata.name}` }));
export const update = (path, body, o) => PATCH(path, 'merge', body, { ...quietly, ...o });
export const remove = (path, o) => DELETE(path, undefined, { ...quietly, ...o });
/** A write to another kind, so that a list's version lies after the version of every listed item. */
export const tick = (name = 'tick') => POST(SECRETS, secret(name), quietly);

/** Names only (with the namespace when there are several), plus list metadata; an error is kept in full. */
export const names = (b) => {
  const rows = b?.items ?? b?.rows?.map((r) => r.object);
  if (!Array.isArray(rows)) return b;
  const { resourceVersion, ...rest } = b.metadata ?? {};
  return { kind: b.kind, metadata: { ...rest, ...(resourceVersion ? { resourceVersion } : {}) }, names: rows.map((o) => (o.metadata.namespace && o.metadata.namespace !== '$ns' ? `${o.metadata.namespace}/${o.metadata.name}` : o.metadata.name)) };
};
export const LIST = (path, params, o) => GET(q(path, params), { pick: names, ...o });

/** Type, name and version of each event; what is not an object with a name is kept in full. */
export const brief = (events) => events.map((e) => (e?.object?.metadata?.name ? { type: e.type, kind: e.object.kind, name: e.object.metadata.name, resourceVersion: e.object.metadata.resourceVersion, ...(e.object.metadata.labels ? { labels: e.object.metadata.labels } : {}) } : e));
/** Waits for that many events, then a little longer to show that nothing else comes. */
export const SAW = (id, events, o = {}) => WATCHED(id, { events, quiet: 300, ...o });
export const SAW_BRIEF = (id, events, o = {}) => SAW(id, events, { pick: brief, ...o });
/** Waits until the server ends the stream. */
export const ENDED = (id, o = {}) => WATCHED(id, { events: Infinity, end: true, ...o });
