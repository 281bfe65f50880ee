import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  defaultGates,
  defaultGatesOf,
  gatesOf,
  type GateState,
  type GateVersions,
} from './gates.ts'

/** Describes the state of a gate, such as `BETA on`. */
function describe(release: number, name: string, versions?: GateVersions): string {
  const { states, absent } = gatesOf(release, versions)
  const state = states.get(name)
  if (state === undefined) return absent.has(name) ? 'absent' : 'unknown'
  return [
    state.stage,
    state.isOnByDefault ? 'on' : 'off',
    ...(state.isLocked ? ['locked'] : []),
  ].join(' ')
}

/**
 * For each release, the number of gates in each stage, the number of gates that are on by default
 * (`on`), and the number of locked gates. Recorded from the source code of the newest patch version
 * of the release.
 */
const counts: { readonly [release: number]: Readonly<Record<string, number>> } = {
  33: { ALPHA: 58, BETA: 78, GA: 40, DEPRECATED: 15, on: 105, locked: 39 },
  34: { ALPHA: 55, BETA: 75, GA: 63, DEPRECATED: 15, on: 127, locked: 60 },
  35: { ALPHA: 54, BETA: 87, GA: 62, DEPRECATED: 15, on: 137, locked: 62 },
  36: { ALPHA: 50, BETA: 100, GA: 76, DEPRECATED: 16, on: 170, locked: 76 },
  37: { ALPHA: 57, BETA: 109, GA: 71, DEPRECATED: 17, on: 178, locked: 67 },
}

for (const [release, expected] of Object.entries(counts)) {
  test(`the gate table contains the feature gates of Kubernetes 1.${release}`, () => {
    const states = [...gatesOf(Number(release)).states.values()]
    const count = (matches: (state: GateState) => boolean): number => states.filter(matches).length
    const actual = {
      ALPHA: count(({ stage }) => stage === 'ALPHA'),
      BETA: count(({ stage }) => stage === 'BETA'),
      GA: count(({ stage }) => stage === 'GA'),
      DEPRECATED: count(({ stage }) => stage === 'DEPRECATED'),
      on: count(({ isOnByDefault }) => isOnByDefault),
      locked: count(({ isLocked }) => isLocked),
    }
    assert.deepEqual(actual, expected)
  })
}

/** The states of feature gates in Kubernetes 1.33, 1.34, 1.35, 1.36 and 1.37. */
const histories: { readonly [name: string]: readonly string[] } = {
  WatchList: ['BETA off', 'BETA on', 'BETA on', 'BETA on', 'BETA on'],
  MutatingAdmissionPolicy: ['ALPHA off', 'BETA off', 'BETA off', 'GA on', 'GA on'],
  StrictIPCIDRValidation: ['ALPHA off', 'ALPHA off', 'ALPHA off', 'BETA on', 'BETA on'],
  AnonymousAuthConfigurableEndpoints: [
    'BETA on',
    'GA on locked',
    'GA on locked',
    'GA on locked',
    'unknown',
  ],
  DevicePluginCDIDevices: ['GA on locked', 'unknown', 'unknown', 'unknown', 'unknown'],
  AllowServiceExternalIPs: ['unknown', 'unknown', 'unknown', 'GA on', 'GA on'],
  EvictionRequestAPI: ['unknown', 'unknown', 'unknown', 'unknown', 'ALPHA off'],
  TopologyManagerPolicyOptions: ['GA on', 'GA on', 'GA on', 'GA on locked', 'GA on locked'],
}

test('the state of a feature gate depends on the release', () => {
  for (const [name, states] of Object.entries(histories)) {
    const actual = [33, 34, 35, 36, 37].map((release) => describe(release, name))
    assert.deepEqual(actual, states, name)
  }
})

test('a release that emulates an older version has the gate states of that version', () => {
  const states = [34, 35, 36, 37].map((emulated) =>
    describe(37, 'MutatingAdmissionPolicy', { emulated }),
  )
  assert.deepEqual(states, ['BETA off', 'BETA off', 'GA on', 'GA on'])
})

test('a gate that is newer than the emulated version is reported as absent, and a gate of a later release as unknown', () => {
  assert.equal(describe(33, 'DeclarativeValidation', { emulated: 32 }), 'absent')
  assert.equal(describe(33, 'EvictionRequestAPI', { emulated: 32 }), 'unknown')
})

test('a beta gate with a minimum compatibility version is on by default only if all servers have at least this version', () => {
  const name = 'DRAFractionalCapacityRange'
  assert.equal(describe(37, name), 'BETA off')
  assert.equal(describe(37, name, { minCompatibility: 37 }), 'BETA on')
})

test('by default, feature gates have the state of Kubernetes 1.33', () => {
  assert.ok(!defaultGates.isOn('WatchList'))
  assert.ok(defaultGates.isOn('OrderedNamespaceDeletion'))
  assert.ok(!defaultGates.isOn('Unknown'))
})

test('a feature gate that was on when Kubernetes removed the gate stays on', () => {
  assert.equal(gatesOf(37).states.has('JobPodReplacementPolicy'), false)
  assert.equal(defaultGatesOf(37).isOn('JobPodReplacementPolicy'), true)
  assert.equal(defaultGatesOf(37).isOn('InPlacePodVerticalScalingAllocatedStatus'), false)
})
