import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bootstrapPolicy } from '../access/rbac/bootstrap-policy.ts'
import { readPolicy } from '../access/rbac/read-policy.ts'
import { gatesOf } from '../api/gates.ts'
import { defaultMinor, servedMinors } from '../api/releases.ts'
import { linesOfRelease } from '../objects/schema/release-lines.ts'
import { gateHelp, gatesActedOn, parseFeatureGates, unsupportedGates } from './feature-gates.ts'

const gateStates = gatesOf(defaultMinor).states
const unlocked = [...gateStates].filter(([, { isLocked }]) => !isLocked)
const page = join(import.meta.dirname, '..', '..', 'docs', 'gates.md')

test('docs/gates.md explains each gate that can be set in kube-apiserver but has no effect in Keelson', () => {
  const reported = [...readFileSync(page, 'utf8').matchAll(/(?<=\| .*)`([A-Z]\w+)`/g)].map(
    ([, name = '']) => name,
  )
  const unchanged = unlocked.map(([name]) => name).filter((name) => !gatesActedOn.includes(name))
  assert.deepEqual(reported.toSorted(), unchanged.toSorted())
})

const source = join(import.meta.dirname, '..')
const textsOf = (pattern: string, exclude: readonly string[] = []): readonly string[] =>
  globSync(pattern, { cwd: source, exclude: ['**/*.test.ts', ...exclude] }).map((file) =>
    readFileSync(join(source, file), 'utf8'),
  )

/** The strings in code that consist of one word. Code reads gates with such strings. */
const words = textsOf('**/*.ts', ['config/feature-gates.ts']).flatMap((text) =>
  [...text.matchAll(/'(\w+)'/g)].map(([, word = '']) => word),
)
const catalogue = textsOf('registry/catalogue/*.ts')

/** Returns the gates that a server of this release reads from code, field types and roles. */
function gatesReadIn(release: number): readonly string[] {
  const read = new Set(words)
  for (const text of catalogue)
    for (const [, gates = ''] of linesOfRelease(text, release).matchAll(/ gate=(\S+)/g))
      for (const gate of gates.split(';')) read.add(gate.split(':')[0] ?? '')
  const isOn = (name: string): boolean => {
    read.add(name)
    return true
  }
  readPolicy(bootstrapPolicy, { release, isOn })
  return [...gatesOf(release).states.keys()].filter((name) => read.has(name))
}

/** Gates in the list that no other code reads. */
const unread = [
  'AllAlpha',
  'AllBeta',
  'InPlacePodVerticalScalingAllocatedStatus',
  'ListFromCacheSnapshot',
]

test('the list of supported gates has exactly the gates that a served release reads', () => {
  const read = new Set([...servedMinors.flatMap(gatesReadIn), ...unread])
  assert.deepEqual(
    [...read].filter((name) => !gatesActedOn.includes(name)),
    [],
    'the list does not have these gates',
  )
  assert.deepEqual(
    gatesActedOn.filter((name) => !read.has(name)),
    [],
    'no served release reads these gates',
  )
})

test('locked gates are reported with their locked value in the list of all gates', () => {
  const shown = new Map(parseFeatureGates([]).gates.all.map(({ name, isOn }) => [name, isOn]))
  for (const [name, { isLocked, isOnByDefault }] of gateStates)
    if (isLocked) assert.equal(shown.get(name), isOnByDefault, name)
})

test('the help text lists each supported gate that is not locked, with its stage and default', () => {
  const lines = gateHelp(defaultMinor)
  assert.ok(lines.includes('kube:APIResponseCompression=true|false (BETA - default=true)'))
  assert.ok(lines.includes('kube:MutatingAdmissionPolicy=true|false (ALPHA - default=false)'))
  assert.ok(lines.includes('kube:KMSv1=true|false (DEPRECATED - default=false)'))
  assert.ok(
    !lines.some((line) => line.startsWith('kube:AnyVolumeDataSource=')),
    'locked gates cannot be changed',
  )
  assert.deepEqual(lines, lines.toSorted())
})

test('a gate that is on by default, but whose feature Keelson does not have, is accepted and stays off', () => {
  const { gates, faults } = parseFeatureGates(['ContextualLogging=true', 'WatchList=true'])
  assert.deepEqual(faults, [])
  const shown = gates.all.filter(({ name }) => ['ContextualLogging', 'WatchList'].includes(name))
  assert.deepEqual(Object.fromEntries(shown.map(({ name, isOn }) => [name, isOn])), {
    ContextualLogging: false,
    WatchList: true,
  })
  assert.ok(!gates.isOn('ContextualLogging'))
})

test('every gate that is on by default and not locked can be disabled', () => {
  for (const [name] of unlocked.filter(([, { isOnByDefault }]) => isOnByDefault)) {
    const { gates, faults } = parseFeatureGates([`${name}=false`])
    assert.deepEqual(faults, [])
    assert.ok(!gates.isOn(name), name)
  }
})

test('enabling the gate of a feature that Keelson does not have is refused', () => {
  for (const name of unsupportedGates) {
    assert.deepEqual(parseFeatureGates([`${name}=true`]).faults, [
      `--feature-gates: ${name}=true is not supported: leave it out`,
    ])
    assert.deepEqual(parseFeatureGates([`${name}=false`]).faults, [])
  }
})

test('AllBeta disables all beta gates except those that the flag names, regardless of the order in the flag', () => {
  for (const entries of [
    ['AllBeta=false', 'APIServerTracing=true'],
    ['APIServerTracing=true', 'AllBeta=false'],
  ]) {
    const { gates, faults } = parseFeatureGates(entries)
    assert.deepEqual(faults, [])
    const on = gates.all
      .filter(({ stage, isOn }) => stage === 'BETA' && isOn)
      .map(({ name }) => name)
    const locked = [...gateStates].filter(
      ([, { stage, isLocked, isOnByDefault }]) => stage === 'BETA' && isLocked && isOnByDefault,
    )
    assert.deepEqual(
      on.toSorted(),
      ['APIServerTracing', ...locked.map(([name]) => name)].toSorted(),
    )
  }
})

test('AllAlpha enables all alpha gates except those of features that Keelson does not have', () => {
  const { gates, faults } = parseFeatureGates(['AllAlpha=true', 'HPAScaleToZero=false'])
  assert.deepEqual(faults, [])
  const off = gates.all
    .filter(({ stage, isOn }) => stage === 'ALPHA' && !isOn)
    .map(({ name }) => name)
  assert.deepEqual(off.toSorted(), ['HPAScaleToZero', ...unsupportedGates].toSorted())
})

test('AllAlpha does not enable a gate that does not exist in the emulated version', () => {
  const { gates } = parseFeatureGates(['AllAlpha=true', 'AllBeta=true'], {
    release: 33,
    minor: 31,
    minCompatibility: 31,
  })
  assert.ok(!gates.all.some(({ name }) => name === 'DeclarativeValidation'))
  assert.ok(!gates.isOn('DeclarativeValidation'))
})

const faultsIn = (minor: number, ...entries: readonly string[]) =>
  parseFeatureGates(entries, { release: minor, minor, minCompatibility: minor - 1 }).faults

test('since 1.35, a gate cannot be on if it depends on a gate that is off', () => {
  const entry = 'MatchLabelKeysInPodTopologySpread=false'
  const fault =
    'MatchLabelKeysInPodTopologySpreadSelectorMerge is enabled, but depends on features that are disabled: [MatchLabelKeysInPodTopologySpread]'
  assert.deepEqual([faultsIn(34, entry), faultsIn(35, entry)], [[], [fault]])
})

test('the default gates of each release have all gates on which they depend', () => {
  for (const minor of [33, 34, 35, 36, 37]) assert.deepEqual(faultsIn(minor), [])
})
