/**
 * The decisions that bindings allow requests by. Clients make many requests each, so the reasons of
 * late are kept, printed.
 */
import type { AccessDecision } from '../../api/access.ts'
import { quote } from '../../api/quote.ts'
import type { Binding, Subject } from './binding.ts'
import type { Role } from './role.ts'

/** Bindings that are in use at one time; when there are more, all are forgotten. */
const DECISIONS_MAX = 4096

type CachedDecision = { readonly subject: Subject; readonly decision: AccessDecision }

export class AllowDecisions {
  /** For the subject that a binding last applied to. */
  readonly #known = new Map<Binding, CachedDecision>()

  /** `role`: that of the binding. The same object as before if nothing has changed. */
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
