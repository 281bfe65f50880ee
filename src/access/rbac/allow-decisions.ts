/**
 * Caches one decision per binding: the decision that the binding allows a request. The reason in
 * the decision then need not be formatted for each request.
 */
import type { AccessDecision } from '../../api/access.ts'
import { quote } from '../../api/quote.ts'
import type { Binding, Subject } from './binding.ts'
import type { Role } from './role.ts'

/** Maximum number of bindings in the cache. When it is reached, the cache is cleared. */
const DECISIONS_MAX = 4096

type CachedDecision = { readonly subject: Subject; readonly decision: AccessDecision }

export class AllowDecisions {
  /** The decision for the subject that matched when the binding was last used. */
  readonly #known = new Map<Binding, CachedDecision>()

  /**
   * Returns the decision that the binding allows a request of this subject. Returns the cached
   * object if the previous call for the binding had the same subject. `role` is the role of the
   * binding.
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
