/**
 * The RBAC authorizer. It allows requests that a rule of a bound role covers. On all other requests
 * it has no opinion, so that another authorizer can still allow them. Decisions are synchronous,
 * from memory.
 */
import { aggregate } from '../../api/aggregate.ts'
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import { quote } from '../../api/quote.ts'
import type { User } from '../../api/user.ts'
import { type Binding, firstSubject } from './binding.ts'
import { Role } from './role.ts'
import type { RoleIndex } from './role-index.ts'
import { type KeptRule, questionOf } from './rule.ts'

/** Maximum number of missing roles that one message lists. */
const ERRORS_MAX = 100

const noOpinion: AccessDecision = { verdict: 'no-opinion', reason: '' }

export function authorizeByRoles(
  index: RoleIndex,
  user: User,
  attributes: AccessAttributes,
): AccessDecision {
  const question = questionOf(attributes)
  let allowed: AccessDecision | undefined
  let errors: ResolutionErrors | undefined
  const namespace = attributes.kind === 'path' ? '' : attributes.namespace
  index.visit(user, namespace, (binding) => {
    const { role } = binding
    if (!(role instanceof Role) || role.rules === undefined) {
      errors ??= new ResolutionErrors()
      errors.add(binding, 'singular')
      return false
    }
    const subject = role.covers(question) ? firstSubject(binding, user) : undefined
    if (subject === undefined) return false
    allowed = index.allowed.of(binding, role, subject)
    return true
  })
  if (allowed !== undefined) return allowed
  return errors === undefined
    ? noOpinion
    : { verdict: 'no-opinion', reason: `RBAC: ${errors.text()}` }
}

export type HeldOptions = {
  /**
   * The namespace whose RoleBindings apply. If the namespace is empty, only ClusterRoleBindings
   * apply.
   */
  readonly namespace: string
  /**
   * Whether a role that several bindings reference is returned once (`role`), or once per binding
   * (`binding`), as in a SelfSubjectRulesReview.
   */
  readonly each: 'role' | 'binding'
  /**
   * Collects messages about roles that do not exist although bindings of the user reference them.
   */
  readonly errors: ResolutionErrors
}

/**
 * Yields the rules of each role that the user has in a namespace. Also yields empty lists, so that
 * the caller can pause between two roles.
 */
export function* heldRules(
  index: RoleIndex,
  user: User,
  { namespace, each, errors }: HeldOptions,
): Generator<readonly KeptRule[]> {
  const seen = new Set<Binding | Binding['role']>()
  for (const binding of index.bindingsIn(user, namespace)) {
    yield []
    const { role } = binding
    const counted = each === 'role' ? role : binding
    if (seen.has(counted)) continue
    seen.add(counted)
    // In kube-apiserver, a SelfSubjectRulesReview reads roles through a lister, and the escalation
    // check reads them from storage. Their error messages differ.
    if (!(role instanceof Role) || role.rules === undefined)
      errors.add(binding, each === 'binding' ? 'singular' : 'plural')
    else yield role.rules
  }
}

/** Messages about missing roles, without duplicates. */
export class ResolutionErrors {
  readonly #texts = new Set<string>()
  #more = 0

  /**
   * Adds a message. When the maximum number of messages is reached, only counts the missing role,
   * because a user can have thousands of missing roles.
   */
  add(binding: Binding, names: 'singular' | 'plural'): void {
    if (this.#texts.size < ERRORS_MAX) this.#texts.add(unresolved(binding, names))
    else this.#more++
  }

  /** Joins all messages into one string. Returns an empty string if there are no messages. */
  text(): string {
    return aggregate(this.#more === 0 ? this.#texts : [...this.#texts, `and ${this.#more} more`])
  }
}

function unresolved({ role }: Binding, names: 'singular' | 'plural'): string {
  if (!(role instanceof Role)) return `unsupported role reference kind: ${quote(role.unknownKind)}`
  const ending = names === 'singular' ? '' : 's'
  return `${role.kind.toLowerCase()}${ending}.rbac.authorization.k8s.io ${quote(role.name)} not found`
}
