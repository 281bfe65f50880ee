// Tables of cases for the kinds of the core group: a base object, and per row one change to a part of it.
import { scenario, POST, PATCH, DELETE, SLEEP } from '../../steps.ts';

export const inNs = (resource, name) => `/api/v1/namespaces/$ns/${resource}${name ? `/${name}` : ''}`;
export const clone = (v) => structuredClone(v);
export const repeat = (text, n) => text.repeat(n);

/** The smallest Pod that the server accepts. */
export const pod = (spec = {}, metadata = {}) => ({
  apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', image: 'busybox:1' }], ...spec },
});
export const container = (o) => o.spec.containers[0];
export const spec = (o) => o.spec;
export const root = (o) => o;

/** A copy of `base` where the part chosen by `part` took the change: an object of fields to set (undefined removes), or a function of that part and the whole. */
export function changed(base, part, change) {
  const o = clone(base);
  const target = part(o);
  if (typeof change === 'function') change(target, o);
  else Object.assign(target, change);
  return o;
}

const chunks = (rows, size) => Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size));
const numbered = (id, parts, i) => (parts.length > 1 ? `${id}-${i + 1}` : id);

/** Scenarios of rows that the server must refuse: [note, change]. At most 12 rows to a scenario. */
export const refused = (id, { at, base, part = root, ...about }, rows) => chunks(rows, 12).map((group, i, parts) =>
  scenario(numbered(id, parts, i), { section: '7', ...about }, group.map(([note, change]) => POST(at, changed(base, part, change), { note, pick: withoutPointers }))));

/** Scenarios of rows that the server must accept; each object has a name of its own, and `shown` is the part that is compared. */
export const accepted = (id, { at, base, part = root, shown = (b) => (b.kind === 'Status' ? b : b.spec ?? b), compareHeaders, name = (n) => `x${n}`, ...about }, rows) => chunks(rows, 12).map((group, i, parts) =>
  scenario(numbered(id, parts, i), { section: '2', ...about }, group.map(([note, change], n) => {
    const o = changed(base, part, change);
    o.metadata.name = name(n);
    return POST(at, o, { note, pick: shown, compareHeaders });
  })));

const inMessages = (body, edit) => {
  if (body?.kind !== 'Status') return body;
  const causes = body.details?.causes?.map((c) => ({ ...c, message: edit(c.message) }));
  return { ...body, message: edit(body.message), ...(causes ? { details: { ...body.details, causes } } : {}) };
};

/** Some causes print a Go value of upstream's internal types, with its pointers or the inside of a quantity: such a value is left out, the rest of the message stays. */
export const withoutPointers = (body) => inMessages(body, (m) => m
  .replace(/value: (\[\])?(core|v1|field)\.\w+\{.*\((<pointer>|0x[0-9a-f]+)\).*?\}+(?=: )/, 'value: <Go value>')
  .replace(/resource\.Quantity\{i:resource.int64Amount\{[^}]*\}, d:resource.infDecAmount\{[^}]*\}, s:"[^"]*", Format:"\w*"\}/g, '<Go value>'));

/** Keeps the text of an immutability error and drops the diff of Go structs that upstream appends after it (its blanks differ from build to build). */
export const withoutDiff = (body) => inMessages(withoutPointers(body), (m) => (m.includes('\n') ? `${m.slice(0, m.indexOf('\n'))}…` : m));

/**
 * Scenarios of merge patches to one object: [note, patch, type?]. `before` are steps that come first; `shown` is compared when a patch is accepted, and with `showBase` on the create as well, so that addresses and ports have their names.
 * `pause` waits before each patch: upstream takes a requested node port before it commits, so an update that starts from a cached object older than the
 * last write finds its own port taken when it tries again, and is refused. Some tenths of a second let the cache catch up. */
export const patched = (id, { at, base, shown, showBase, sub, pause, before = [], ...about }, rows) => chunks(rows, 11 - before.length).map((group, i, parts) =>
  scenario(numbered(id, parts, i), { section: '7', ...about }, [
    ...before, POST(at, base, showBase ? { pick: shown } : { compare: 'status' }),
    ...group.flatMap(([note, patch, type = 'merge']) => [...(pause ? [SLEEP(pause)] : []), PATCH(`${at}/${base.metadata.name}${sub ? `/${sub}` : ''}`, type, patch, { note, pick: (b, raw, norm) => (b.kind === 'Status' ? withoutDiff(nodePortsNamed(b, raw, norm)) : shown ? shown(b, raw, norm) : b) })]),
  ]));

/**
 * Free node ports for a scenario, as ${free.spec.ports.N.nodePort}: a Service draws them and is deleted. Fixed numbers would not do: a port that
 * upstream once leaked (see `pause` of `patched`) stays taken until its repair loop has missed the owner three times, about ten minutes.
 */
export const freeNodePorts = (count) => [
  POST(inNs('services'), { apiVersion: 'v1', kind: 'Service', metadata: { name: 'free' }, spec: { type: 'NodePort', ports: Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: i + 1 })) } }, { id: 'free', compare: 'status' }),
  DELETE(inNs('services', 'free'), undefined, { compare: 'status' }),
];
export const freeNodePort = (n) => `\${free.spec.ports.${n}.nodePort}`;

/** Node ports differ from run to run: the first one seen is port#1 wherever it stands, in messages too. */
export function nodePortsNamed(body, raw, norm) {
  const name = (n) => norm.rename('port', String(n));
  const walk = (v, key) => {
    if (typeof v === 'number' && v && /^(nodePort|healthCheckNodePort)$/.test(key)) return name(v);
    if (typeof v === 'string' && key === 'message') return v.replace(/(?<![-\d])3[0-2]\d{3}(?![-\d])/g, (n) => (Number(n) <= 32767 ? name(n) : n));
    if (Array.isArray(v)) return v.map((x) => walk(x, key));
    return v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, walk(x, k)])) : v;
  };
  return walk(body, '');
}
