/**
 * What remote API servers have, as discovery tells it. Controllers ask them about it through this
 * server.
 */

/** A resource of a remote server in one version. */
export type RemoteResource = {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly isNamespaced: boolean
  readonly verbs: readonly string[]
}

export type RemoteContent = {
  /** Namespaced ones, each in the preferred version. */
  readonly resources: readonly RemoteResource[]
  /** Versions, as `group/version`, whose server cannot be asked now what it has. */
  readonly stale: readonly string[]
}

export type RemoteVersion = {
  readonly group: string
  readonly version: string
  /** Undefined: its server cannot be asked now. */
  readonly resources: readonly RemoteResource[] | undefined
}

export type RemoteApis = {
  /** For controllers that look into every resource of a namespace. */
  readonly content: () => RemoteContent
  /** All versions that APIServices name; the preferred ones of a group first. */
  readonly versions: () => readonly RemoteVersion[]
  readonly onChange: (listener: () => void) => Disposable
}
