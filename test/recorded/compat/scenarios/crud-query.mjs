// Query parameters: values that do not parse, parameters given twice, pretty printing.
import { scenario, GET, POST, PUT, PATCH, DELETE, APPLY } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const cms = `${core}/configmaps`;
const cm = (name, rest = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest });
const about = (text) => ({ section: '4.3', about: text });
const made = POST(cms, cm('c'), { compare: 'status' });
const kind = (b) => (b.kind === 'Status' ? b : { kind: b.kind, items: b.items?.length });
/** Text bodies: the list's own resourceVersion, and that of YAML, vary. */
const noVersion = (t) => t.replace(/("?resourceVersion"?): "[^"]*"/, '$1: "?"');
const list = (query) => GET(`${cms}?${query}`, { pick: kind });

export default [
  scenario('crud-query-limit', about('values of limit'), [made, ...['x', '-1', '0', '1.5', '1e3', '', '9223372036854775807', '9223372036854775808', '+1', '0x1', ' 1', 'true'].map((v) => list(`limit=${encodeURIComponent(v)}`))]),
  scenario('crud-query-timeout-seconds', about('values of timeoutSeconds on a list'), [made, ...['x', '-1', '0', '5', '1.5', '', '99999999999999999999'].map((v) => list(`timeoutSeconds=${v}`))]),
  scenario('crud-query-timeout', about('values of timeout'), [made, ...['x', '5', '5x', '0', '-5s', '1.5', '', '1h', '9999999h'].map((v) => list(`timeout=${v}`)), POST(`${cms}?timeout=x`, cm('d')), DELETE(`${cms}/c?timeout=x`), PATCH(`${cms}/c?timeout=x`, 'merge', {})]),
  scenario('crud-query-watch', about('watch is on for every value but 0 and false'), [made, ...['0', 'false', 'f', 'False', 'FALSE', 'no', '', 'true', '1', 'x'].map((v) => GET(`${cms}?timeoutSeconds=1&watch=${v}`, { pick: (b) => b.type ?? kind(b) })), GET(`${cms}?timeoutSeconds=1&watch`, { pick: (b) => b.type ?? kind(b) })]),
  scenario('crud-query-resource-version', about('values of resourceVersion on a list and a read'), [made, ...['x', '-1', '1.5', '', '0', '0x5'].flatMap((v) => [list(`resourceVersion=${v}`), GET(`${cms}/c?resourceVersion=${v}`, { pick: kind })])]),
  scenario('crud-query-resource-version-match', about('values of resourceVersionMatch'), [made, ...['resourceVersionMatch=Exact', 'resourceVersionMatch=Nope&resourceVersion=1', 'resourceVersionMatch=Exact&resourceVersion=0', 'resourceVersionMatch=NotOlderThan&resourceVersion=0', 'resourceVersionMatch=', 'resourceVersionMatch=Nope'].map((q) => list(q))]),
  scenario('crud-query-continue', about('continue tokens that are not tokens'), [made, ...['x', 'e30', 'e30=', '', '!!!', 'bm9wZQ'].map((v) => list(`continue=${encodeURIComponent(v)}`)), list('continue=x&resourceVersion=5')]),
  ...['labelSelector=a%3D%3D%3Db', 'labelSelector=!!a', 'labelSelector=a%20in%20b', 'labelSelector=a%20in%20(', 'labelSelector=%3D', 'labelSelector=-a', 'labelSelector=a%3Db%20c', 'labelSelector=a,,b', 'labelSelector=a%3E5x', 'fieldSelector=x', 'fieldSelector=data.a%3D1', 'fieldSelector=metadata.name', 'fieldSelector=metadata.name%3Dc%3Dd', 'fieldSelector=spec.x%3D1', 'fieldSelector=,', 'fieldSelector=metadata.name%3Dc,'].map((q, i) => scenario(`crud-query-selector-${i + 1}`, about(`a selector that does not parse: ${decodeURIComponent(q)}`), [made, list(q)])),
  scenario('crud-query-selectors-delete', about('selectors of a deletecollection that do not parse delete nothing'), [made, DELETE(`${cms}?labelSelector=a%20in%20(`), DELETE(`${cms}?fieldSelector=data.a%3D1`), DELETE(`${cms}?limit=x`), DELETE(`${cms}?resourceVersionMatch=Exact`), list('')]),
  scenario('crud-query-propagation', about('values of propagationPolicy and orphanDependents'), [made, ...['propagationPolicy=Nope', 'propagationPolicy=foreground', 'propagationPolicy=', 'orphanDependents=x', 'orphanDependents=true&propagationPolicy=Orphan', 'orphanDependents=2'].flatMap((q) => [DELETE(`${cms}/c?${q}&dryRun=All`), DELETE(`${cms}?${q}&dryRun=All`)])]),
  scenario('crud-query-propagation-body', about('propagationPolicy and orphanDependents in the body'), [made, ...[{ propagationPolicy: 'Nope' }, { propagationPolicy: '' }, { propagationPolicy: 5 }, { orphanDependents: 'x' }, { orphanDependents: true, propagationPolicy: 'Background' }, { propagationPolicy: null }].map((o) => DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], ...o }))]),
  scenario('crud-query-grace', about('values of gracePeriodSeconds'), [made, ...['x', '-1', '1.5', '', '0', '99999999999999999999'].map((v) => DELETE(`${cms}/c?gracePeriodSeconds=${v}&dryRun=All`))]),
  scenario('crud-query-grace-body', about('gracePeriodSeconds in the body'), [made, ...['x', -1, 1.5, null, 1e20].map((v) => DELETE(`${cms}/c`, { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], gracePeriodSeconds: v }))]),
  scenario('crud-query-delete-preconditions', about('uid and resourceVersion in the query of a DELETE are preconditions'), [made, DELETE(`${cms}/c?uid=nope&dryRun=All`), DELETE(`${cms}/c?resourceVersion=1&dryRun=All`), DELETE(`${cms}/c?preconditions=x&dryRun=All`)]),
  scenario('crud-query-field-manager', about('values of fieldManager'), [made,
    POST(`${cms}?fieldManager=${'m'.repeat(129)}`, cm('d')), POST(`${cms}?fieldManager=${'m'.repeat(128)}`, cm('d')), POST(`${cms}?fieldManager=a%0Ab`, cm('e')), POST(`${cms}?fieldManager=`, cm('f')), POST(`${cms}?fieldManager=%C3%A9%20x`, cm('g')),
    PUT(`${cms}/c?fieldManager=${'m'.repeat(129)}`, cm('c')), PATCH(`${cms}/c?fieldManager=%07`, 'merge', {}), PATCH(`${cms}/c`, 'apply-yaml', cm('c')), PATCH(`${cms}/c?fieldManager=`, 'apply-yaml', cm('c')),
  ]),
  scenario('crud-query-field-manager-user-agent', about('without fieldManager the User-Agent names the manager'), [
    POST(cms, cm('a', { data: { k: 'v' } }), { headers: { 'user-agent': 'tool/1.2 (x)' } }), POST(cms, cm('b', { data: { k: 'v' } }), { headers: { 'user-agent': 'plain' } }), POST(cms, cm('d', { data: { k: 'v' } }), { headers: { 'user-agent': '' } }), POST(cms, cm('e', { data: { k: 'v' } }), { headers: { 'user-agent': `${'u'.repeat(200)}/1` } }), POST(cms, cm('f', { data: { k: 'v' } }), { headers: { 'user-agent': '/x' } }),
  ].map((s) => ({ ...s, pick: (b) => b.metadata.managedFields }))),
  scenario('crud-query-force', about('force belongs to apply only'), [made,
    PATCH(`${cms}/c?force=true`, 'merge', {}), PATCH(`${cms}/c?force=true`, 'strategic', {}), PATCH(`${cms}/c?force=true`, 'json-patch', []), APPLY(`${cms}/c`, 'm', cm('c'), { query: { fieldManager: 'm', force: 'x' } }), APPLY(`${cms}/c`, 'm', cm('c'), { query: { fieldManager: 'm', force: '1' }, compare: 'status' }), POST(`${cms}?force=true`, cm('d'), { compare: 'status' }),
  ]),
  scenario('crud-query-export', about('export and exact are long gone'), [made, GET(`${cms}/c?export=true`), GET(`${cms}/c?export=x`), GET(`${cms}/c?export=false`, { pick: kind }), GET(`${cms}/c?exact=true`, { pick: kind })]),
  scenario('crud-query-unknown', about('unknown parameters are ignored; parameters are case-sensitive'), [made, list('foo=bar'), list('Limit=x'), list('LIMIT=x'), list('label_selector=x'), POST(`${cms}?DryRun=All`, cm('d'), { pick: kind }), GET(`${cms}/d`, { pick: kind })]),
  scenario('crud-query-repeated', about('a parameter given twice'), [made, POST(cms, cm('d'), { compare: 'status' }), list('limit=1&limit=2'), list('limit=1&limit=x'), list('limit=x&limit=1'), list('fieldSelector=metadata.name%3Dc&fieldSelector=metadata.name%3Dd'), list('labelSelector=a&labelSelector=b%20in%20(')]),
  scenario('crud-query-several-bad', about('several bad parameters at once'), [made, list('limit=x&timeoutSeconds=y'), list('limit=x&labelSelector=a%20in%20('), POST(`${cms}?dryRun=Nope&fieldValidation=Nope&fieldManager=${'m'.repeat(129)}`, cm('d')), DELETE(`${cms}/c?dryRun=Nope&propagationPolicy=Nope&gracePeriodSeconds=x`)]),
  scenario('crud-query-bad-before-body', about('which comes first: bad options, a bad body or a missing object'), [
    POST(`${cms}?dryRun=Nope`, 'not json'), PUT(`${cms}/none?dryRun=Nope`, cm('other')), PATCH(`${cms}/none?dryRun=Nope`, 'merge', 'not json'), DELETE(`${cms}/none?dryRun=Nope`), PATCH(`${cms}/none`, 'merge', 'not json'), PATCH(`${cms}/none`, 'text/plain', 'x'),
  ]),

  // pretty
  scenario('crud-query-pretty', about('pretty=true indents by two spaces; compact bodies end in a newline'), [
    POST(cms, cm('p', { data: { b: '1', a: '<>' } }), { compare: 'status' }),
    ...['', '?pretty=true', '?pretty=1', '?pretty=t', '?pretty=false', '?pretty=0', '?pretty=x', '?pretty=', '?pretty', '?pretty=TRUE', '?pretty=true&pretty=false'].map((q) => GET(`${cms}/p${q}`, { text: true })),
  ]),
  scenario('crud-query-pretty-user-agent', about('curl, wget and browsers get indented answers unless they say otherwise'), [
    POST(cms, cm('p'), { compare: 'status' }),
    ...['curl/8.0', 'Wget/1.2', 'Mozilla/5.0 (X)', 'curl', 'Curl/8', 'kubectl/v1.33', 'Mozilla/4.0'].map((ua) => GET(`${cms}/p`, { text: true, headers: { 'user-agent': ua } })),
    GET(`${cms}/p?pretty=false`, { text: true, headers: { 'user-agent': 'curl/8.0' } }),
    GET(`${cms}/p?pretty=`, { text: true, headers: { 'user-agent': 'curl/8.0' } }),
    GET(`${cms}/p?pretty=x`, { text: true, headers: { 'user-agent': 'curl/8.0' } }),
  ]),
  scenario('crud-query-pretty-everywhere', about('pretty for lists, writes, errors and deletes'), [
    POST(`${cms}?pretty=true`, cm('p'), { text: true }), GET(`${cms}?pretty=true`, { text: true, pick: noVersion }), GET(`${cms}/none?pretty=true`, { text: true }), GET(`${cms}/none`, { text: true }), GET('/api/v1/foos?pretty=true', { text: true }), GET('/api/v1/foos', { text: true }), DELETE(`${cms}/p?pretty=true`, undefined, { text: true }),
    GET(`${cms}?pretty=true`, { text: true, pick: noVersion }),
  ]),
  scenario('crud-query-pretty-accept', about('pretty as a parameter of Accept'), [
    POST(cms, cm('p'), { compare: 'status' }),
    ...['application/json;pretty=1', 'application/json;pretty=true', 'application/json; pretty=1', 'application/yaml;pretty=1'].map((accept) => GET(`${cms}/p`, { text: true, headers: { accept }, compareHeaders: ['content-type'], pick: noVersion })),
    GET(`${cms}/p?pretty=true`, { text: true, headers: { accept: 'application/yaml' }, pick: noVersion }),
  ]),
  scenario('crud-query-key-order', about('the order of keys on the wire'), [
    POST(cms, '{"data":{"z":"1","a":"2"},"metadata":{"annotations":{"y":"1","b":"2"},"labels":{"x":"1","c":"2"},"name":"p"},"kind":"ConfigMap","immutable":false,"apiVersion":"v1"}', { type: 'application/json', text: true }),
    POST(`${core}/pods`, { spec: { containers: [{ image: 'i', name: 'c' }] }, metadata: { name: 'p' }, kind: 'Pod', apiVersion: 'v1' }, { text: true }),
    DELETE(`${cms}/p`, undefined, { text: true }),
    GET(`${cms}/p`, { text: true }),
    POST(cms, cm('Bad_'), { text: true }),
  ]),
];
