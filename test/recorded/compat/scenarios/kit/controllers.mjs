// What the controllers-* scenarios share: owners, and waiting for what controllers do.
import { DELETE, GET, PATCH, POLL, POST, SLEEP } from '../../steps.ts';
import { at, configMap } from './meta.mjs';

/** A controller that meets a conflict or an estimate waits before it looks again: half a minute at the most. */
export const WAIT = { ms: 60_000 };
/** Kinds that came later are known to upstream's garbage collector after half a minute. */
export const WAIT_KIND = { ms: 120_000 };

export const gone = (path, o = {}) => POLL(path, (_, status) => status === 404, { ...WAIT, ...o });
export const until = (path, holds, o = {}) => POLL(path, (body, status) => status === 200 && holds(body), { ...WAIT, ...o });

/** A reference to the object that the step with this id made. */
export const owner = (id, o = {}) => ({ apiVersion: `\${${id}.apiVersion}`, kind: `\${${id}.kind}`, name: `\${${id}.metadata.name}`, uid: `\${${id}.metadata.uid}`, ...o });
export const ownedBy = (...ids) => ({ ownerReferences: ids.map((id) => (typeof id === 'string' ? owner(id) : id)) });
export const blocking = (id) => owner(id, { blockOwnerDeletion: true });
export const absent = (o = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: '11111111-2222-3333-4444-555555555555', ...o });

export const cms = at('configmaps');
export const cm = (name) => at('configmaps', name);
/** A ConfigMap, by its name as the id of the step. */
export const make = (name, metadata = {}) => POST(cms, configMap(name, metadata), { id: name, compare: 'status' });
export const del = (path, propagationPolicy) => DELETE(path, propagationPolicy && { propagationPolicy }, { compare: 'status' });
export const release = (path) => PATCH(path, 'merge', { metadata: { finalizers: null } }, { compare: 'status' });

/** What the garbage collector changes of an object. */
export const life = { pick: (b) => (b.kind === 'Status' ? b : { name: b.metadata.name, owners: b.metadata.ownerReferences ?? null, finalizers: b.metadata.finalizers ?? null, isMarked: !!b.metadata.deletionTimestamp }) };
/** Some time passes, and it is still there. */
export const stays = (path, ms = 3_000) => [SLEEP(ms), GET(path, life)];
export const isMarked = (b) => !!b.metadata.deletionTimestamp;
export const hold = { finalizers: ['example.com/hold'] };
