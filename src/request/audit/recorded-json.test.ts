import { ok, strictEqual } from 'node:assert'
import { describe, it } from 'node:test'
import { Slices, type Steps } from '../../lib/scheduling/slices.ts'
import { systemTime } from '../../lib/time/timers.ts'
import { recordedObject, recordedPatch } from './recorded-json.ts'

function ended(steps: Steps<Buffer>): { readonly text: string; readonly steps: number } {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next()
    if (done === true) return { text: value.toString(), steps: count }
  }
}

/**
 * Time slices that are already over at each check of the clock, so that the work pauses at each
 * check.
 */
function shortSlices(): Slices {
  let nowMs = 0
  return new Slices({ ...systemTime, monotonicMs: () => (nowMs += 2) })
}

const recorded = (json: string, omitsManagedFields: boolean): string =>
  ended(recordedObject(Buffer.from(json), omitsManagedFields)).text

const patchOf = (body: string): string => ended(recordedPatch(Buffer.from(body))).text

describe('objects are converted to the form in which the audit log records them', () => {
  const cases: readonly (readonly [what: string, json: string, expected: string])[] = [
    [
      'the last member',
      '{"metadata":{"name":"a","managedFields":[{}]},"x":1}\n',
      '{"metadata":{"name":"a"},"x":1}',
    ],
    [
      'the first member',
      '{"metadata":{"managedFields":[{}],"name":"a"}}',
      '{"metadata":{"name":"a"}}',
    ],
    [
      'a member between others',
      '{"metadata":{"a":1,"managedFields":[],"b":2}}',
      '{"metadata":{"a":1,"b":2}}',
    ],
    ['the only member', '{"metadata":{"managedFields":[{}]}}', '{"metadata":{}}'],
    [
      'a field of that name elsewhere is kept',
      '{"data":{"managedFields":"x"}}',
      '{"data":{"managedFields":"x"}}',
    ],
    [
      'a field of that name below metadata is kept',
      '{"metadata":{"annotations":{"managedFields":"x"}}}',
      '{"metadata":{"annotations":{"managedFields":"x"}}}',
    ],
    [
      'in the items of a list',
      '{"kind":"List","metadata":{},"items":[{"metadata":{"managedFields":[1]}},{"metadata":{"name":"b","managedFields":[2]}}]}',
      '{"kind":"List","metadata":{},"items":[{"metadata":{}},{"metadata":{"name":"b"}}]}',
    ],
    [
      'in the rows of a table',
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
    it(`managedFields are removed from a recorded object: ${what}`, () => {
      strictEqual(recorded(json, true), expected)
      strictEqual(recorded(json, false), json.trimEnd())
    })
  }
})

describe('patches are converted to the form in which the audit log records them', () => {
  it('a patch is recorded on one line', () => {
    strictEqual(
      patchOf('[\n  {"op": "add", "value": "a b\\n"}\n]\n'),
      '[{"op":"add","value":"a b\\n"}]',
    )
  })
  it('a patch that is not JSON is recorded as a string', () => {
    strictEqual(patchOf('kind: ConfigMap\n'), '"kind: ConfigMap\\n"')
    strictEqual(patchOf('{"a":1} {"b":2}'), '"{\\"a\\":1} {\\"b\\":2}"')
    strictEqual(patchOf(''), '""')
  })
  it('a long patch is serialized for the audit log in many steps', () => {
    const list = Array.from({ length: 10_000 }, (_, at) => ({
      op: 'add',
      path: `/data/k ${at}`,
      value: ['a "b"', at, {}],
    }))
    const { text, steps } = ended(
      recordedPatch(Buffer.from(` ${JSON.stringify(list, null, 2)}\n`), shortSlices()),
    )
    strictEqual(text, JSON.stringify(list))
    ok(steps > 50, `${steps}`)
  })
  it('a long patch that is not JSON is serialized in many steps without splitting a character', () => {
    for (const before of ['', ' ']) {
      const body = `${before}${'\u{1f600}'.repeat(100_000)}\n`
      const { text, steps } = ended(recordedPatch(Buffer.from(body), shortSlices()))
      strictEqual(text, JSON.stringify(body))
      ok(steps > 3, `${steps}`)
    }
    strictEqual(patchOf(`[${'1 '.repeat(10_000)}]`), `"[${'1 '.repeat(10_000)}]"`)
  })
})
