import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IpFamily } from '../../../api/ip.ts'
import type { Fields } from '../../../api/object.ts'
import { settleFamilies } from './service-families.ts'

const single: readonly IpFamily[] = ['IPv4']
const dual: readonly IpFamily[] = ['IPv4', 'IPv6']

function settled(spec: Fields, cluster: readonly IpFamily[], before?: Fields): unknown {
  const result = settleFamilies({ type: 'ClusterIP', ...spec }, before, cluster)
  if ('faults' in result) return result.faults.map(({ path, message }) => `${path}: ${message}`)
  const { ipFamilies, ipFamilyPolicy } = result.spec
  return [ipFamilies, ipFamilyPolicy]
}

test('the IP families of a new Service depend on its fields and on the families of the cluster', () => {
  const free = { clusterIP: 'None', clusterIPs: ['None'] }
  const prefer = { ipFamilyPolicy: 'PreferDualStack' }
  assert.deepEqual(settled({}, single), [['IPv4'], 'SingleStack'])
  assert.deepEqual(settled({}, dual), [['IPv4'], 'SingleStack'])
  assert.deepEqual(settled(prefer, single), [['IPv4'], 'PreferDualStack'])
  assert.deepEqual(settled(prefer, dual), [['IPv4', 'IPv6'], 'PreferDualStack'])
  assert.deepEqual(settled({ ...prefer, ipFamilies: ['IPv6'] }, dual), [
    ['IPv6', 'IPv4'],
    'PreferDualStack',
  ])
  assert.deepEqual(settled(free, single), [['IPv4', 'IPv6'], 'RequireDualStack'])
  assert.deepEqual(settled({ ...free, selector: { a: 'b' } }, single), [['IPv4'], 'SingleStack'])
  const two = { clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.0.0.1'] }
  assert.deepEqual(settled({ ...two, ...prefer }, dual), [['IPv6', 'IPv4'], 'PreferDualStack'])
  assert.deepEqual(settled(two, dual), [
    `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified`,
  ])
})

test('if an IP family is not supported by the cluster, only this error is reported', () => {
  assert.deepEqual(settled({ ipFamilyPolicy: 'RequireDualStack' }, single), [
    'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
  ])
  assert.deepEqual(settled({ ipFamilies: ['IPv6'] }, single), [
    'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ])
})

test('a Service that changes to SingleStack loses its second IP family', () => {
  const before = {
    type: 'ClusterIP',
    clusterIPs: ['10.0.0.1', 'fd00::1'],
    ipFamilies: ['IPv4', 'IPv6'],
  }
  const now = { ...before, clusterIP: '10.0.0.1', ipFamilyPolicy: 'SingleStack' }
  assert.deepEqual(settled(now, dual, { ...before, ipFamilyPolicy: 'RequireDualStack' }), [
    ['IPv4'],
    'SingleStack',
  ])
})

test('an update without IP families keeps the stored families, and removing a family requires SingleStack', () => {
  const before = {
    type: 'ClusterIP',
    clusterIPs: ['10.0.0.1', 'fd00::1'],
    ipFamilies: ['IPv4', 'IPv6'],
  }
  const prefer = { ...before, ipFamilyPolicy: 'PreferDualStack' }
  const bare = { clusterIP: '10.0.0.1', clusterIPs: before.clusterIPs }
  assert.deepEqual(settled(bare, dual, prefer), [['IPv4', 'IPv6'], 'PreferDualStack'])
  assert.deepEqual(settled({ ...bare, ipFamilies: ['IPv4'] }, dual, prefer), [
    `spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be 'SingleStack' to release the secondary IP family`,
  ])
})

test('an existing Service with PreferDualStack does not change when the cluster becomes dual-stack', () => {
  const before = {
    type: 'ClusterIP',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'PreferDualStack',
  }
  assert.deepEqual(settled({ ...before, clusterIP: '10.0.0.1' }, dual, before), [
    ['IPv4'],
    'PreferDualStack',
  ])
})

const wrongIp = (at: number, ip: string): string =>
  `spec.clusterIPs[${at}]: Invalid value: "${ip}": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`

test('an update of a Service can repeat a cluster IP of the stored Service', () => {
  const spec = { clusterIP: '', clusterIPs: ['', 'None'] }
  const empty =
    'spec.clusterIPs: Invalid value: []string{"", "None"}: must be empty when `clusterIP` is not specified'
  assert.deepEqual(settled(spec, single), [empty, wrongIp(0, ''), wrongIp(1, 'None')])
  assert.deepEqual(settled(spec, single, { clusterIPs: ['None'] }), [empty, wrongIp(0, '')])
})

test('the addresses after None in clusterIPs are also validated', () => {
  assert.deepEqual(settled({ clusterIP: 'None', clusterIPs: ['None', 'x'] }, single), [
    `spec.clusterIPs: Invalid value: []string{"None", "x"}: 'None' must be the first and only value`,
    wrongIp(1, 'x'),
  ])
})
