import { doesNotThrow, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { checkMembers, countValues, MEMBERS_MAX } from './member-count.ts'

const members = (count: number): string =>
  Array.from({ length: count }, (_, at) => `"a${at}":0`).join()
const check = (text: string) => (): void => checkMembers(Buffer.from(text))
const tooMany = { code: 413, message: /^Request entity too large: .* 98304 members/ }

test('an object can have at most MEMBERS_MAX members', () => {
  doesNotThrow(check(`{"a":{${members(MEMBERS_MAX)}}}`))
  throws(check(`{"a":{${members(MEMBERS_MAX + 1)}}}`), tooMany)
  throws(check(`{${members(MEMBERS_MAX)},"a":{},"b":1}`), tooMany)
  throws(check(`[{"b":[{},{"c":{}}],${members(MEMBERS_MAX)}}]`), tooMany)
})

test('an object in a truncated JSON text is rejected if it has too many members', () => {
  throws(check(`{"a":{${members(MEMBERS_MAX + 1)}`), tooMany)
  throws(check(`{${members(MEMBERS_MAX + 1)},"a":{`), tooMany)
})

test('members of other objects, list items and the contents of strings do not count toward the limit of members', () => {
  const half = `{${members(MEMBERS_MAX / 2 + 1)}}`
  doesNotThrow(check(`{"a":${half},"b":[${half},${half}],"c":${half}}`))
  doesNotThrow(check(`[${'0,'.repeat(500_000)}0]`))
  doesNotThrow(check(`{"a":"${':'.repeat(500_000)}","b":"${'\\":'.repeat(100_000)}","c":"\\\\"}`))
})

test('counting members accepts invalid JSON, because the decoder reports the error', () => {
  doesNotThrow(check('}'.repeat(500_000)))
  doesNotThrow(check(`"${'\\'.repeat(500_001)}`))
})

const count = (text: string): number => countValues(Buffer.from(text))

test('the values in a JSON text are counted at every depth', () => {
  equal(count('{"a":[{},{},{}],"b":"{,[","c":{"d":1}}'), 8)
  equal(count(`[${Array(1000).fill('1').join()}]`), 1001)
})
