/**
 * The content of remote API servers according to discovery. Controllers access it through this
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
  /** Namespaced resources, each in the preferred version. */
  readonly resources: readonly RemoteResource[]
  /** Versions, as `group/version`, whose server cannot be reached for discovery at the moment. */
  readonly stale: readonly string[]
}

export type RemoteVersion = {
  readonly group: string
  readonly version: string
  /** Undefined if the server cannot be reached at the moment. */
  readonly resources: readonly RemoteResource[] | undefined
}

export type RemoteApis = {
  /** Returns the content for controllers that go through every resource of a namespace. */
  readonly content: () => RemoteContent
  /**
   * Returns all group versions that APIServices name, with the preferred versions of a group first.
   */
  readonly versions: () => readonly RemoteVersion[]
  readonly onChange: (listener: () => void) => Disposable
}
