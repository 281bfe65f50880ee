/** A role binding: a role and the subjects to which it is granted. */
import type { User } from '../../api/user.ts'
import type { Role } from './role.ts'

/**
 * Maximum length of a list that is scanned for each request. Longer lists of subjects or groups are
 * looked up in a map or a set.
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
   * The role. The API accepts only Role and ClusterRole; another kind can only be written directly
   * to etcd.
   */
  readonly role: Role | { readonly unknownKind: string }
  /**
   * The subjects, without subjects of unknown kinds. Most bindings have a single subject, which is
   * stored without a list.
   */
  readonly subjects: Subject | SubjectList
}

export class SubjectList {
  readonly all: readonly Subject[]
  /**
   * Maps each user name or group name to the position of the first subject with that name. Built by
   * the first lookup in a long list.
   */
  #users: ReadonlyMap<string, number> | undefined
  #groups: ReadonlyMap<string, number> | undefined

  constructor(all: readonly Subject[]) {
    this.all = all
  }

  /**
   * Returns the first subject that matches the user. The reason of the decision names this subject.
   */
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
 * Sets of groups, by list of groups. Requests with the same client certificate or cached token
 * share one list, so its set is built only once.
 */
const groupSets = new WeakMap<readonly string[], ReadonlySet<string>>()

/**
 * Finds the first matching subject of each list for one user with many groups. A decision visits a
 * binding once for each matching subject, but the list of a binding is searched only once.
 */
export class FirstSubjects {
  /**
   * The groups of the user without duplicates, because a client can repeat a group thousands of
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
