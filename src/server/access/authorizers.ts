/**
 * Builds the configured authorizers, which are replaced when the configuration file changes, and
 * the graph that the node authorizer uses.
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
  /** The graph that the node authorizer uses. Undefined if that authorizer is not configured. */
  readonly graph: NodeGraph | undefined
}

export function createAuthorizers(
  { authorization, featureGates: gates }: Config,
  { graph = new NodeGraph(), ...parts }: AuthorizersOptions,
): ConfiguredAuthorizers {
  // The RBAC rules for nodes. They are built on the first request of a node, so that the server
  // starts faster.
  let rules: ReturnType<typeof bootstrapRules> | undefined
  const nodes = { graph, rules: () => (rules ??= bootstrapRules('system:node', gates)), gates }
  return new ConfiguredAuthorizers(authorization.authorizers, { ...parts, nodes, gates })
}

/** Versions of a resource that the graph can read, in order of preference. */
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

/** Reloads the file in --authorization-config when it changes. */
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
  // As in kube-apiserver, the metrics count the startup as a successful reload.
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
