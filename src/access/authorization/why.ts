/**
 * Explains a decision: lists the authorizers of the chain, the decision of each one, and what the
 * decision is based on. Clients that can `get` the path /debug/authorization receive the
 * information of a SubjectAccessReview, plus the names of bindings and roles.
 */
import type { AccessAttributes } from '../../api/access.ts'
import { type Fields, present } from '../../api/object.ts'
import { mastersGroup, type User } from '../../api/user.ts'
import type { WaitingRequest } from './authorizer.ts'
import type { Link } from './chain.ts'

export type WhyQuestion = { readonly user: User; readonly attributes: AccessAttributes }

/** Calls the authorizers in the order of the chain. Stops after the authorizer that decides. */
export async function explainAccess(
  links: readonly Link[],
  { user, attributes }: WhyQuestion,
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
    const based = (await authorizer.explain?.(user, attributes)) ?? {}
    authorizers.push(
      present({ type, name, decision: verdict, reason: reason || undefined, error, ...based }),
    )
  }
  return {
    user: userFields(user),
    attributes: attributeFields(attributes),
    allowed: decision === 'allow',
    decision,
    ...(isMaster ? { grantedBy: { group: mastersGroup } } : {}),
    authorizers,
  }
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
