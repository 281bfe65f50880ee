// CEL: rules whose value has no type that could be told: items of what is no array. They are found when an object is written.
import { PATCH, POST } from '../steps.ts';
import { at, causeLines, crd, crdPath, integer, list, object, rules, settled, withCrd, widget } from './kit/crd.mjs';

const ruled = object({ replicas: integer() }, { required: ['replicas'], ...rules('self.replicas > 5') });
const outcome = (b) => (b?.details?.causes ? { reason: b.reason, causes: causeLines(b) } : b?.kind === 'Widget' ? 'accepted' : b);
const tried = (spec) => POST(at(), widget('w', { spec }), { query: { dryRun: 'All' }, pick: outcome });
const values = [{}, { backend: {} }, { backend: { replicas: 8 } }, { backend: [] }, { backend: [{ replicas: 8 }] }, { backend: [{ replicas: 1 }] }, { backend: null }, { other: 1 }];
const on = (id, about, backend) => withCrd(`cel-untyped-${id}`, { section: '2.11', about }, crd({ spec: object({ backend, other: integer() }) }), values.map(tried));

export default [
  on('items-under-array', 'rules of the items of an array', list(ruled)),
  on('items-under-object', 'rules of the items of an object', { type: 'object', items: ruled }),
  withCrd('cel-untyped-no-array-any-more', { section: '2.11', about: 'an array that was stored before its schema became an object: its items have no type' }, crd({ spec: object({ backend: list(ruled), other: integer() }) }), [
    POST(at(), widget('w', { spec: { backend: [{ replicas: 8 }] } }), { compare: 'status' }),
    PATCH(crdPath(), 'json-patch', [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/backend', value: { type: 'object', items: ruled } }], { compare: 'status' }), ...settled(),
    ...[{ metadata: { labels: { a: 'b' } } }, { spec: { other: 1 } }, { spec: { backend: null } }, { spec: { other: 2 } }].map((patch) => PATCH(at('w'), 'merge', patch, { pick: outcome })),
  ]),
];
