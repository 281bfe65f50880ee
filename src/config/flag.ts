/** One flag of `keelson serve`. */
export type FlagType = 'string' | 'list' | 'integer' | 'boolean' | 'address' | 'duration' | 'map' | 'float'

export type Flag = {
  readonly section: string
  readonly type: FlagType
  /** Printed in the help text; undefined: there is no default. */
  readonly default?: string
  readonly help: string
}
