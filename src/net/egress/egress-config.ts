/**
 * The proxies through which the server connects to others. `--egress-selector-config-file` fills
 * this configuration.
 */

/**
 * Names of selections. `cluster` is for nodes, pods and Services; `controlplane` is for webhooks
 * given by a URL, and for trace collectors.
 */
export const egressNames = ['cluster', 'controlplane', 'etcd'] as const

export type EgressName = (typeof egressNames)[number]

/** Paths of the TLS files. They are read again for every connection. */
export type ProxyTls = {
  readonly caPath: string | null
  readonly certificatePath: string
  readonly keyPath: string
}

export type EgressProxy =
  | {
      readonly protocol: 'http-connect'
      readonly transport: 'tcp'
      /** The host, with an optional port. */
      readonly address: string
      /** Null if the proxy is reached without TLS. */
      readonly tls: ProxyTls | null
    }
  | { readonly protocol: 'http-connect' | 'grpc'; readonly transport: 'uds'; readonly path: string }

/** If a selection is absent or null, its connections are direct. */
export type EgressConfig = { readonly [name in EgressName]?: EgressProxy | null }
