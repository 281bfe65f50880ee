import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultGatesOf, type Gates, gatesOf, startsOn } from '../../api/gates.ts'
import type { Fields } from '../../api/object.ts'
import type { LevelVersion } from '../../api/pod-security-level.ts'
import { printViolations, violations } from './evaluate.ts'
import { viewPod } from './pod-view.ts'

const careful = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
  runAsNonRoot: true,
}

type PodInput = {
  readonly release?: number
  readonly emulated?: number
  readonly level?: LevelVersion['level']
  readonly version?: LevelVersion['version']
  readonly spec?: Fields
  readonly container?: Fields
}

function found({
  release = 35,
  emulated = release,
  level = 'baseline',
  version = 'latest',
  spec = {},
  container = {},
}: PodInput): string {
  const whole = { containers: [{ name: 'c', image: 'i', ...container }], ...spec }
  const gates = { ...defaultGatesOf(release), emulated }
  return printViolations(violations(viewPod(undefined, whole, gates), { level, version }))
}

test('since version 1.34, baseline forbids hosts of probes and lifecycle handlers', () => {
  const container = {
    livenessProbe: { httpGet: { host: 'b', port: 1 } },
    lifecycle: { preStop: { tcpSocket: { host: 'a', port: 1 } } },
  }
  const why = 'probe or lifecycle host (container "c" uses probe or lifecycle hosts "a", "b")'
  assert.equal(found({ container }), why)
  assert.equal(found({ container, version: 33 }), '')
  assert.equal(found({ container, release: 33 }), '')
  assert.equal(found({ container, release: 33, version: 35 }), '')
})

test('since version 1.35, a pod with a user namespace can run as root', () => {
  const spec = { hostUsers: false }
  const container = { securityContext: { ...careful, runAsNonRoot: false, runAsUser: 0 } }
  const level = 'restricted'
  assert.equal(found({ level, spec, container }), '')
  assert.match(found({ level, spec, container, version: 34 }), /^runAsNonRoot != true/)
  assert.match(found({ level, spec, container, release: 34 }), /^runAsNonRoot != true/)
  assert.match(found({ level, spec, container, emulated: 34 }), /^runAsNonRoot != true/)
  assert.match(found({ level, container }), /^runAsNonRoot != true/)
})

test('since version 1.35, only baseline tolerates procMount in a user namespace', () => {
  const spec = { hostUsers: false }
  const container = { securityContext: { ...careful, procMount: 'Unmasked' } }
  assert.equal(found({ spec, container }), '')
  assert.match(found({ level: 'restricted', spec, container }), /^procMount/)
  assert.match(found({ spec, container, version: 34 }), /^procMount/)
})

test('a server of 1.34 that emulates 1.33 accepts hosts of probes', () => {
  const container = { livenessProbe: { httpGet: { host: 'b', port: 1 } } }
  const spec = { containers: [{ name: 'c', image: 'i', ...container }] }
  const foundBy = (gates: Gates): number =>
    violations(viewPod(undefined, spec, gates), { level: 'baseline', version: 'latest' }).length
  assert.equal(foundBy(defaultGatesOf(34)), 1)
  const older = gatesOf(34, { emulated: 33 })
  const isOn = (name: string): boolean => startsOn(older, name)
  assert.equal(foundBy({ release: 34, emulated: 33, isOn }), 0)
})
