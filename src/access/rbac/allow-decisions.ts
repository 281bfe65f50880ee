/**
 * Caches the decision that a request is allowed, once per binding. The reason in the decision names
 * the binding and its role, so it need not be formatted again for each request.
 */
import type { AccessDecision } from '../../api/access.ts'
import { quote } from '../../api/quote.ts'
import type { Binding, Subject } from './binding.ts'
import type { Role } from './role.ts'

/** Maximum number of bindings in the cache. When it is reached, the cache is cleared. */
const DECISIONS_MAX = 4096

type CachedDecision = { readonly subject: Subject; readonly decision: AccessDecision }

export class AllowDecisions {
  /**
   * For each binding, the decision for the most recent request that the binding allowed, with the
   * subject that matched the user.
   */
  readonly #known = new Map<Binding, CachedDecision>()

  /**
   * Returns the decision that a request is allowed because the binding grants the role to this
   * subject. Returns the cached object if the previous call for the binding had the same subject.
   */
  of(binding: Binding, role: Role, subject: Subject): AccessDecision {
    const known = this.#known.get(binding)
    if (known?.subject === subject) return known.decision
    const decision: AccessDecision = { verdict: 'allow', reason: reasonOf(binding, role, subject) }
    if (this.#known.size >= DECISIONS_MAX) this.#known.clear()
    this.#known.set(binding, { subject, decision })
    return decision
  }
}

function reasonOf({ name, namespace }: Binding, role: Role, subject: Subject): string {
  const binding =
    namespace === ''
      ? `ClusterRoleBinding ${quote(name)}`
      : `RoleBinding ${quote(`${name}/${namespace}`)}`
  const to =
    subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace}` : subject.name
  return `RBAC: allowed by ${binding} of ${role.kind} ${quote(role.name)} to ${subject.kind} ${quote(to)}`
}
