/**
 * Generates docs/reference/feature-gates.md: every feature gate of v1.33, and the effect of setting
 * it.
 */
import { gatesOf, type GateState } from '../../src/api/gates.ts'
import { defaultMinor } from '../../src/api/releases.ts'
import { gatesActedOn, unsupportedGates } from '../../src/config/feature-gates.ts'
import { code, type Page, page, table } from './markdown.ts'

export function gatesPage(): Page {
  const rows = [...gatesOf(defaultMinor).states]
    .map(([name, gate]) => [
      code(name),
      gate.stage,
      gate.isOnByDefault ? 'on' : 'off',
      effect(name, gate),
    ])
    .toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1))
  const count = (wanted: string): number => rows.filter((row) => row.at(-1) === wanted).length
  return page(
    'feature-gates.md',
    'Feature gates',
    `Feature gates are set with \`--feature-gates=Name=true,Other=false\`. Keelson knows the ${rows.length} gates of
kube-apiserver v1.33. ${count('supported')} of them have an effect, and ${count('locked')} are locked, which means that they
cannot be changed from their default. [Gates](../gates.md) explains why the others have no effect.`,
    table(['Gate', 'Stage', 'Default', 'In Keelson'], rows),
  )
}

/**
 * Gates for features that Keelson always enables, or that only the kubelet uses (docs/gates.md).
 */
const gatesWithoutEffect: ReadonlySet<string> = new Set([
  'InPlacePodVerticalScalingAllocatedStatus',
  'ListFromCacheSnapshot',
])

function effect(name: string, { isLocked }: GateState): string {
  if (isLocked) return 'locked'
  if (unsupportedGates.has(name)) return 'cannot be enabled'
  return gatesActedOn.includes(name) && !gatesWithoutEffect.has(name) ? 'supported' : 'no effect'
}
