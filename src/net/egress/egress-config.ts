/**
 * The proxies through which the server connects to nodes, webhooks and etcd, as configured with
 * `--egress-selector-config-file`.
 */

/**
 * Names of egress selections, which choose a proxy by destination. `cluster` is for nodes, pods and
 * Services. `controlplane` is for webhooks that are configured with a URL, and for trace
 * collectors.
 */
export const egressNames = ['cluster', 'controlplane', 'etcd'] as const

export type EgressName = (typeof egressNames)[number]

/**
 * Paths of the files with the CA, the client certificate and its key. They are read for each new
 * connection.
 */
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
      /** TLS settings for the connection to the proxy. Null if the proxy does not use TLS. */
      readonly tls: ProxyTls | null
    }
  | { readonly protocol: 'http-connect' | 'grpc'; readonly transport: 'uds'; readonly path: string }

/** The proxy of each egress selection. If it is absent or null, connections are direct. */
export type EgressConfig = { readonly [name in EgressName]?: EgressProxy | null }
