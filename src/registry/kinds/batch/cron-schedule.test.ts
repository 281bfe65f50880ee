import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scheduleFault } from './cron-schedule.ts'
import { isTimeZone } from './time-zone.ts'

test('valid schedules of CronJobs are accepted', () => {
  const good = [
    '@hourly',
    '@every 1h30m',
    '? * * * ?',
    '0 0 1,15 JAN-MAR SUN',
    '*/15 0-23/2 * * *',
    '  0   0 * * *  ',
    'CRON_TZ=Europe/Berlin 0 0 * * *',
  ]
  for (const schedule of good) assert.equal(scheduleFault(schedule), undefined, schedule)
})

test("an invalid schedule is refused with the error text of kube-apiserver's library", () => {
  const faults: readonly (readonly [string, string])[] = [
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['* * * * 7', 'end of range (7) above maximum (6): 7'],
    ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
    ['@often', 'unrecognized descriptor: @often'],
    ['@every 1x', 'failed to parse duration @every 1x: time: unknown unit "x" in duration "1x"'],
    ['TZ=Nowhere 0 0 * * *', 'provided bad location Nowhere: unknown time zone Nowhere'],
  ]
  for (const [schedule, fault] of faults) assert.equal(scheduleFault(schedule), fault)
})

test('the name of a time zone is valid only in its official spelling', () => {
  const good = [
    'UTC',
    'Etc/GMT+5',
    'America/Argentina/Buenos_Aires',
    'EST5EDT',
    'US/Pacific',
    'America/Port_of_Spain',
  ]
  for (const zone of good) assert.equal(isTimeZone(zone), true, zone)
  for (const zone of [
    'utc',
    'europe/berlin',
    'Nowhere',
    'us/pacific',
    'America/buenos_aires',
    'IST',
    'SystemV/EST5',
  ]) {
    assert.equal(isTimeZone(zone), false, zone)
  }
})
