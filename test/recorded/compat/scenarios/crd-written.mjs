// How the schema of a definition is written: which fields, in which order, and in which bytes.
import { scenario, GET, PATCH, POLL, POST, SLEEP } from '../steps.ts';
import { CRDS, crd, crdPath, established } from './kit/crd.mjs';

const shown = (text) => /"openAPIV3Schema":(.*?)\}\}?(?:,"subresources"[^\]]*)?\](?:,"conversion"|\},"status")/.exec(text)?.[1] ?? text;
const s = (id, about, schema) => scenario(`crd-written-${id}`, { section: '6.1', about, cleanup: [crdPath()] }, [
  POST(CRDS, JSON.stringify(crd({ schema: { type: 'object', properties: { x: 'SCHEMA' } } })).replace('"SCHEMA"', schema), { type: 'application/json', text: true, pick: shown }),
  GET(crdPath(), { text: true, pick: shown }),
]);

// What the object was is shown at length, in an order that depends on who was first: the end of a message says what is wrong.
const outcome = (body) => body?.message?.slice(-160) ?? body?.spec?.versions;
const patched = (id, about, type, schema) => scenario(`crd-written-patched-${id}`, { section: '6.1', about, cleanup: [crdPath()] }, [
  POST(CRDS, crd({ schema: { type: 'object' } }), { compare: 'status' }),
  POLL(crdPath(), established, { compare: 'status' }),
  SLEEP(600),
  PATCH(crdPath(), type, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: crdPath().split('/').at(-1) }, spec: { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { x: { type: 'array', items: schema } } } } }] } }, { query: type.includes('apply') ? { fieldManager: 'm', force: 'true' } : {}, pick: outcome }),
]);

export default [
  s('items-empty', 'an empty schema of items is written', '{"type":"array","items":{"type":"string"},"anyOf":[{"items":{}},{"minItems":1}]}'),
  s('items-zero', 'a schema of items that holds only zero values is written empty', '{"type":"array","items":{"type":"string"},"anyOf":[{"items":{"title":"","nullable":false}},{"not":{"items":{}}}]}'),
  s('items-empty-deep', 'an empty schema of items below items and below additionalProperties', '{"type":"array","items":{"type":"array","items":{"type":"string"},"anyOf":[{"items":{}}]},"allOf":[{"items":{"items":{}}}]}'),
  s('additional-properties-empty', 'an empty schema of additionalProperties is written', '{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"},"oneOf":[{"items":{}}]},"anyOf":[{"additionalProperties":{}},{"minProperties":1}]}'),
  s('order-items', 'fields and properties below items in the order of their types and names', '{"type":"array","items":{"type":"object","required":["b"],"properties":{"b":{"type":"string","minLength":0},"a":{"type":"object","properties":{"d":{"type":"string"},"c":{"format":"int32","type":"integer"}}}},"description":"d"}}'),
  s('order-additional-properties', 'the same below additionalProperties', '{"type":"object","additionalProperties":{"properties":{"b":{"type":"string"},"a":{"type":"array","items":{"type":"object","description":"x","properties":{"z":{"type":"string"},"y":{"type":"string"}}}}},"type":"object"}}'),
  s('order-default', 'keys of defaults, examples and enums', '{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{"b":1,"a":2,"z":{"d":1,"c":[{"f":1,"e":2}]}},"example":{"b":1,"a":1.0,"c":"<&>"},"enum":[{"b":1,"a":2,"z":{"d":1,"c":[{"f":1,"e":2}]}},{"b":1}]}'),
  s('order-default-below-items', 'keys of defaults below items', '{"type":"array","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"default":{"b":1,"a":{"d":1,"c":2}},"example":{"b":1,"a":2}}}'),
  s('float-small', 'small and large floats', '{"type":"object","properties":{"a":{"type":"number","minimum":1e-7},"b":{"type":"number","minimum":1.5e-9,"maximum":1e21},"c":{"type":"number","minimum":-1e-10,"maximum":1.5e+300},"d":{"type":"number","minimum":0.000001,"maximum":123456789012345680000},"e":{"type":"number","minimum":-0.0,"maximum":1.0}}}'),
  s('float-small-below-items', 'small and large floats below items, in defaults and in enums', '{"type":"array","items":{"type":"number","minimum":1e-7,"maximum":1e21,"default":1.5e-7,"enum":[1.5e-7,1e-7,1e21,1.0,100000000000000000000,9223372036854775807]}}'),
  s('numbers-default', 'numbers of defaults and examples', '{"type":"number","default":1e-7,"example":1e21}'),
  ...['application/strategic-merge-patch+json', 'application/apply-patch+yaml', 'application/merge-patch+json'].flatMap((type) => {
    const [form] = type.slice('application/'.length).split('-');
    return [
      patched(`${form}-length-of-text`, 'a length that is a text, below items', type, { type: 'string', maxLength: '5' }),
      patched(`${form}-required-no-list`, 'required that is no list, below items', type, { type: 'object', required: 'x' }),
      patched(`${form}-properties-no-schema`, 'a property that is no schema, below items', type, { type: 'object', properties: { a: 5 } }),
      patched(`${form}-additional-no-schema`, 'additionalProperties that are no schema, below items', type, { type: 'object', additionalProperties: 'x' }),
      patched(`${form}-good`, 'a schema below items', type, { type: 'object', properties: { b: { type: 'string', maxLength: 5 }, a: { type: 'integer', minimum: 1 } }, required: ['b'] }),
    ];
  }),
];
