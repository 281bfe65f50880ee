/**
 * Builds the authorizers of the configuration, which are replaced when its file changes, and the
 * graph that the node authorizer reads.
 */
import {
  ConfiguredAuthorizers,
  type ConfiguredAuthorizerOptions,
} from '../../access/authorization/configured.ts'
import {
  NodeGraphInformer,
  type NodeGraphInformerOptions,
} from '../../access/authorization/node/node-graph-informer.ts'
import { NodeGraph } from '../../access/authorization/node/graph.ts'
import { type AuthorizerConfig, rereadAuthorization } from '../../config/authorization.ts'
import type { Config } from '../../config/config.ts'
import { ConfigReloader, type Reloads } from '../../config/files/reload.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { Metrics } from '../../lib/telemetry/metrics.ts'
import { bootstrapRules } from '../../access/rbac/bootstrap-rules.ts'
import type { Registry } from '../../registry/registry.ts'
import { addReloadMetrics } from '../reload-metrics.ts'
import type { AccessOf } from '../../request/resource-access.ts'

export type AuthorizersOptions = Omit<ConfiguredAuthorizerOptions, 'nodes' | 'gates'> & {
  /** Undefined if there is no node authorizer. */
  readonly graph: NodeGraph | undefined
}

export function createAuthorizers(
  { authorization, featureGates: gates }: Config,
  { graph = new NodeGraph(), ...parts }: AuthorizersOptions,
): ConfiguredAuthorizers {
  // Read at the first request of a node, to keep the start of the server short.
  let rules: ReturnType<typeof bootstrapRules> | undefined
  const nodes = { graph, rules: () => (rules ??= bootstrapRules('system:node', gates)), gates }
  return new ConfiguredAuthorizers(authorization.authorizers, { ...parts, nodes, gates })
}

/** Versions in which the graph may read a resource. Any of them will do. */
const graphVersions = ['v1', 'v1beta2', 'v1beta1', 'v1alpha3'] as const

export type NodeGraphOptions = Omit<NodeGraphInformerOptions, 'accessOf'> & {
  readonly registry: Registry
  readonly accessOf: AccessOf
}

export function createNodeGraph(
  { authorization }: Config,
  options: NodeGraphOptions,
): NodeGraphInformer | undefined {
  const { registry, accessOf, ...more } = options
  if (!authorization.authorizers.some(({ type }) => type === 'Node')) return undefined
  return new NodeGraphInformer({
    accessOf: (group, plural) => {
      const [resource] = graphVersions.flatMap(
        (version) => registry.find({ group, version, plural }) ?? [],
      )
      return resource && accessOf(resource)
    },
    ...more,
  })
}

export type AuthorizationReloading = {
  readonly authorizers: ConfiguredAuthorizers
  readonly metrics: Metrics
  readonly serverId: string
  readonly clock: Clock
  readonly log: Log
}

/** Reloads the file of --authorization-config when it changes. */
export function reloadAuthorization(
  { authorization, featureGates }: Config,
  { authorizers, metrics, serverId, clock, log }: AuthorizationReloading,
): ConfigReloader<readonly AuthorizerConfig[]>[] {
  if (authorization.file === null) return []
  const { path, bytes } = authorization.file
  const reloader = new ConfigReloader(path, bytes, {
    read: (changed) =>
      rereadAuthorization(changed, { gates: featureGates, initial: authorization.authorizers }),
    use: (chain) => authorizers.replace(chain),
    what: 'authorization config',
    log,
    clock,
  })
  // kube-apiserver counts the start as a success.
  const startSeconds = clock.wallMs() / 1000
  const reloads = (): Reloads => {
    const { success, failure } = reloader.reloads
    return {
      success: { count: success.count + 1, lastSeconds: success.lastSeconds || startSeconds },
      failure,
    }
  }
  addReloadMetrics(metrics, { what: 'authorization', serverId, reloads })
  return [reloader]
}
