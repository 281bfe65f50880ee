import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMicroTime, parseTime } from './time.ts'

const layout = '2006-01-02T15:04:05Z07:00'
const cannot = (text: string, rest: string, part: string): string =>
  `parsing time "${text}" as "${layout}": cannot parse "${rest}" as "${part}"`

test('times are formatted in UTC, to the second', () => {
  const cases = [
    ['2020-01-02T03:04:05Z', '2020-01-02T03:04:05Z'],
    ['2020-01-02T03:04:05+02:00', '2020-01-02T01:04:05Z'],
    ['2020-01-02T03:04:05.999Z', '2020-01-02T03:04:05Z'],
    ['2020-02-29T23:59:59-01:00', '2020-03-01T00:59:59Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['1969-12-31T23:59:59Z', '1969-12-31T23:59:59Z'],
  ] as const
  for (const [given, text] of cases) assert.deepEqual(parseTime(given), { text }, given)
})

test('an invalid time is rejected with the messages of Go', () => {
  const cases = [
    ['now', cannot('now', 'now', '2006')],
    ['', cannot('', '', '2006')],
    ['2020-01-02', cannot('2020-01-02', '', 'T')],
    ['2020-01-02 03:04:05', cannot('2020-01-02 03:04:05', ' 03:04:05', 'T')],
    ['2020-01-02T03:04:05', cannot('2020-01-02T03:04:05', '', 'Z07:00')],
    [
      '2020-01-02T03:04:05Zü',
      'parsing time "2020-01-02T03:04:05Z\\xc3\\xbc": extra text: "\\xc3\\xbc"',
    ],
    ['2020-13-02T03:04:05Z', 'parsing time "2020-13-02T03:04:05Z": month out of range'],
    ['2020-02-30T03:04:05Z', 'parsing time "2020-02-30T03:04:05Z": day out of range'],
    ['9999-12-31T23:59:59-23:00', 'parsing time "9999-12-31T23:59:59-23:00": year out of range'],
    ['0000-01-01T00:00:00+23:00', 'parsing time "0000-01-01T00:00:00+23:00": year out of range'],
    ['2020-01-02T25:04:05Z', 'parsing time "2020-01-02T25:04:05Z": hour out of range'],
  ] as const
  for (const [given, fault] of cases) assert.deepEqual(parseTime(given), { fault }, given)
})

test('a MicroTime has six fractional digits', () => {
  assert.deepEqual(parseMicroTime('2020-01-02T03:04:05.123456+01:00'), {
    text: '2020-01-02T02:04:05.123456Z',
  })
  assert.deepEqual(parseMicroTime('2020-01-02T03:04:05Z'), {
    fault:
      'parsing time "2020-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  })
})

test('a date is accepted only if the day exists in this year', () => {
  for (const year of ['2023', '2024', '0001', '9999']) {
    for (let month = 1; month <= 12; month++) {
      for (let day = 0; day <= 32; day++) {
        const date = `${year}-${`${month}`.padStart(2, '0')}-${`${day}`.padStart(2, '0')}`
        const isThere =
          !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date)
        for (const [parse, text] of [
          [parseTime, `${date}T23:59:59Z`],
          [parseMicroTime, `${date}T00:00:00.000001Z`],
        ] as const)
          assert.deepEqual(
            parse(text),
            isThere ? { text } : { fault: `parsing time "${text}": day out of range` },
          )
      }
    }
  }
})

test('a formatted time can be parsed again', () => {
  for (const given of [
    '9999-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
    '0099-02-03T04:05:06+07:00',
    '2020-02-29T23:59:60Z',
  ]) {
    const once = parseTime(given)
    if ('text' in once) assert.deepEqual(parseTime(once.text), once)
  }
})
