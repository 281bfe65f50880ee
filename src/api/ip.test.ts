import assert from 'node:assert/strict'
import { isIPv6 } from 'node:net'
import { test } from 'node:test'
import { contains, formatCidr, formatIp, isGlobalUnicast, parseCidr, parseIp } from './ip.ts'

const canonical = (text: string): string | undefined => {
  const ip = parseIp(text)
  return ip && formatIp(ip)
}

test('IP addresses with leading zeros, uppercase letters or an embedded IPv4 address are formatted in canonical form', () => {
  const cases = [
    ['10.0.0.1', '10.0.0.1'],
    ['010.001.0.1', '10.1.0.1'],
    ['::', '::'],
    ['::1', '::1'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['1::', '1::'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ] as const
  for (const [text, expected] of cases) assert.equal(canonical(text), expected, text)
})

test('a string that is not an IP address is not parsed', () => {
  for (const text of [
    '',
    'x',
    '1.2.3',
    '1.2.3.256',
    '1.2.3.4.5',
    '1.2.3.4 ',
    'fe80::1%eth0',
    ':::',
    '1'.repeat(100),
  ]) {
    assert.equal(parseIp(text), undefined, text)
  }
})

test('parseCidr returns the first and the last address of a CIDR', () => {
  const range = parseCidr('10.1.2.3/16')
  assert.ok(range)
  assert.equal(formatCidr(range), '10.1.0.0/16')
  assert.equal(formatIp({ family: 'IPv4', value: range.last }), '10.1.255.255')
  const inside = parseIp('10.1.7.7')
  const outside = parseIp('10.2.0.0')
  assert.ok(inside && outside && contains(range, inside) && !contains(range, outside))
  const mapped = parseCidr('::ffff:10.0.0.0/104')
  assert.equal(mapped && formatCidr(mapped), '10.0.0.0/8')
})

test('a string that is not a CIDR is not parsed', () => {
  for (const text of [
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '::/129',
    '::ffff:10.0.0.0/8',
    'x/8',
  ]) {
    assert.equal(parseCidr(text), undefined, text)
  }
})

test('an address is global unicast only if it can identify a single other machine', () => {
  const others =
    '10.0.0.1 192.168.0.1 8.8.8.8 255.255.255.254 126.255.255.255 128.0.0.1 2001:db8::1 fd00::1 ::ffff:10.0.0.1'
  for (const text of others.split(' ')) assert.ok(isGlobalUnicast(text), text)
  const not = `0.0.0.0 127.0.0.1 127.255.255.255 169.254.169.254 224.0.0.1 239.0.0.1 255.255.255.255 :: ::1 fe80::1 fe80::1%eth0
    ff02::1 ff05::1 ::ffff:127.0.0.1 ::ffff:0.0.0.0 localhost`
  for (const text of [...not.split(/\s+/), '']) assert.ok(!isGlobalUnicast(text), text)
})

const groups = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => (at % 2 === 0 ? 'ab' : 'F000'))

test('parseIp accepts the same IPv6 addresses as isIPv6 in Node', () => {
  const counts = Array.from({ length: 10 }, (_, count) => count)
  const lasts = [
    '',
    '0',
    '10000',
    'g',
    '-1',
    ' 1',
    '1.2.3.4',
    '01.2.3.4',
    '1.2.3.04',
    '1.2.3.256',
    '1.2.3',
    '1%a',
    '1::',
    ':',
  ]
  const joints = ['::', ':', ':::']
  let addresses = 0
  for (const before of counts) {
    for (const after of counts) {
      for (const joint of joints) {
        for (const last of lasts) {
          const text = `${groups(before).join(':')}${joint}${[...groups(after), ...(last === '' ? [] : [last])].join(':')}`
          const expected = isIPv6(text) && !text.includes('%')
          if (expected) addresses++
          assert.equal(parseIp(text) !== undefined, expected, text)
        }
      }
    }
  }
  assert.ok(addresses > 100, `${addresses}`)
})
