// Scenarios from tables: for one kind, what it looks like once created, which values are refused with which causes,
// and what an update may change. A case is a set of edits of the kind's base object, so that a table row shows only what matters.
import { scenario, GET, POST, PUT, PATCH } from '../../steps.ts';

/** A copy of the object with the edits made: { 'spec.ports.0.name': 'a', 'spec.type': undefined }. undefined removes. */
export function edit(object, edits = {}) {
  const out = structuredClone(object);
  for (const [path, value] of Object.entries(edits)) {
    const keys = path.split('.');
    const last = keys.pop();
    const parent = keys.reduce((o, k) => (o[k] ??= {}), out);
    if (value !== undefined) parent[last] = value;
    else if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  }
  return out;
}

/**
 * Some messages print a value as Go source. Where that holds an address it differs from run to run and says little:
 * such a value is cut to its type, `core.PodTemplateSpec{...}`.
 */
export function tidy(body) {
  if (typeof body === 'string') return address.test(body) ? cutDumps(body) : body;
  if (Array.isArray(body)) return body.map(tidy);
  if (body && typeof body === 'object') return Object.fromEntries(Object.entries(body).map(([k, v]) => [k, tidy(v)]));
  return body;
}
const address = /\b0x[0-9a-f]{8,}\b|<pointer>/;
function cutDumps(text) {
  const start = /(?:\[\])?\b\w+\.\w+\{/g;
  let out = '', from = 0, m;
  while ((m = start.exec(text))) {
    let end = start.lastIndex, depth = 1, quoted = false;
    for (; depth > 0 && end < text.length; end++) {
      const c = text[end];
      if (quoted) { if (c === '\\') end++; else if (c === '"') quoted = false; } else if (c === '"') quoted = true;
      else if (c === '{') depth++; else if (c === '}') depth--;
    }
    const dump = text.slice(m.index, end);
    out += text.slice(from, m.index) + (address.test(dump) ? `${m[0]}...}` : dump);
    from = start.lastIndex = end;
  }
  return out + text.slice(from);
}

const plain = { pick: tidy };
const warned = { pick: tidy, compareHeaders: ['warning'] };
const dryRun = { dryRun: 'All' };

/**
 * The tables of a kind. `base` is a valid object without apiVersion, kind and name; `name` its name ('x', or '$ns-x' if it is
 * cluster-scoped). Creates and updates that are only about validation are dry runs, so that no step depends on another.
 */
export function kind({ apiVersion, resource, kind: kindName, cluster = false, name = cluster ? '$ns-x' : 'x', base = {}, label = kindName.toLowerCase() }) {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const within = (ns) => (cluster ? `${root}/${resource}` : `${root}/namespaces/${ns}/${resource}`);
  const list = within('$ns'), item = `${list}/${name}`;
  const object = (edits) => edit({ apiVersion, kind: kindName, ...base, metadata: { name, ...base.metadata } }, edits);
  const frame = (section, about) => (cluster ? { section, about, namespace: false, cleanup: [item] } : { section, about });
  const many = (v) => (Array.isArray(v) ? v : [v]);
  const cases = (table, make) => Object.entries(table).map(([id, v]) => make(id, many(v)));

  return {
    object, list, item,

    /** Created for good and read back, also in the other versions given as paths of their items. */
    creates: (table, { readBack = [], section = '2' } = {}) => cases(table, (id, [edits]) =>
      scenario(`${label}-creates-${id}`, frame(section, `${kindName} as created: ${id}`), [
        POST(list, object(edits), warned),
        ...readBack.map((path) => GET(path, plain)),
      ])),

    /** Each row a valid object on the edge of what is allowed. */
    accepts: (table) => cases(table, (id, rows) =>
      scenario(`${label}-accepts-${id}`, { section: '4.9', about: `${kindName}: valid values of ${id}`, namespace: false },
        rows.map((edits) => POST(within('default'), object(edits), { query: dryRun, ...warned })))),

    /** Each row an invalid object. */
    refuses: (table) => cases(table, (id, rows) =>
      scenario(`${label}-refuses-${id}`, { section: '4.9', about: `${kindName}: invalid values of ${id}`, namespace: false },
        rows.map((edits) => POST(within('default'), object(edits), { query: dryRun, ...plain })))),

    /** Each row a merge patch of one existing object, tried as a dry run. `from` are edits of the base for that object. */
    updates: (table, { from, via = '', section = '4.7' } = {}) => cases(table, (id, rows) =>
      scenario(`${label}-updates-${id}`, frame(section, `${kindName}: which update is allowed: ${id}`), [
        POST(list, object(from), { compare: 'status' }),
        ...rows.map((patch) => PATCH(`${item}${via}`, 'merge', patch, { query: dryRun, ...warned })),
      ])),

    /** Merge patches of the status, tried as dry runs. */
    statuses: (table, { from } = {}) => cases(table, (id, rows) =>
      scenario(`${label}-status-${id}`, frame('4.7', `${kindName}: which status is allowed: ${id}`), [
        POST(list, object(from), { compare: 'status' }),
        ...rows.map((status) => PATCH(`${item}/status`, 'merge', { status }, { query: dryRun, ...plain })),
      ])),

    /** Whether PUT needs a resource version, and whether it creates what is not there. */
    puts: ({ from, absent = `${name}-absent` } = {}) => [
      scenario(`${label}-put`, { ...frame('4.7', `${kindName}: PUT without a resource version, and PUT of an absent object`), ...(cluster ? { cleanup: [item, `${list}/${absent}`] } : {}) }, [
        POST(list, object(from), { compare: 'status' }),
        PUT(item, edit(object(from), { 'metadata.labels': { l: 'v' } }), plain),
        PUT(`${list}/${absent}`, edit(object(from), { 'metadata.name': absent }), plain),
      ]),
    ],

    /** What the server sets or keeps whatever the client says: generation, status on create, status and spec on the wrong path. */
    strategy: ({ from, status, spec, extra = [] }) => [
      scenario(`${label}-strategy`, frame('4.7', `${kindName}: generation, and what create, update and status update leave alone`), [
        POST(list, edit(object(from), { 'metadata.generation': 7, ...(status ? { status } : {}) }), plain),
        PATCH(item, 'merge', { metadata: { labels: { l: '1' } } }, plain),
        PATCH(item, 'merge', { metadata: { annotations: { a: '1' } } }, plain),
        ...(spec ? [PATCH(item, 'merge', { ...spec, ...(status ? { status } : {}) }, plain)] : []),
        ...(status ? [PATCH(`${item}/status`, 'merge', { metadata: { labels: { l: '2' }, annotations: { a: '2' }, finalizers: ['example.com/f'] }, spec: {}, ...spec && revert(spec), status }, plain),
          PATCH(`${item}/status`, 'merge', { metadata: { finalizers: null } }, { compare: 'status' })] : []),
        ...extra,
      ]),
    ],
  };
}

/** The opposite of a spec change, so that a status update that wrongly writes the spec is seen. */
const revert = (v) => (v && typeof v === 'object' && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, revert(x)])) : null);

/** The object or list as a table: its columns and cells, without the prose of the columns and without ages, which run on. */
export const table = (path) => GET(path, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }, pick: (b) => {
  if (b.kind !== 'Table') return b;
  const ages = ['Age', 'Last Schedule', 'Last Seen', 'First Seen', 'Created At'];
  return { columns: b.columnDefinitions.map(({ description, ...c }) => c), rows: b.rows.map((r) => r.cells.map((c, i) => (ages.includes(b.columnDefinitions[i]?.name) && c !== '<none>' ? '<age>' : c))) };
} });
