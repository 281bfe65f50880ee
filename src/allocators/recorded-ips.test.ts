import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCidr } from '../api/ip.ts'
import { NumberSet } from './number-set.ts'
import { lastOf } from './ip-records.ts'
import { RecordedIps } from './recorded-ips.ts'

const parent = { namespace: 'n', name: 's' }
const wet = { isDryRun: false }
const dry = { isDryRun: true }

function poolOf(text: string): { readonly ips: RecordedIps; readonly set: NumberSet } {
  const cidr = parseCidr(text) ?? assert.fail(text)
  const set = new NumberSet({ first: 0, last: lastOf(cidr), named: 0 }, Buffer.alloc(0), () => 0)
  return { ips: new RecordedIps([{ cidr, record: { change: async (change) => change(set) } }]), set }
}

const refused = (text: string, range: string): object => ({
  message: `the provided IP (${text}) is not in the valid range. The range of valid IPs is ${range}`,
})

test('an address is had once, until it is given back', async () => {
  const { ips, set } = poolOf('10.0.0.0/29')
  await ips.take('10.0.0.6', parent, wet)
  await assert.rejects(ips.take('10.0.0.6', parent, wet), { message: 'provided IP is already allocated' })
  assert.equal(await ips.takeAny('IPv4', parent, wet), '10.0.0.1')
  assert.deepEqual(set.list(), [0, 5])
  await ips.release('10.0.0.6', parent)
  await ips.release('10.9.0.6', parent)
  assert.deepEqual(set.list(), [0])
})

test('neither the network nor the broadcast is an address; of IPv6 a record has 65,535', async () => {
  const { ips } = poolOf('10.0.0.0/29')
  for (const text of ['10.0.0.0', '10.0.0.7', '10.0.1.1']) {
    await assert.rejects(ips.take(text, parent, wet), refused(text, '10.0.0.0/29'))
  }
  const six = poolOf('fd00::/108').ips
  await six.take('fd00::ffff', parent, wet)
  await assert.rejects(six.take('fd00::1:0', parent, wet), refused('fd00::1:0', 'fd00::/108'))
})

test('a full range has none; a dry run takes none and does not look', async () => {
  const { ips, set } = poolOf('10.0.0.0/30')
  await ips.takeAny('IPv4', parent, wet)
  await ips.takeAny('IPv4', parent, wet)
  await assert.rejects(ips.takeAny('IPv4', parent, wet), { message: 'range is full' })
  assert.equal(await ips.takeAny('IPv4', parent, dry), '10.0.0.0')
  await ips.take('10.0.0.1', parent, dry)
  assert.deepEqual(set.list(), [0, 1])
})
