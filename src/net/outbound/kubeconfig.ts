/**
 * The configuration of a client as in a kubeconfig file: the server, TLS and the user.
 * config/files/kubeconfig.ts reads the file.
 */

export type ClientConfig = {
  /** A URL with a scheme: `https://host:port/path`. */
  readonly server: string
  /** Server name for TLS. If empty, the host of `server` is used. */
  readonly tlsServerName: string
  /** Whether verification of the server's certificate is disabled. */
  readonly isInsecure: boolean
  /**
   * PEM that contains at least one valid certificate. If empty, the system's trust store is used.
   */
  readonly certificateAuthority: string
  /** URL of a proxy, beginning with `http:` or `https:`. If empty, no proxy is used. */
  readonly proxyUrl: string
  readonly credentials: KubeconfigCredentials
  readonly clientCertificate: ClientCertificate | null
  readonly impersonate: Impersonation | null
}

export type KubeconfigCredentials =
  | { readonly kind: 'none' }
  /**
   * The token, and the file from which it is read again regularly. If `path` is not null, the
   * content of the file replaces `token`.
   */
  | { readonly kind: 'token'; readonly token: string; readonly path: string | null }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }

/** A client certificate. Files must be reloaded when they change. */
export type ClientCertificate =
  | { readonly kind: 'files'; readonly certificatePath: string; readonly keyPath: string }
  | { readonly kind: 'pem'; readonly certificate: string; readonly key: string }

export type Impersonation = {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: { readonly [key: string]: readonly string[] }
}

/** The credentials of a user, which the file defines separately from servers. */
export type KubeconfigUser = Pick<ClientConfig, 'credentials' | 'clientCertificate' | 'impersonate'>

export type KubeconfigUsers = {
  readonly byName: ReadonlyMap<string, KubeconfigUser>
  /** The user of the current context. */
  readonly current: KubeconfigUser | null
}
