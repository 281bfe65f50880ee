/**
 * Generates docs/reference/feature-gates.md: every feature gate of v1.33, and the effect of setting
 * it.
 */
import { type GateRow, gateRows } from '../../src/api/gate-rows.ts'
import { gatesActedOn, unsupportedGates } from '../../src/config/feature-gates.ts'
import { code, type Page, page, table } from './markdown.ts'

export function gatesPage(): Page {
  const rows = gateRows
    .flatMap((row) =>
      row.names.map((name) => [
        code(name),
        row.stage,
        row.isOnByDefault ? 'on' : 'off',
        effect(name, row),
      ]),
    )
    .toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1))
  return page(
    'feature-gates.md',
    'Feature gates',
    `Feature gates are set with \`--feature-gates=Name=true,Other=false\`. Keelson knows the ${rows.length} gates of
kube-apiserver v1.33, and supports ${gatesActedOn.length} of them. [Gates](../gates.md) explains why others have no
effect. A locked gate cannot be changed from its default.`,
    table(['Gate', 'Stage', 'Default', 'In Keelson'], rows),
  )
}

function effect(name: string, { isLocked }: GateRow): string {
  if (isLocked) return 'locked'
  if (unsupportedGates.has(name)) return 'cannot be enabled'
  return gatesActedOn.includes(name) ? 'supported' : 'no effect'
}
