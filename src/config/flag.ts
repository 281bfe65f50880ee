/** The type of the value of a flag. */
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
  /** The default value in the form shown in the help text. Undefined if the flag has no default. */
  readonly default?: string
  readonly help: string
  /** The reason why the flag has no effect. Its value is validated nevertheless. */
  readonly unused?: string
  /** The reason why only the default value is accepted. */
  readonly refused?: string
  /** The last part of the deprecation warning, with the text of kube-apiserver. */
  readonly deprecated?: string
}
