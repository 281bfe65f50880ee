/** A binding: a role and the subjects that it is granted to. */
import type { User } from '../../api/user.ts'
import type { Role } from './role.ts'

/**
 * Longest list of a binding's subjects, or of a user's groups, that is scanned for each request.
 * Longer lists are looked up in a map or a set.
 */
export const SCAN_MAX = 16

export type Subject = {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  /** The namespace of a ServiceAccount; empty for other kinds. */
  readonly namespace: string
  /** The user name or group name that the subject matches. */
  readonly matches: string
}

export type Binding = {
  readonly name: string
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string
  /**
   * The role. Validation rejects an unknown kind of role, so only a direct write to etcd can store
   * one.
   */
  readonly role: Role | { readonly unknownKind: string }
  /**
   * The subjects, without those of unknown kinds. Most bindings have one subject, which is stored
   * without a list.
   */
  readonly subjects: Subject | SubjectList
}

export class SubjectList {
  readonly all: readonly Subject[]
  /**
   * The first position of each user name and of each group. They are built on the first lookup in a
   * long list.
   */
  #users: ReadonlyMap<string, number> | undefined
  #groups: ReadonlyMap<string, number> | undefined

  constructor(all: readonly Subject[]) {
    this.all = all
  }

  /** Returns the first subject that matches the user. The reason of a decision names it. */
  firstFor(user: User): Subject | undefined {
    if (this.all.length <= SCAN_MAX) return this.all.find((one) => isUser(one, user))
    const users = (this.#users ??= positions(this.all, (kind) => kind !== 'Group'))
    const groups = (this.#groups ??= positions(this.all, (kind) => kind === 'Group'))
    let first = users.get(user.name) ?? Infinity
    for (const group of user.groups) first = Math.min(first, groups.get(group) ?? Infinity)
    return this.all[first]
  }
}

/**
 * Sets of groups by list. A user sends many requests, and those with the same certificate or cached
 * token share one list.
 */
const groupSets = new WeakMap<readonly string[], ReadonlySet<string>>()

/**
 * Finds the first subject of each list that matches one user with many groups. A decision visits a
 * binding once per matching subject, but this class compares each list with the user only once.
 */
export class FirstSubjects {
  /**
   * The groups of the user without duplicates, because a client may repeat a group thousands of
   * times.
   */
  readonly groups: ReadonlySet<string>
  readonly #user: User
  #known: Map<SubjectList, Subject | undefined> | undefined

  constructor(user: User) {
    this.#user = user
    this.groups = groupSets.get(user.groups) ?? new Set(user.groups)
    groupSets.set(user.groups, this.groups)
  }

  in(list: SubjectList): Subject | undefined {
    this.#known ??= new Map()
    if (this.#known.has(list)) return this.#known.get(list)
    const first =
      list.all.length > this.groups.size ? list.firstFor(this.#user) : list.all.find(this.#isMatch)
    this.#known.set(list, first)
    return first
  }

  readonly #isMatch = ({ kind, matches }: Subject): boolean =>
    kind === 'Group' ? this.groups.has(matches) : matches === this.#user.name
}

const isUser = ({ kind, matches }: Subject, { name, groups }: User): boolean =>
  kind === 'Group' ? groups.includes(matches) : matches === name

function positions(
  all: readonly Subject[],
  isMeant: (kind: Subject['kind']) => boolean,
): Map<string, number> {
  const found = new Map<string, number>()
  for (const [at, { kind, matches }] of all.entries()) {
    if (isMeant(kind) && !found.has(matches)) found.set(matches, at)
  }
  return found
}
