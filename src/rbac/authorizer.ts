/**
 * Decides by roles: RBAC. What no rule covers nobody has an opinion on, and another authorizer may allow it. Decisions are made at once,
 * from memory.
 */
import type { AccessAttributes, AccessDecision } from '../api/access.ts'
import { quote } from '../api/quote.ts'
import type { User } from '../api/user.ts'
import type { Binding, Subject } from './binding.ts'
import { Role } from './role.ts'
import type { RoleIndex } from './role-index.ts'
import { questionOf, type Rule } from './rule.ts'

const noOpinion: AccessDecision = { verdict: 'no-opinion', reason: '' }

export function authorizeByRoles(index: RoleIndex, user: User, attributes: AccessAttributes): AccessDecision {
  const question = questionOf(attributes)
  let reason = ''
  let errors: Set<string> | undefined
  const isAllowed = index.visit(user, namespaceOf(attributes), (binding, subject) => {
    const { role } = binding
    if (!(role instanceof Role) || role.rules === undefined) {
      errors ??= new Set()
      errors.add(unresolved(binding, 'singular'))
      return false
    }
    if (!role.covers(question)) return false
    reason = allowedBy(binding, role, subject)
    return true
  })
  if (isAllowed) return { verdict: 'allow', reason }
  return errors === undefined ? noOpinion : { verdict: 'no-opinion', reason: `RBAC: ${joined(errors)}` }
}

/** All that the user has in a namespace (empty: in the cluster), binding by binding. */
export type HeldRules = {
  readonly rules: readonly Rule[]
  /** Why there may be more; empty: there is not. */
  readonly errors: ReadonlySet<string>
}

/**
 * `names`: how a role that is missing is told. kube-apiserver's authorizer asks a lister, which names it in the singular; what looks at
 * escalation asks its storage.
 */
export function heldRules(
  index: RoleIndex,
  user: User,
  { namespace, names }: { readonly namespace: string; readonly names: 'singular' | 'plural' },
): HeldRules {
  const rules: Rule[] = []
  const errors = new Set<string>()
  const seen = new Set<Binding>()
  index.visit(user, namespace, (binding) => {
    if (seen.has(binding)) return false
    seen.add(binding)
    const { role } = binding
    if (role instanceof Role && role.rules !== undefined) for (const rule of role.rules) rules.push(rule)
    else errors.add(unresolved(binding, names))
    return false
  })
  return { rules, errors }
}

/** As Go prints several errors as one. */
export function joined(errors: ReadonlySet<string>): string {
  const all = [...errors]
  return all.length === 1 ? (all[0] ?? '') : `[${all.join(', ')}]`
}

const namespaceOf = (attributes: AccessAttributes): string => (attributes.kind === 'path' ? '' : attributes.namespace)

function allowedBy({ name, namespace }: Binding, role: Role, subject: Subject): string {
  const binding =
    namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`
  const to = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace}` : subject.name
  return `RBAC: allowed by ${binding} of ${role.kind} ${quote(role.name)} to ${subject.kind} ${quote(to)}`
}

function unresolved({ role }: Binding, names: 'singular' | 'plural'): string {
  if (!(role instanceof Role)) return `unsupported role reference kind: ${quote(role.unknownKind)}`
  const ending = names === 'singular' ? '' : 's'
  return `${role.kind.toLowerCase()}${ending}.rbac.authorization.k8s.io ${quote(role.name)} not found`
}
