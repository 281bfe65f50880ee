// Custom resources as tables: printer columns of every type, missing and odd values, default columns.
import { GET, POST, PATCH, WATCH, WATCHED } from '../steps.ts';
import { crd, crdPath, at, widget, version, object, string, integer, number, boolean, list, map, anything, withCrd, settled } from './kit/crd.mjs';

const section = '2.6';
const as = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
const spec = anything();
const noDescription = (b) => ({ ...b, columnDefinitions: b?.columnDefinitions?.map(({ description, ...c }) => c), rows: b?.rows?.map((r) => ({ cells: r.cells, object: r.object?.kind, conditions: r.conditions })) });
const cells = (b) => b?.rows?.map((r) => r.cells) ?? b;
const col = (type, jsonPath, more = {}) => ({ name: `${type} ${jsonPath}`, type, jsonPath, ...more });
const on = (id, about, columns, objects, steps = [GET(at(), { headers: as, pick: cells })]) =>
  withCrd(`crd-table-${id}`, { section, about }, crd({ spec, status: anything(), additionalPrinterColumns: columns }), [...objects.map((o, i) => POST(at(), widget(`w${i}`, o), { compare: 'status' })), ...steps]);

const one = { spec: { s: 'text', i: 5, f: 1.25, b: true, d: '2001-02-03T04:05:06Z', o: { x: 1, y: 'z' }, l: ['a', 'b'], n: null, ls: [{ k: 'p', v: 1 }, { k: 'q', v: 2 }], 'dash-ed': 'dash', 'dot.ted': 'dot', empty: '', zero: 0 } };
const paths = ['.spec.s', '.spec.i', '.spec.f', '.spec.b', '.spec.d', '.spec.o', '.spec.l', '.spec.n', '.spec.missing', '.spec.empty', '.spec.zero'];

export default [
  on('default-columns', 'without columns: name and age', [], [{}, {}], [
    GET(at(), { headers: as, pick: (b) => { const t = noDescription(b); return { ...t, rows: t.rows?.map((r) => ({ ...r, cells: [r.cells[0], /^\d+s$|<duration>/.test(r.cells[1]) ? '<age>' : r.cells[1]] })) }; } }),
    GET(at('w0'), { headers: as, pick: (b) => noDescription(b).columnDefinitions }),
  ]),
  on('columns', 'columns with format and priority, after the name', [{ name: 'First', type: 'string', jsonPath: '.spec.s' }, { name: 'Second', type: 'integer', format: 'int32', jsonPath: '.spec.i', priority: 1 }, { name: 'Third', type: 'date', jsonPath: '.metadata.creationTimestamp' }], [one], [GET(at(), { headers: as, pick: (b) => noDescription(b).columnDefinitions })]),
  on('column-descriptions', 'the description of a column, given or not', [{ name: 'A', type: 'string', jsonPath: '.spec.s', description: 'my words' }, { name: 'B', type: 'string', jsonPath: '.spec.s' }], [], [GET(at(), { headers: as, pick: (b) => b.columnDefinitions?.slice(1).map((c) => c.description) })]),
  ...['string', 'integer', 'number', 'boolean'].map((type) => on(`type-${type}`, `values of every kind in a column of type ${type}`, paths.map((p) => col(type, p)), [one], [GET(at(), { headers: as, pick: (b) => Object.fromEntries(paths.map((p, i) => [p, b.rows?.[0]?.cells[i + 1]])) })])),
  on('type-date', 'values of every kind in a column of type date', paths.filter((p) => p !== '.spec.d').map((p) => col('date', p)), [one], [GET(at(), { headers: as, pick: (b) => Object.fromEntries(paths.filter((p) => p !== '.spec.d').map((p, i) => [p, b.rows?.[0]?.cells[i + 1]])) })]),
  on('type-date-ages', 'ages of dates', ['past', 'y2', 'future', 'zero', 'fraction', 'offset', 'notz'].map((k) => col('date', `.spec.${k}`)), [{ spec: { past: '1990-01-01T00:00:00Z', y2: '2016-01-01T00:00:00Z', future: '2990-01-01T00:00:00Z', zero: '0001-01-01T00:00:00Z', fraction: '1990-01-01T00:00:00.5Z', offset: '1990-01-01T00:00:00+02:00', notz: '1990-01-01T00:00:00' } }], [GET(at(), { headers: as, pick: (b) => cells(b)[0]?.map((c) => c.replace(/^\d\dy$/, '<years>')) })]),
  on('paths', 'JSON paths of many forms', [
    ...['.spec.l[0]', '.spec.l[*]', '.spec.l[-1]', '.spec.l[0:1]', '.spec.l[5]', '.spec.o.x', '.spec.ls[*].k', '.spec.ls[?(@.k=="q")].v', '.spec.ls[?(@.v>1)].k', '.spec.ls[?(@.k=="none")].v', ".spec['s']", '.spec.dash-ed', ".spec['dot.ted']", '.spec.dot\\.ted', '..k', '.', '.metadata.name', '.metadata.labels', '.kind', '.apiVersion', '.spec.s.deeper'].map((p) => col('string', p)),
  ], [one], [GET(at(), { headers: as, pick: (b) => Object.fromEntries((b.columnDefinitions ?? []).slice(1).map((c, i) => [c.name, b.rows[0]?.cells[i + 1]])) })]),
  on('broken-path', 'a JSON path that does not parse', [col('string', '.spec['), col('string', '.spec.s')], [one], [GET(at(), { headers: as, pick: noDescription })]),
  on('several-rows', 'rows with and without values', [col('string', '.spec.s'), col('integer', '.spec.i')], [{ spec: { s: 'a' } }, { spec: { i: 3 } }, {}]),
  on('single-object', 'one resource as a table', [col('string', '.spec.s')], [one], [GET(at('w0'), { headers: as, pick: (b) => ({ ...noDescription(b), rows: b.rows.map((r) => ({ cells: r.cells, object: [r.object.kind, r.object.apiVersion, r.object.metadata.name] })) }) })]),
  on('include-object', 'rows with the whole object, or none', [col('string', '.spec.s')], [one], [
    GET(at(), { headers: as, query: { includeObject: 'Object' }, pick: (b) => b.rows.map((r) => [r.object.kind, r.object.spec?.s]) }), GET(at(), { headers: as, query: { includeObject: 'None' }, pick: (b) => b.rows.map((r) => r.object ?? null) }), GET(at(), { headers: as, query: { includeObject: 'Some' } }),
  ]),
  on('empty', 'a table without rows', [col('string', '.spec.s')], [], [GET(at(), { headers: as, pick: noDescription })]),
  on('watch', 'a watch as tables: columns only in the first event', [col('string', '.spec.s')], [one], [
    WATCH('w', at(), { headers: as, query: { watch: 'true' } }), PATCH(at('w0'), 'merge', { spec: { s: 'new' } }, { compare: 'status' }), WATCHED('w', { events: 2, pick: (es) => es.map((e) => [e.type, e.object.kind, e.object.columnDefinitions?.map((c) => c.name), e.object.rows?.map((r) => r.cells)]) }),
  ]),
  withCrd('crd-table-per-version', { section, about: 'columns belong to a version' }, crd({ versions: [version('v1', { spec, additionalPrinterColumns: [col('string', '.spec.s')] }), version('v2', { spec, storage: false, additionalPrinterColumns: [col('integer', '.spec.i')] }), version('v3', { spec, storage: false })] }), [
    POST(at(), widget('w', one), { compare: 'status' }), ...['v1', 'v2'].map((v) => GET(at('', { v }), { headers: as, pick: (b) => [b.columnDefinitions.map((c) => c.name), cells(b)] })), GET(at('', { v: 'v3' }), { headers: as, pick: (b) => b.columnDefinitions.map((c) => c.name) }),
  ]),
  withCrd('crd-table-typed-schema', { section, about: 'columns over fields with a schema: numbers as text, pruned values' }, crd({ spec: object({ i: integer(), f: number(), b: boolean(), s: string(), l: list(integer()), m: map(string()) }), additionalPrinterColumns: ['.spec.i', '.spec.f', '.spec.b', '.spec.s', '.spec.l', '.spec.m', '.spec.zz'].map((p) => col('string', p)) }), [
    POST(at(), widget('w', { spec: { i: 3, f: 3.0, b: false, s: '"quoted"', l: [1, 2], m: { k: 'v' }, zz: 'pruned' } }), { compare: 'status' }), GET(at(), { headers: as, pick: (b) => Object.fromEntries(b.columnDefinitions.slice(1).map((c, i) => [c.name, b.rows[0].cells[i + 1]])) }),
  ]),
  withCrd('crd-table-changed-columns', { section, about: 'columns change with the definition' }, crd({ spec, additionalPrinterColumns: [col('string', '.spec.s')] }), [
    POST(at(), widget('w', one), { compare: 'status' }), PATCH(crdPath(), 'json-patch', [{ op: 'replace', path: '/spec/versions/0/additionalPrinterColumns/0/jsonPath', value: '.spec.i' }], { compare: 'status' }), ...settled(), GET(at(), { headers: as, pick: cells }),
  ]),
];
