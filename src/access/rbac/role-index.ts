/**
 * An index of all roles and bindings in memory. Bindings are indexed by user name and group, so
 * that the time of a decision does not depend on the number of bindings in the cluster.
 * RolesInformer keeps the index current; all methods are synchronous.
 */
import type { User } from '../../api/user.ts'
import { AllowDecisions } from './allow-decisions.ts'
import { type Binding, FirstSubjects, SCAN_MAX, type Subject, SubjectList } from './binding.ts'
import { Role, type RoleKind } from './role.ts'
import type { Rule } from './rule.ts'

/** Namespace and name of an object. The namespace is empty for cluster-scoped objects. */
export type RoleLocation = { readonly namespace: string; readonly name: string }

export type BindingContent = {
  readonly roleKind: string
  readonly roleName: string
  readonly subjects: readonly Subject[]
}

/** Called for each binding that applies to the user. Returns true to stop. */
export type Visit = (binding: Binding, subject: Subject) => boolean

export type BoundSubject = { readonly binding: Binding; readonly subject: Subject }

/**
 * The RoleBindings of one namespace, or the ClusterRoleBindings, by user name and group. A single
 * binding is stored without a Set.
 */
type Bindings = Map<string, Binding | Set<Binding>>

export class RoleIndex {
  readonly allowed = new AllowDecisions()
  /** Roles by `namespace/name`. Namespaces and names cannot contain a slash. */
  readonly #roles = new Map<string, Role>()
  readonly #bindings = new Map<string, Binding>()
  readonly #byNamespace = new Map<string, Bindings>()

  /** Updates a role. Undefined rules mean that the role was deleted. */
  setRole({ namespace, name }: RoleLocation, rules: readonly Rule[] | undefined): void {
    const role = this.#roleAt(namespace, name)
    role.rules = rules
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
  rulesOf(kind: RoleKind, { namespace, name }: RoleLocation): readonly Rule[] | undefined {
    return this.#roles.get(keyOf(kind === 'Role' ? namespace : '', name))?.rules
  }

  /**
   * Visits the bindings of a user. ClusterRoleBindings come first, as in kube-apiserver. Then
   * follow the RoleBindings of the namespace, unless the namespace is empty. Within both lists, the
   * bindings of the user name precede those of the groups; kube-apiserver's order is random.
   *
   * A binding is visited more than once only if the user has few groups and one of them is
   * repeated. Returns whether a visit returned true.
   */
  visit(user: User, namespace: string, see: Visit): boolean {
    const visitor = { user, firsts: firstsOf(user), see }
    if (visitFor(this.#byNamespace.get(''), visitor)) return true
    return namespace !== '' && visitFor(this.#byNamespace.get(namespace), visitor)
  }

  /**
   * Yields the bindings that `visit` visits, each of them once. Also yields undefined, so that the
   * caller can pause. The index can change between two bindings.
   */
  *bindingsIn(user: User, namespace: string): Generator<Binding | undefined> {
    const visitor = { user, firsts: firstsOf(user), see: () => true }
    const groups = [...new Set(user.groups)].map((name) => ({ name, isGroup: true }))
    for (const place of namespace === '' ? [''] : ['', namespace]) {
      const bindings = this.#byNamespace.get(place)
      if (bindings === undefined) continue
      for (const identity of [{ name: user.name, isGroup: false }, ...groups]) {
        const found = bindings.get(identity.name) ?? []
        for (const binding of 'name' in found ? [found] : found)
          yield visitOne(binding, visitor, identity) ? binding : undefined
      }
    }
  }

  /**
   * Yields the bindings of the user in batches. The first batch has the ClusterRoleBindings, and
   * each further batch has the RoleBindings of one namespace. A batch has at most `max` bindings.
   */
  *bindingsOf(user: User, max: number): Generator<readonly BoundSubject[]> {
    const firsts = firstsOf(user)
    for (const bindings of this.#byNamespace.values()) {
      const found: BoundSubject[] = []
      visitFor(bindings, {
        user,
        firsts,
        see: (binding, subject) => found.push({ binding, subject }) >= max,
      })
      yield found
    }
  }

  /**
   * Yields the namespace and name of each existing role or binding: either only the cluster-scoped
   * ones, or only the namespaced ones.
   */
  *places(what: 'roles' | 'bindings', isOfCluster: boolean): Generator<RoleLocation> {
    for (const [key, value] of what === 'roles' ? this.#roles : this.#bindings) {
      // A role without rules does not exist; it is only referenced by bindings.
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
    // Validation rejects a ClusterRoleBinding that references a Role. If such a binding is written
    // directly to etcd, its role cannot exist.
    if (kind === 'Role')
      return namespace === '' ? new Role('Role', name) : this.#roleAt(namespace, name)
    return { unknownKind: kind }
  }

  /**
   * Updates the number of references to the roles. Counts the new reference first, so that a
   * missing role that both bindings reference stays in the index.
   */
  #replaceRole(before: Binding | undefined, after: Binding | undefined): void {
    if (after?.role instanceof Role) after.role.bindings++
    if (!(before?.role instanceof Role)) return
    before.role.bindings--
    this.#dropUnused(before.role, before.role.kind === 'Role' ? before.namespace : '')
  }

  #replaceNames(namespace: string, before: Binding | undefined, after: Binding | undefined): void {
    const bindings = this.#byNamespace.get(namespace) ?? new Map<string, Binding | Set<Binding>>()
    const names = after === undefined ? noNames : namesIn(after)
    if (before !== undefined)
      for (const name of namesIn(before)) if (!names.has(name)) remove(bindings, name, before)
    if (after !== undefined) for (const name of names) replace(bindings, name, { before, after })
    if (bindings.size === 0) this.#byNamespace.delete(namespace)
    else this.#byNamespace.set(namespace, bindings)
  }
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`

function isSameBinding(
  { role, subjects }: Binding,
  { roleKind, roleName, subjects: others }: BindingContent,
): boolean {
  if (!(role instanceof Role) || role.kind !== roleKind || role.name !== roleName) return false
  const all = subjects instanceof SubjectList ? subjects.all : [subjects]
  return (
    all.length === others.length &&
    all.every((one, at) => one.kind === others[at]?.kind && one.matches === others[at].matches)
  )
}

const noNames: ReadonlySet<string> = new Set()

/**
 * Returns the names under which a binding is stored. A user and a group with the same name share an
 * entry of the map; visits check the kind of the subject.
 */
const namesIn = ({ subjects }: Binding): ReadonlySet<string> =>
  new Set(
    subjects instanceof SubjectList
      ? subjects.all.map(({ matches }) => matches)
      : [subjects.matches],
  )

function remove(bindings: Bindings, name: string, binding: Binding): void {
  const known = bindings.get(name)
  if (known === binding) bindings.delete(name)
  if (!(known instanceof Set)) return
  known.delete(binding)
  const [only] = known
  if (known.size === 1 && only !== undefined) bindings.set(name, only)
}

type Replacement = { readonly before: Binding | undefined; readonly after: Binding }

function replace(bindings: Bindings, name: string, { before, after }: Replacement): void {
  const known = bindings.get(name)
  if (known instanceof Set) {
    if (before !== undefined) known.delete(before)
    known.add(after)
  } else if (known === undefined || known === before) bindings.set(name, after)
  else bindings.set(name, new Set([known, after]))
}

/**
 * A user whose bindings are visited. `firsts` finds the first matching subject of each binding; it
 * is undefined if the user has few groups.
 */
type Visitor = {
  readonly user: User
  readonly firsts: FirstSubjects | undefined
  readonly see: Visit
}

const firstsOf = (user: User): FirstSubjects | undefined =>
  user.groups.length > SCAN_MAX ? new FirstSubjects(user) : undefined

function visitFor(bindings: Bindings | undefined, visitor: Visitor): boolean {
  if (bindings === undefined) return false
  const { name: userName } = visitor.user
  const groups = visitor.firsts?.groups ?? visitor.user.groups
  if (visitAt(bindings.get(userName), visitor, { name: userName, isGroup: false })) return true
  for (const name of groups)
    if (visitAt(bindings.get(name), visitor, { name, isGroup: true })) return true
  return false
}

/** The name of the user or of one of the user's groups. */
type Identity = { readonly name: string; readonly isGroup: boolean }

function visitAt(
  found: Binding | Set<Binding> | undefined,
  visitor: Visitor,
  identity: Identity,
): boolean {
  if (found === undefined) return false
  if (!(found instanceof Set)) return visitOne(found, visitor, identity)
  for (const binding of found) if (visitOne(binding, visitor, identity)) return true
  return false
}

const firstIn = (
  list: SubjectList,
  user: User,
  firsts: FirstSubjects | undefined,
): Subject | undefined => (firsts === undefined ? list.firstFor(user) : firsts.in(list))

/**
 * Visits a binding. If several subjects match the user, the binding is visited only for the first
 * of them.
 */
function visitOne(
  binding: Binding,
  { user, firsts, see }: Visitor,
  { name, isGroup }: Identity,
): boolean {
  const { subjects } = binding
  const subject = subjects instanceof SubjectList ? firstIn(subjects, user, firsts) : subjects
  if (subject === undefined || (subject.kind === 'Group') !== isGroup || subject.matches !== name)
    return false
  return see(binding, subject)
}
