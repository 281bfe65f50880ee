/** Builds the authorizers that the configuration names. */
import { nodeNameOf } from '../../api/node-user.ts'
import type { AuthorizerConfig, WebhookConfig } from '../../config/authorization.ts'
import type { RoleIndex } from '../rbac/role-index.ts'
import { createAbacAuthorizer } from './abac.ts'
import { allowed, type Authorizer, noRights, type Rights } from './authorizer.ts'
import { createRoleAuthorizer } from './by-roles.ts'
import type { Link } from './chain.ts'
import { authorizeNode, type NodeAuthorizerOptions } from './node/authorize-node.ts'

export type BuildAuthorizerOptions = {
  /** The roles and bindings that RBAC evaluates. */
  readonly roles: RoleIndex
  /** The graph, rules and feature gates of the node authorizer. */
  readonly nodes: NodeAuthorizerOptions
  readonly webhookOf: (config: WebhookConfig) => Authorizer
}

export const buildAuthorizers = (
  authorizers: readonly AuthorizerConfig[],
  options: BuildAuthorizerOptions,
): Link[] =>
  authorizers.map((one) => ({ type: one.type, name: one.name, authorizer: build(one, options) }))

function build(
  one: AuthorizerConfig,
  { roles, nodes, webhookOf }: BuildAuthorizerOptions,
): Authorizer {
  switch (one.type) {
    case 'AlwaysAllow':
      return { authorize: () => allowed, rightsOf: () => everything }
    case 'AlwaysDeny':
      return {
        authorize: () => ({ verdict: 'no-opinion', reason: 'Everything is forbidden.' }),
        rightsOf: () => noRights,
      }
    case 'RBAC':
      return createRoleAuthorizer(roles)
    case 'ABAC':
      return createAbacAuthorizer(one.rules)
    case 'Webhook':
      return webhookOf(one)
    case 'Node':
      return {
        authorize: (user, attributes) => authorizeNode(nodes, user, attributes),
        rightsOf: (user) => (nodeNameOf(user) === undefined ? noRights : unknownOfNodes),
      }
  }
}

const everything: Rights = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
}

const unknownOfNodes: Rights = {
  ...noRights,
  incomplete: true,
  evaluationError: 'node authorizer does not support user rule resolution',
}
