import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patchAnnotation } from './patch-annotation.ts'

const shown = (patch: string): string =>
  patchAnnotation({ configuration: 'x', webhook: 'h.example.com', patch })
const around = (patch: string): string =>
  `{"configuration":"x","webhook":"h.example.com","patch":${patch},"patchType":"JSONPatch"}`

test('in a patch annotation, operations are written without whitespace, and their members are sorted by name', () => {
  const spaced =
    '\n[ { "value" : { "z": 1.50,  "a": "b c" }, "path": "/data", "op": "add" }, {"op":"remove", "path":"/x"} ] '
  const expected =
    '[{"op":"add","path":"/data","value":{"z":1.50,"a":"b c"}},{"op":"remove","path":"/x"}]'
  assert.equal(shown(spaced), around(expected))
})

test('if a member of a patch operation is repeated, the last one is used, and unknown members are kept', () => {
  const expected = '[{"note":[],"op":"add","path":"/a","value":2}]'
  assert.equal(shown('[{"op":"add","path":"/a","value":1,"value":2,"note":[]}]'), around(expected))
})

test('characters in a patch annotation are escaped as in Go', () => {
  assert.equal(
    shown('[{"op":"add","path":"/<","value":"&"}]'),
    around('[{"op":"add","path":"/\\u003c","value":"\\u0026"}]'),
  )
})
