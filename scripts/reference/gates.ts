/** docs/reference/feature-gates.md: every gate of v1.33 and what setting it does here. */
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
    `\`--feature-gates=Name=true,Other=false\`. Keelson knows the ${rows.length} gates of kube-apiserver v1.33; ${gatesActedOn.length} of them change what it does. [gates.md](../gates.md) explains the others.`,
    table(['gate', 'stage', 'default', 'here'], rows),
  )
}

function effect(name: string, { isLocked }: GateRow): string {
  if (isLocked) return 'locked'
  if (unsupportedGates.has(name)) return 'cannot be turned on'
  return gatesActedOn.includes(name) ? 'can be changed' : 'has no effect'
}
