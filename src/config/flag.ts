/** One flag of `keelson serve`. */
export type FlagType =
  | 'string'
  | 'list'
  | 'integer'
  | 'boolean'
  | 'address'
  | 'duration'
  | 'map'
  | 'float'

export type Flag = {
  readonly section: string
  readonly type: FlagType
  /** Printed in the help text; undefined: there is no default. */
  readonly default?: string
  readonly help: string
  /** Why the flag changes nothing here, although its value is checked. */
  readonly unused?: string
  /** Why it is refused with any value that would change something. */
  readonly refused?: string
  /** Upstream's advice to those who still give it. */
  readonly deprecated?: string
}
