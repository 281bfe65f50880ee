/**
 * Through which proxies the server connects to others. `--egress-selector-config-file` fills it.
 */

/**
 * `cluster`: nodes, pods and Services; `controlplane`: webhooks that are given by URL, and
 * collectors of traces.
 */
export const egressNames = ['cluster', 'controlplane', 'etcd'] as const

export type EgressName = (typeof egressNames)[number]

/** The files are read again for every connection. */
export type ProxyTls = {
  readonly caPath: string | null
  readonly certificatePath: string
  readonly keyPath: string
}

export type EgressProxy =
  | {
      readonly protocol: 'http-connect'
      readonly transport: 'tcp'
      /** The port may be missing. */
      readonly address: string
      /** Null: without TLS. */
      readonly tls: ProxyTls | null
    }
  | { readonly protocol: 'http-connect' | 'grpc'; readonly transport: 'uds'; readonly path: string }

/** Absent or null: connections go straight. */
export type EgressConfig = { readonly [name in EgressName]?: EgressProxy | null }
