/**
 * The resources of remote API servers according to discovery. Controllers access remote servers
 * through this server.
 */

/** One version of a resource of a remote server. */
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
  /**
   * Versions, as `group/version`, whose server is currently unreachable, so that its resources are
   * unknown.
   */
  readonly stale: readonly string[]
}

export type RemoteVersion = {
  readonly group: string
  readonly version: string
  /** The resources of the version. Undefined if the server is currently unreachable. */
  readonly resources: readonly RemoteResource[] | undefined
}

export type RemoteApis = {
  /**
   * Returns the resources that have objects in namespaces. Used to process all objects of a
   * namespace.
   */
  readonly content: () => RemoteContent
  /**
   * Returns all group versions of remote APIServices. The preferred version of a group precedes its
   * other versions.
   */
  readonly versions: () => readonly RemoteVersion[]
  readonly onChange: (listener: () => void) => Disposable
}
