/** What the parts of the server ask of feature gates. `--feature-gates` sets them (config/feature-gates.ts). */
import { gateRows } from './gate-rows.ts'

export type Gates = { readonly isOn: (name: string) => boolean }

const onByDefault: ReadonlySet<string> = new Set(
  gateRows.filter(({ isOnByDefault }) => isOnByDefault).flatMap(({ names }) => names),
)

/** As they are when nothing is said. */
export const defaultGates: Gates = { isOn: (name) => onByDefault.has(name) }
