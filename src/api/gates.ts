/**
 * The state of feature gates as other parts of the server read it. `--feature-gates` sets it
 * (config/feature-gates.ts).
 */
import { gateRows } from './gate-rows.ts'

export type Gates = { readonly isOn: (name: string) => boolean }

const onByDefault: ReadonlySet<string> = new Set(
  gateRows.filter(({ isOnByDefault }) => isOnByDefault).flatMap(({ names }) => names),
)

/** Gates without `--feature-gates`. */
export const defaultGates: Gates = { isOn: (name) => onByDefault.has(name) }
