/** The type of a flag's value. A file or a folder is specified by its path. */
export type FlagType =
  | 'string'
  | 'file'
  | 'folder'
  | 'list'
  | 'integer'
  | 'boolean'
  | 'address'
  | 'duration'
  | 'map'
  | 'float'

/**
 * A behavior that differs after a user has replaced kube-apiserver with Keelson.
 * docs/differences.md explains why.
 */
export type FlagSwap = {
  /**
   * The values of the flag with which the behavior changes. `unset` means that the flag is not set.
   */
  readonly when: 'unset' | RegExp
  readonly change: string
  /** How to keep the behavior of kube-apiserver, or what to check. */
  readonly advice: string
}

export type Flag = {
  readonly section: string
  readonly type: FlagType
  /** The first release that has the flag, if 1.33 does not have it. */
  readonly since?: number
  /** The default value in the form shown in the help text. Undefined if the flag has no default. */
  readonly default?: string
  /**
   * The accepted values of the flag, or of the items of its list. Set only if there are few
   * accepted values.
   */
  readonly choices?: readonly string[]
  readonly help: string
  /** The reason why the flag has no effect. Its value is validated nevertheless. */
  readonly unused?: string
  /** The reason why only the default value is accepted. */
  readonly refused?: string
  /** The end of the deprecation warning. The text is that of kube-apiserver. */
  readonly deprecated?: string
  /**
   * The behaviors of this flag that differ from kube-apiserver, for some or all values of the flag.
   */
  readonly swap?: readonly FlagSwap[]
}
