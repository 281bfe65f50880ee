/**
 * All roles and bindings in memory, by who they are given to. What a user may do is found by the user's name and groups alone, so that
 * a decision does not grow with the number of bindings in the cluster. Kept by keep-index.ts; nothing in here waits for anything.
 */
import type { User } from '../api/user.ts'
import { type Binding, type Subject, SubjectList } from './binding.ts'
import { Role, type RoleKind } from './role.ts'
import type { Rule } from './rule.ts'

/** Where an object is; the namespace of cluster-wide ones is empty. */
export type Place = { readonly namespace: string; readonly name: string }

export type BindingContent = {
  readonly roleKind: string
  readonly roleName: string
  readonly subjects: readonly Subject[]
}

/** Called with each binding that applies; true: enough. */
export type Visit = (binding: Binding, subject: Subject) => boolean

/** The bindings of one namespace, or those of the cluster: by the names of their users and groups. One alone stands without a list. */
type Bindings = Map<string, Binding | Binding[]>

export class RoleIndex {
  /** Neither a name nor a namespace has a slash in it: `namespace/name`. */
  readonly #roles = new Map<string, Role>()
  readonly #bindings = new Map<string, Binding>()
  readonly #byNamespace = new Map<string, Bindings>()

  /** Undefined: there is no such role any more. */
  setRole({ namespace, name }: Place, rules: readonly Rule[] | undefined): void {
    const role = this.#roleAt(namespace, name)
    role.rules = rules
    this.#dropUnused(role, namespace)
  }

  /** Undefined: there is no such binding any more. */
  setBinding(place: Place, content: BindingContent | undefined): void {
    const { namespace, name } = place
    const key = keyOf(namespace, name)
    const before = this.#bindings.get(key)
    const after = content && this.#bindingOf(place, content)
    // The new one first: a role that both name and that is not there must not be forgotten in between.
    if (after !== undefined) this.#bind(after)
    if (before !== undefined) this.#unbind(before)
    if (after === undefined) this.#bindings.delete(key)
    else this.#bindings.set(key, after)
  }

  /** Undefined: there is no such role. */
  rulesOf(kind: RoleKind, { namespace, name }: Place): readonly Rule[] | undefined {
    return this.#roles.get(keyOf(kind === 'Role' ? namespace : '', name))?.rules
  }

  /**
   * Those of the cluster first, then those of the namespace (empty: none), as kube-apiserver looks; where it goes by chance, the user comes before
   * the groups. A binding can be visited again only if one name stands twice among those of the user. True: somebody had enough.
   */
  visit(user: User, namespace: string, see: Visit): boolean {
    if (visitFor(this.#byNamespace.get(''), user, see)) return true
    return namespace !== '' && visitFor(this.#byNamespace.get(namespace), user, see)
  }

  /** Of all that is there: of the cluster (empty namespace), or of all namespaces. */
  *places(what: 'roles' | 'bindings', isOfCluster: boolean): Generator<Place> {
    for (const [key, value] of what === 'roles' ? this.#roles : this.#bindings) {
      const namespace = key.slice(0, key.indexOf('/'))
      if ((namespace === '') === isOfCluster) yield { namespace, name: value.name }
    }
  }

  /** For operators and tests. */
  get size(): { readonly roles: number; readonly bindings: number; readonly namespaces: number } {
    return { roles: this.#roles.size, bindings: this.#bindings.size, namespaces: this.#byNamespace.size }
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
    if (role.rules === undefined && role.bindings === 0) this.#roles.delete(keyOf(namespace, role.name))
  }

  #bindingOf({ namespace, name }: Place, { roleKind, roleName, subjects }: BindingContent): Binding {
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
    // A ClusterRoleBinding names no Role, unless somebody wrote it to etcd: there is none outside of namespaces.
    if (kind === 'Role') return namespace === '' ? new Role('Role', name) : this.#roleAt(namespace, name)
    return { unknownKind: kind }
  }

  #bind(binding: Binding): void {
    const { namespace, role } = binding
    if (role instanceof Role) role.bindings++
    let bindings = this.#byNamespace.get(namespace)
    if (bindings === undefined) {
      bindings = new Map()
      this.#byNamespace.set(namespace, bindings)
    }
    for (const name of namesIn(binding)) {
      const known = bindings.get(name)
      if (known === undefined) bindings.set(name, binding)
      else if (Array.isArray(known)) known.push(binding)
      else bindings.set(name, [known, binding])
    }
  }

  #unbind(binding: Binding): void {
    const { namespace, role } = binding
    if (role instanceof Role) {
      role.bindings--
      this.#dropUnused(role, role.kind === 'Role' ? namespace : '')
    }
    const bindings = this.#byNamespace.get(namespace)
    if (bindings === undefined) return
    for (const name of namesIn(binding)) {
      const known = bindings.get(name)
      const rest = Array.isArray(known) ? known.filter((one) => one !== binding) : []
      const [first] = rest
      if (first === undefined) bindings.delete(name)
      else bindings.set(name, rest.length === 1 ? first : rest)
    }
    if (bindings.size === 0) this.#byNamespace.delete(namespace)
  }
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`

/** A user and a group of one name share an entry: whoever looks there asks the subject itself. */
const namesIn = ({ subjects }: Binding): Iterable<string> =>
  subjects instanceof SubjectList ? new Set(subjects.all.map(({ matches }) => matches)) : [subjects.matches]

function visitFor(bindings: Bindings | undefined, user: User, see: Visit): boolean {
  if (bindings === undefined) return false
  if (visitAt(bindings.get(user.name), user, { name: user.name, isGroup: false, see })) return true
  for (const name of user.groups) if (visitAt(bindings.get(name), user, { name, isGroup: true, see })) return true
  return false
}

/** One name of the user. */
type Visiting = { readonly name: string; readonly isGroup: boolean; readonly see: Visit }

function visitAt(found: Binding | Binding[] | undefined, user: User, visiting: Visiting): boolean {
  if (found === undefined) return false
  if (!Array.isArray(found)) return visitOne(found, user, visiting)
  for (const binding of found) if (visitOne(binding, user, visiting)) return true
  return false
}

/** One that is given to the user by several names is seen at the first subject that is the user. */
function visitOne(binding: Binding, user: User, { name, isGroup, see }: Visiting): boolean {
  const { subjects } = binding
  const subject = subjects instanceof SubjectList ? subjects.firstFor(user) : subjects
  if (subject === undefined || (subject.kind === 'Group') !== isGroup || subject.matches !== name) return false
  return see(binding, subject)
}
