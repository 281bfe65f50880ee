/**
 * An index of all roles and bindings in memory. Bindings are indexed by user name and group, so
 * that the time of a decision does not depend on the number of bindings in the cluster.
 * RolesInformer keeps the index current; all methods are synchronous.
 */
import type { User } from '../../api/user.ts'
import { AllowDecisions } from './allow-decisions.ts'
import { type Binding, firstSubject, type Subject, SubjectList, subjectsOf } from './binding.ts'
import { NamespaceBindings, type Visit } from './namespace-bindings.ts'
import type { Grants } from './grants.ts'
import { Role, type RoleKind } from './role.ts'
import type { KeptRule } from './rule.ts'

/** Namespace and name of an object. The namespace is empty for cluster-scoped objects. */
export type RoleLocation = { readonly namespace: string; readonly name: string }

export type BindingContent = {
  readonly roleKind: string
  readonly roleName: string
  readonly subjects: readonly Subject[]
}

export type BoundSubject = { readonly binding: Binding; readonly subject: Subject }

export class RoleIndex {
  readonly allowed = new AllowDecisions()
  /** Roles by `namespace/name`. Namespaces and names cannot contain a slash. */
  readonly #roles = new Map<string, Role>()
  readonly #bindings = new Map<string, Binding>()
  /** The bindings by namespace. The ClusterRoleBindings are stored under the empty namespace. */
  readonly #byNamespace = new Map<string, NamespaceBindings>()

  /**
   * Updates a role. `rules` are undefined if the role was deleted. For a large role, `grants` are
   * the rules by resource, which the caller has built in steps. If `grants` is undefined, the next
   * decision builds them without a pause.
   */
  setRole(
    { namespace, name }: RoleLocation,
    rules: readonly KeptRule[] | undefined,
    grants?: Grants,
  ): void {
    const role = this.#roleAt(namespace, name)
    role.setRules(rules, grants)
    this.#dropUnused(role, namespace)
  }

  /** Updates a binding. Undefined content means that the binding was deleted. */
  setBinding(place: RoleLocation, content: BindingContent | undefined): void {
    const key = keyOf(place.namespace, place.name)
    const before = this.#bindings.get(key)
    if (before !== undefined && content !== undefined && isSameBinding(before, content)) return
    const after = content && this.#bindingOf(place, content)
    if (after === undefined) this.#bindings.delete(key)
    else this.#bindings.set(key, after)
    this.#replaceRole(before, after)
    this.#replaceNames(place.namespace, before, after)
  }

  /** Returns the rules of a role, or undefined if the role does not exist. */
  rulesOf(kind: RoleKind, { namespace, name }: RoleLocation): readonly KeptRule[] | undefined {
    return this.#roles.get(keyOf(kind === 'Role' ? namespace : '', name))?.rules
  }

  /**
   * Visits the bindings of a user: the ClusterRoleBindings first, as in kube-apiserver, and then
   * the RoleBindings of the namespace, unless the namespace is empty. Within both lists, the
   * bindings of the user name precede those of the groups; kube-apiserver's order is random.
   *
   * If several bindings have the same role, some of them are not visited. Returns whether `see` has
   * returned true, which ends the visit.
   */
  visit(user: User, namespace: string, see: Visit): boolean {
    if (this.#byNamespace.get('')?.visit(user, see) === true) return true
    return namespace !== '' && this.#byNamespace.get(namespace)?.visit(user, see) === true
  }

  /**
   * Yields all bindings that apply to a user in a namespace. If a binding matches several names of
   * the user, it is yielded several times. The index can change between two bindings.
   */
  *bindingsIn(user: User, namespace: string): Generator<Binding> {
    for (const place of namespace === '' ? [''] : ['', namespace]) {
      const bindings = this.#byNamespace.get(place)
      if (bindings !== undefined) yield* bindings.of(user)
    }
  }

  /**
   * Yields the bindings of the user in batches. The first batch has the ClusterRoleBindings, and
   * each further batch has the RoleBindings of one namespace. A batch has at most `max` bindings.
   */
  *bindingsOf(user: User, max: number): Generator<readonly BoundSubject[]> {
    for (const bindings of this.#byNamespace.values()) {
      const found = new Set<Binding>()
      for (const binding of bindings.of(user)) {
        if (found.size >= max) break
        found.add(binding)
      }
      yield [...found].flatMap((binding) => {
        const subject = firstSubject(binding, user)
        return subject === undefined ? [] : [{ binding, subject }]
      })
    }
  }

  /**
   * Yields the namespace and name of each existing role or binding: of the cluster-scoped ones if
   * `isOfCluster` is true, and of the namespaced ones otherwise.
   */
  *places(what: 'roles' | 'bindings', isOfCluster: boolean): Generator<RoleLocation> {
    for (const [key, value] of what === 'roles' ? this.#roles : this.#bindings) {
      // A role whose rules are undefined does not exist; only bindings reference it.
      if (value instanceof Role && value.rules === undefined) continue
      const namespace = key.slice(0, key.indexOf('/'))
      if ((namespace === '') === isOfCluster) yield { namespace, name: value.name }
    }
  }

  get size(): { readonly roles: number; readonly bindings: number; readonly namespaces: number } {
    return {
      roles: this.#roles.size,
      bindings: this.#bindings.size,
      namespaces: this.#byNamespace.size,
    }
  }

  #roleAt(namespace: string, name: string): Role {
    const key = keyOf(namespace, name)
    const known = this.#roles.get(key)
    if (known !== undefined) return known
    const role = new Role(namespace === '' ? 'ClusterRole' : 'Role', name)
    this.#roles.set(key, role)
    return role
  }

  #dropUnused(role: Role, namespace: string): void {
    const key = keyOf(namespace, role.name)
    // A Role that a ClusterRoleBinding references is not in the map, but there may be a ClusterRole
    // with the same name.
    if (role.rules === undefined && role.bindings === 0 && this.#roles.get(key) === role)
      this.#roles.delete(key)
  }

  #bindingOf(
    { namespace, name }: RoleLocation,
    { roleKind, roleName, subjects }: BindingContent,
  ): Binding {
    const [first] = subjects
    return {
      name,
      namespace,
      role: this.#namedRole(roleKind, roleName, namespace),
      subjects: subjects.length === 1 && first !== undefined ? first : new SubjectList(subjects),
    }
  }

  #namedRole(kind: string, name: string, namespace: string): Binding['role'] {
    if (kind === 'ClusterRole') return this.#roleAt('', name)
    // A ClusterRoleBinding that references a Role has no effect, because a Role has a namespace.
    // Validation rejects such a binding, but it can be written directly to etcd.
    if (kind === 'Role')
      return namespace === '' ? new Role('Role', name) : this.#roleAt(namespace, name)
    return { unknownKind: kind }
  }

  /**
   * Updates how many bindings reference the old and the new role of a binding. The new reference is
   * counted first. Otherwise, a missing role that was and still is referenced would be removed.
   */
  #replaceRole(before: Binding | undefined, after: Binding | undefined): void {
    if (after?.role instanceof Role) after.role.bindings++
    if (!(before?.role instanceof Role)) return
    before.role.bindings--
    this.#dropUnused(before.role, before.role.kind === 'Role' ? before.namespace : '')
  }

  #replaceNames(namespace: string, before: Binding | undefined, after: Binding | undefined): void {
    const bindings = this.#byNamespace.get(namespace) ?? new NamespaceBindings()
    if (before !== undefined) bindings.remove(before)
    if (after !== undefined) bindings.add(after)
    if (bindings.isEmpty) this.#byNamespace.delete(namespace)
    else this.#byNamespace.set(namespace, bindings)
  }
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`

function isSameBinding(
  binding: Binding,
  { roleKind, roleName, subjects: others }: BindingContent,
): boolean {
  const { role } = binding
  if (!(role instanceof Role) || role.kind !== roleKind || role.name !== roleName) return false
  const all = subjectsOf(binding)
  return (
    all.length === others.length &&
    all.every((one, at) => one.kind === others[at]?.kind && one.matches === others[at].matches)
  )
}
