/** Builds the authorizers that the configuration names. */
import type { User } from '../api/user.ts'
import type { AuthorizerConfig } from '../config/authorization.ts'
import type { RoleIndex } from '../rbac/role-index.ts'
import { createAbacAuthorizer } from './abac.ts'
import { allowed, type Authorizer, noOpinion, noRights, type Rights } from './authorizer.ts'
import { createRoleAuthorizer } from './by-roles.ts'
import type { Link } from './chain.ts'

export type AuthorizerParts = {
  /** What RBAC decides by. */
  readonly roles: RoleIndex
}

export const buildAuthorizers = (authorizers: readonly AuthorizerConfig[], parts: AuthorizerParts): Link[] =>
  authorizers.map((one) => ({ type: one.type, name: one.name, authorizer: build(one, parts) }))

function build(one: AuthorizerConfig, { roles }: AuthorizerParts): Authorizer {
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
      throw new Error('the configuration refuses webhooks')
    case 'Node':
      // TODO(#16): the node authorizer. Until then a kubelet may do what its roles allow.
      return { authorize: () => noOpinion, rightsOf: (user) => (isNode(user) ? unknownOfNodes : noRights) }
  }
}

const everything: Rights = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
}

const isNode = ({ name, groups }: User): boolean => name.startsWith('system:node:') && groups.includes('system:nodes')

const unknownOfNodes: Rights = {
  ...noRights,
  incomplete: true,
  evaluationError: 'node authorizer does not support user rule resolution',
}
