/**
 * The state of the feature gates, for all parts of the server. The `--feature-gates` flag sets it
 * (config/feature-gates.ts).
 */
import { gateRows } from './gate-rows.ts'

export type Gates = { readonly isOn: (name: string) => boolean }

const onByDefault: ReadonlySet<string> = new Set(
  gateRows.filter(({ isOnByDefault }) => isOnByDefault).flatMap(({ names }) => names),
)

/** State of the gates if `--feature-gates` is not set. */
export const defaultGates: Gates = { isOn: (name) => onByDefault.has(name) }
