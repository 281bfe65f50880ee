/**
 * The RoleBindings of one namespace, or the ClusterRoleBindings, by user name and by group. Thus a
 * decision examines only the bindings that name the user, and each of their roles once.
 */
import type { User } from '../../api/user.ts'
import { type Binding, groupsOf, subjectsOf } from './binding.ts'

/** Called with a binding. Returns true to stop visiting bindings. */
export type Visit = (binding: Binding) => boolean

export class NamespaceBindings {
  readonly #ofUsers = new Map<string, BindingsOfName>()
  readonly #ofGroups = new Map<string, BindingsOfName>()

  get isEmpty(): boolean {
    return this.#ofUsers.size === 0 && this.#ofGroups.size === 0
  }

  add(binding: Binding): void {
    for (const { kind, matches } of subjectsOf(binding)) {
      const byName = kind === 'Group' ? this.#ofGroups : this.#ofUsers
      const known = byName.get(matches)
      if (known === undefined) byName.set(matches, binding)
      else if (known instanceof ByRole) known.add(binding)
      else if (known !== binding) byName.set(matches, new ByRole(known, binding))
    }
  }

  remove(binding: Binding): void {
    for (const { kind, matches } of subjectsOf(binding)) {
      const byName = kind === 'Group' ? this.#ofGroups : this.#ofUsers
      const known = byName.get(matches)
      if (known instanceof ByRole) known.remove(binding)
      if (known === binding || (known instanceof ByRole && known.isEmpty)) byName.delete(matches)
    }
  }

  /**
   * Calls `see` for the bindings of the user name, and then for those of the groups. If several
   * bindings of a user or group name have the same role, visits only one of them. Returns whether
   * `see` has returned true, which ends the visit.
   */
  visit(user: User, see: Visit): boolean {
    if (visitRoles(this.#ofUsers.get(user.name), see)) return true
    for (const group of groupsOf(user)) if (visitRoles(this.#ofGroups.get(group), see)) return true
    return false
  }

  /**
   * Yields all bindings of the user. If a binding matches several names of the user, it is yielded
   * several times.
   */
  *of(user: User): Generator<Binding> {
    yield* bindingsIn(this.#ofUsers.get(user.name))
    for (const group of groupsOf(user)) yield* bindingsIn(this.#ofGroups.get(group))
  }
}

/** The bindings of one user name or group name. Most names have a single binding. */
type BindingsOfName = Binding | ByRole

/** Several bindings of one user name or group name, by role. */
class ByRole {
  readonly #bindings = new Map<Binding['role'], Binding | Set<Binding>>()

  constructor(...bindings: readonly Binding[]) {
    for (const binding of bindings) this.add(binding)
  }

  get isEmpty(): boolean {
    return this.#bindings.size === 0
  }

  add(binding: Binding): void {
    const { role } = binding
    const known = this.#bindings.get(role)
    if (known === undefined) this.#bindings.set(role, binding)
    else if (known instanceof Set) known.add(binding)
    else if (known !== binding) this.#bindings.set(role, new Set([known, binding]))
  }

  remove(binding: Binding): void {
    const { role } = binding
    const known = this.#bindings.get(role)
    if (known instanceof Set) known.delete(binding)
    if (known === binding || (known instanceof Set && known.size === 0)) this.#bindings.delete(role)
  }

  visit(see: Visit): boolean {
    for (const known of this.#bindings.values())
      if (known instanceof Set ? seeFirst(known, see) : see(known)) return true
    return false
  }

  *all(): Generator<Binding> {
    for (const known of this.#bindings.values())
      if (known instanceof Set) yield* known
      else yield known
  }
}

const visitRoles = (found: BindingsOfName | undefined, see: Visit): boolean =>
  found !== undefined && (found instanceof ByRole ? found.visit(see) : see(found))

function seeFirst(bindings: ReadonlySet<Binding>, see: Visit): boolean {
  for (const binding of bindings) return see(binding)
  return false
}

function* bindingsIn(found: BindingsOfName | undefined): Generator<Binding> {
  if (found instanceof ByRole) yield* found.all()
  else if (found !== undefined) yield found
}
