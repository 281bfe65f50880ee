// Values that protobuf can hold and JSON cannot, or not in the same way: times outside of their bounds, floats that are no numbers, empty messages.
import { scenario, GET, POST } from '../steps.ts';
import { PROTOBUF, accept } from './kit/shapes.mjs';
import { bytesOfField, double, envelope, field, message, objectMeta } from './kit/protobuf.mjs';
import { CRDS } from './kit/crd.mjs';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/$ns/leases';
const spec = (b, raw) => (b?.kind === 'Lease' ? raw.spec : b);
const timestamp = (seconds, nanos) => message(field(1, seconds), field(2, nanos));
const lease = (renewTime) => envelope('coordination.k8s.io/v1', 'Lease', message(field(1, objectMeta({ name: 'l' })), field(2, field(4, renewTime))));
/** As it was sent, as it is read in JSON, and its spec as the bytes of protobuf. */
const readAgain = [GET(`${LEASES}/l`, { pick: spec }), GET(`${LEASES}/l`, { ...accept(PROTOBUF), pick: bytesOfField(2) })];

const FIRST = -62_135_596_800; // 0001-01-01T00:00:00Z
const LAST = 253_402_300_799; // 9999-12-31T23:59:59Z
const times = Object.entries({
  'nanos-below-a-microsecond': [1_700_000_000, 1999],
  'nanos-negative': [1_700_000_000, -1000],
  'nanos-negative-below-a-microsecond': [1_700_000_000, -999],
  'nanos-negative-far': [1_700_000_000, -2_147_483_648],
  'nanos-of-a-second': [1_700_000_000, 1_000_000_000],
  'nanos-of-two-seconds': [1_700_000_000, 2_147_483_647],
  'before-1970': [-1, 500_000_000],
  first: [FIRST, 0],
  'first-below-a-microsecond': [FIRST, 999],
  'first-by-negative-nanos': [FIRST + 1, -1_000_000_000],
  'first-microsecond': [FIRST, 1000],
  'before-first': [FIRST, -1000],
  last: [LAST, 999_999_999],
  'year-0': [FIRST - 31_622_400, 0],
}).map(([id, [seconds, nanos]]) => scenario(`protobuf-value-micro-time-${id}`, { section: '2.7', about: `A time in protobuf: ${id.replaceAll('-', ' ')}` }, [POST(LEASES, lease(timestamp(seconds, nanos)), { type: PROTOBUF, pick: spec }), ...readAgain]));
const empty = [
  scenario('protobuf-value-micro-time-empty', { section: '2.7', about: 'A time that is an empty message' }, [POST(LEASES, lease(Buffer.alloc(0)), { type: PROTOBUF, pick: spec }), ...readAgain]),
  scenario('protobuf-value-micro-time-zero-in-json', { section: '2.7', about: "Go's first instant behind a pointer, sent in JSON" }, [POST(LEASES, { metadata: { name: 'l' }, spec: { renewTime: '0001-01-01T00:00:00.000000Z' } }, { pick: spec }), ...readAgain]),
  scenario('protobuf-value-time-zero-in-json', { section: '2.7', about: "Go's first instant behind a pointer, of a time in seconds" }, [
    POST('/api/v1/namespaces/$ns/pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, { compare: 'status' }),
    GET('/api/v1/namespaces/$ns/pods/p/status', { method: 'PATCH', type: 'merge', body: { status: { startTime: '0001-01-01T00:00:00Z' } }, pick: (b, raw) => (b?.kind === 'Pod' ? raw.status : b) }),
    GET('/api/v1/namespaces/$ns/pods/p', { pick: (b, raw) => (b?.kind === 'Pod' ? raw.status : b) }), GET('/api/v1/namespaces/$ns/pods/p', { ...accept(PROTOBUF), pick: bytesOfField(3) }),
  ]),
];

const definition = (name, schema) => envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', message(
  field(1, objectMeta({ name: `xs.${name}.example.com` })),
  field(2, message(field(1, `${name}.example.com`), field(3, message(field(1, 'xs'), field(4, 'X'))), field(4, 'Cluster'), field(7, message(field(1, 'v1'), field(2, true), field(3, true), field(4, field(1, message(field(5, 'object'), field(29, message(field(1, 'x'), field(2, message(field(5, 'number'), schema))))))))))),
));
const property = (b, raw) => (b?.kind === 'CustomResourceDefinition' ? raw.spec.versions[0].schema.openAPIV3Schema.properties.x : b);
const floats = Object.entries({ 'minimum-nan': double(11, NaN), 'maximum-infinity': double(9, Infinity), 'minimum-minus-infinity': double(11, -Infinity), 'multiple-of-nan': double(19, NaN), 'multiple-of-infinity': double(19, Infinity), 'minimum-minus-zero': double(11, -0), 'minimum-smallest': double(11, 5e-324), 'maximum-largest': double(9, 1.7976931348623157e308) }).map(([id, schema]) =>
  scenario(`protobuf-value-float-${id}`, { section: '2.7', about: `A float of a schema in protobuf: ${id.replaceAll('-', ' ')}`, namespace: false, cleanup: [`${CRDS}/xs.${id}.example.com`] }, [POST(CRDS, definition(id, schema), { type: PROTOBUF, pick: property }), GET(`${CRDS}/xs.${id}.example.com`, { pick: property })]));

export default [...times, ...empty, ...floats];
