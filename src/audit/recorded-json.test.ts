import { strictEqual } from 'node:assert'
import { describe, it } from 'node:test'
import { recordedObject, recordedPatch } from './recorded-json.ts'

function recorded(json: string, omitsManagedFields: boolean): string {
  const steps = recordedObject(Buffer.from(json), omitsManagedFields)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

describe('recorded objects', () => {
  const cases: readonly (readonly [what: string, json: string, expected: string])[] = [
    ['the last member', '{"metadata":{"name":"a","managedFields":[{}]},"x":1}\n', '{"metadata":{"name":"a"},"x":1}'],
    ['the first member', '{"metadata":{"managedFields":[{}],"name":"a"}}', '{"metadata":{"name":"a"}}'],
    ['a member between others', '{"metadata":{"a":1,"managedFields":[],"b":2}}', '{"metadata":{"a":1,"b":2}}'],
    ['the only member', '{"metadata":{"managedFields":[{}]}}', '{"metadata":{}}'],
    ['none elsewhere', '{"data":{"managedFields":"x"}}', '{"data":{"managedFields":"x"}}'],
    [
      'none below metadata',
      '{"metadata":{"annotations":{"managedFields":"x"}}}',
      '{"metadata":{"annotations":{"managedFields":"x"}}}',
    ],
    [
      'of items',
      '{"kind":"List","metadata":{},"items":[{"metadata":{"managedFields":[1]}},{"metadata":{"name":"b","managedFields":[2]}}]}',
      '{"kind":"List","metadata":{},"items":[{"metadata":{}},{"metadata":{"name":"b"}}]}',
    ],
    [
      'of rows',
      '{"kind":"Table","rows":[{"cells":["a"],"object":{"metadata":{"name":"a","managedFields":[1]}}},{"object":null}]}',
      '{"kind":"Table","rows":[{"cells":["a"],"object":{"metadata":{"name":"a"}}},{"object":null}]}',
    ],
    [
      'large numbers are kept',
      '{"metadata":{"managedFields":[]},"n":9007199254740993}',
      '{"metadata":{},"n":9007199254740993}',
    ],
  ]
  for (const [what, json, expected] of cases) {
    it(`are without managedFields: ${what}`, () => {
      strictEqual(recorded(json, true), expected)
      strictEqual(recorded(json, false), json.trimEnd())
    })
  }
})

describe('recorded patches', () => {
  it('stand on one line', () => {
    strictEqual(
      recordedPatch(Buffer.from('[\n  {"op": "add", "value": "a b\\n"}\n]\n')),
      '[{"op":"add","value":"a b\\n"}]',
    )
  })
  it('that are not JSON are strings', () => {
    strictEqual(recordedPatch(Buffer.from('kind: ConfigMap\n')), '"kind: ConfigMap\\n"')
    strictEqual(recordedPatch(Buffer.from('{"a":1} {"b":2}')), '"{\\"a\\":1} {\\"b\\":2}"')
  })
})
