/**
 * Explains a decision: lists the authorizers of the chain, the decision of each one, and what the
 * decision is based on. Clients that can `get` the path /debug/authorization receive the
 * information of a SubjectAccessReview, plus the names of bindings and roles.
 */
import type { AccessAttributes } from '../../api/access.ts'
import { type Fields, present } from '../../api/object.ts'
import { mastersGroup, type User } from '../../api/user.ts'
import { allowed, type WaitingRequest } from './authorizer.ts'
import type { Link } from './chain.ts'
import { grantCommands } from './grant-commands.ts'

export type WhyQuestion = {
  readonly user: User
  readonly attributes: AccessAttributes
  /** Warnings about probable mistakes in the query, such as an unknown resource. */
  readonly warnings: readonly string[]
}

/** Calls the authorizers in the order of the chain. Stops after the authorizer that decides. */
export async function explainAccess(
  links: readonly Link[],
  { user, attributes, warnings }: WhyQuestion,
  waiting?: WaitingRequest,
): Promise<Fields> {
  const isMaster = user.groups.includes(mastersGroup)
  let decision: string = isMaster ? 'allow' : 'no-opinion'
  const authorizers: Fields[] = []
  for (const { type, name, authorizer } of links) {
    if (decision !== 'no-opinion') {
      authorizers.push({ type, name, decision: 'not-asked' })
      continue
    }
    const { verdict, reason, error } = await authorizer.authorize(user, attributes, waiting)
    decision = verdict
    const based = (await authorizer.explain?.(user, attributes, waiting)) ?? {}
    authorizers.push(
      present({ type, name, decision: verdict, reason: reason || undefined, error, ...based }),
    )
  }
  const commands =
    decision === 'no-opinion' && warnings.length === 0
      ? commandsToGrant(links, { user, attributes })
      : []
  return {
    user: userFields(user),
    attributes: attributeFields(attributes),
    allowed: decision === 'allow',
    decision,
    ...(isMaster ? { grantedBy: { group: mastersGroup } } : {}),
    authorizers,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(commands.length === 0 ? {} : { commandsToGrant: commands }),
  }
}

/**
 * Returns the commands that allow a request that no authorizer has allowed or denied. Returns an
 * empty list if RBAC is off, because a role would have no effect.
 */
const commandsToGrant = (
  links: readonly Link[],
  { user, attributes }: Pick<WhyQuestion, 'user' | 'attributes'>,
): readonly string[] =>
  links.some(({ type }) => type === 'RBAC') ? grantCommands(user, attributes) : []

/** Maximum length of a command that is sent as a warning. */
const HINT_LENGTH_MAX = 1000

const explanations = { kind: 'path', verb: 'get', path: '/debug/authorization' } as const

/**
 * Returns the commands that would allow a rejected request. Returns an empty list if the caller is
 * not allowed to read explanations. Only the caller's roles are evaluated: no webhook is called,
 * and the roles of an impersonated user do not count.
 */
export function hintsFor(
  links: readonly Link[],
  caller: User,
  question: Pick<WhyQuestion, 'user' | 'attributes'>,
): readonly string[] {
  const rbac = links.find(({ type }) => type === 'RBAC')?.authorizer
  if (rbac === undefined) return []
  const isMaster = caller.groups.includes(mastersGroup)
  const decision = isMaster ? allowed : rbac.authorize(caller, explanations)
  const canExplain = !(decision instanceof Promise) && decision.verdict === 'allow'
  const commands = canExplain ? commandsToGrant(links, question) : []
  // Long warnings are truncated, and a truncated command could create a wrong role.
  return commands.some((command) => command.length > HINT_LENGTH_MAX) ? [] : commands
}

const userFields = ({ name, uid, groups, extra }: User): Fields =>
  present({ name, uid: uid || undefined, groups, extra })

function attributeFields(attributes: AccessAttributes): Fields {
  if (attributes.kind === 'path') return { verb: attributes.verb, path: attributes.path }
  const { verb, group, plural, subresource, namespace, name } = attributes
  return present({
    verb,
    apiGroup: group,
    resource: plural,
    subresource: subresource || undefined,
    namespace: namespace || undefined,
    name: name || undefined,
  })
}
