/**
 * The configuration of a client: the server, TLS and the user, as a kubeconfig file contains them.
 * config/files/kubeconfig.ts reads the file.
 */

export type ClientConfig = {
  /** A URL with a scheme: `https://host:port/path`. */
  readonly server: string
  /** '': the host of `server`. */
  readonly tlsServerName: string
  /** Whether the server's certificate is not verified. */
  readonly isInsecure: boolean
  /** PEM with at least one certificate that can be parsed; '': the system's trust store. */
  readonly certificateAuthority: string
  /** `http://` or `https://`; '': none. */
  readonly proxyUrl: string
  readonly credentials: KubeconfigCredentials
  readonly clientCertificate: ClientCertificate | null
  readonly impersonate: Impersonation | null
}

export type KubeconfigCredentials =
  | { readonly kind: 'none' }
  /** `path`: a file that is read again regularly and takes precedence over `token`; null: none. */
  | { readonly kind: 'token'; readonly token: string; readonly path: string | null }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }

/** Files are to be reloaded when they change. */
export type ClientCertificate =
  | { readonly kind: 'files'; readonly certificatePath: string; readonly keyPath: string }
  | { readonly kind: 'pem'; readonly certificate: string; readonly key: string }

export type Impersonation = {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: { readonly [key: string]: readonly string[] }
}

/** A user of a kubeconfig, whatever the server. */
export type KubeconfigUser = Pick<ClientConfig, 'credentials' | 'clientCertificate' | 'impersonate'>

export type KubeconfigUsers = {
  readonly byName: ReadonlyMap<string, KubeconfigUser>
  /** The user of the current context. */
  readonly current: KubeconfigUser | null
}
