// Compression and length of answers to get and list.
import { scenario, GET } from '../steps.ts';
import { CM, q, cm, make } from './kit/listwatch.mjs';

const headers = ['content-type', 'content-encoding', 'vary'];
const lengths = [...headers, 'content-length?', 'transfer-encoding'];
const sized = (name, n) => cm(name, undefined, { data: { big: 'x'.repeat(n) } });
const size = (b) => (b?.items ? b.items.map((o) => [o.metadata.name, o.data?.big?.length ?? 0]) : b?.data ? b.data.big.length : b);
const s = (id, about, steps, o = {}) => scenario(`encoding-${id}`, { section: '4.4', about, ...o }, steps);
const asked = (path, encoding, o = {}) => GET(path, { headers: encoding === null ? {} : { 'accept-encoding': encoding }, compareHeaders: headers, pick: size, ...o });
const KB = 1024;
/** Text that hardly compresses, the same in every run. */
function noise(n) { let x = 12345, t = ''; while (t.length < n) { x = (x * 1103515245 + 12345) % 2147483648; t += (x >> 8).toString(36); } return t.slice(0, n); }

export default [
  s('list-small', 'a small list is not compressed', [...make(CM, cm('a')), asked(CM, 'gzip', { compareHeaders: lengths }), asked(CM, null, { compareHeaders: lengths })]),
  s('list-large', 'a list above 128 KiB is compressed when asked for', [...make(CM, sized('a', 90 * KB), sized('b', 90 * KB)), asked(CM, 'gzip'), asked(CM, null, { compareHeaders: lengths }), asked(CM, 'identity')]),
  s('list-large-dense', 'a compressed list that stays large comes in chunks', [...make(CM, cm('a', undefined, { data: { big: noise(200 * KB) } })), asked(CM, 'gzip', { compareHeaders: lengths })]),
  s('list-middle', 'a list of some KiB', [...make(CM, sized('a', 3 * KB)), asked(CM, 'gzip', { compareHeaders: lengths })]),
  s('list-below-limit', 'a list a little below 128 KiB', [...make(CM, sized('a', 126 * KB)), asked(CM, 'gzip')]),
  s('list-above-limit', 'a list a little above 128 KiB', [...make(CM, sized('a', 129 * KB)), asked(CM, 'gzip')]),
  s('list-many-small', 'many small objects that make a large list', [...make(CM, ...Array.from({ length: 8 }, (_, i) => sized(`a${i}`, 20 * KB))), asked(CM, 'gzip')]),
  s('get-small', 'a small object is not compressed', [...make(CM, sized('a', 100)), asked(`${CM}/a`, 'gzip', { compareHeaders: lengths })]),
  s('get-large', 'a large object is compressed when asked for', [...make(CM, sized('a', 200 * KB)), asked(`${CM}/a`, 'gzip'), asked(`${CM}/a`, null, { compareHeaders: lengths })]),
  ...['gzip, deflate', 'deflate, gzip', 'deflate', 'br', '*', 'gzip;q=0', 'gzip;q=1.0', 'GZIP', 'x-gzip', ' gzip ', 'gzip,', ''].map((encoding, i) =>
    s(`accept-${i}-${encoding.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'none'}`, `Accept-Encoding: "${encoding}" for a large list`, [...make(CM, sized('a', 200 * KB)), asked(CM, encoding)])),
  s('error', 'an error is not compressed', [asked(`${CM}/z`, 'gzip', { pick: (b) => b.reason })]),
  s('table-large', 'a large list as Table', [...make(CM, sized('a', 200 * KB)), GET(q(CM, { includeObject: 'Object' }), { headers: { 'accept-encoding': 'gzip', accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }, compareHeaders: headers, pick: (b) => b.rows?.length }), GET(CM, { headers: { 'accept-encoding': 'gzip', accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }, compareHeaders: headers, pick: (b) => b.rows?.length })]),
  s('yaml-large', 'a large list as YAML', [...make(CM, sized('a', 200 * KB)), GET(CM, { headers: { 'accept-encoding': 'gzip', accept: 'application/yaml' }, compareHeaders: headers, pick: (b) => typeof b })]),
  s('page-large', 'a page that is small enough is not compressed', [...make(CM, sized('a', 90 * KB), sized('b', 90 * KB)), asked(q(CM, { limit: '1' }), 'gzip')]),
  s('discovery', 'discovery documents and gzip', [GET('/api/v1', { headers: { 'accept-encoding': 'gzip' }, compareHeaders: headers, pick: (b) => b.kind }), GET('/openapi/v2', { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary'], pick: (b) => b.swagger })], { namespace: false }),
  s('version', 'plain endpoints and gzip', [GET('/version', { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'content-type'], pick: (b) => b.major }), GET('/healthz', { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'content-type'] })], { namespace: false }),
];
