/** The type of a flag's value. */
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
  /** The default, as printed in the help text. Undefined: there is no default. */
  readonly default?: string
  readonly help: string
  /** Why the flag has no effect. Its value is validated nevertheless. */
  readonly unused?: string
  /** Why only the default is accepted. */
  readonly refused?: string
  /** The end of the deprecation warning, with kube-apiserver's text. */
  readonly deprecated?: string
}
