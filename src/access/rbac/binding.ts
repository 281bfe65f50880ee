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
  /** The namespace of a RoleBinding. Empty for a ClusterRoleBinding. */
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
   * Position of the first subject with each user name, and in `#groups` with each group name.
   * Computed when a long list is searched for the first time.
   */
  #users: ReadonlyMap<string, number> | undefined
  #groups: ReadonlyMap<string, number> | undefined

  constructor(all: readonly Subject[]) {
    this.all = all
  }

  /** Returns the first subject that matches the user. */
  firstFor(user: User): Subject | undefined {
    if (this.all.length <= SCAN_MAX) {
      const groups = groupsOf(user)
      return this.all.find(({ kind, matches }) =>
        kind === 'Group' ? hasGroup(groups, matches) : matches === user.name,
      )
    }
    const users = (this.#users ??= positions(this.all, (kind) => kind !== 'Group'))
    const groups = (this.#groups ??= positions(this.all, (kind) => kind === 'Group'))
    let first = users.get(user.name) ?? Infinity
    for (const group of groupsOf(user)) first = Math.min(first, groups.get(group) ?? Infinity)
    return this.all[first]
  }
}

export const subjectsOf = ({ subjects }: Binding): readonly Subject[] =>
  subjects instanceof SubjectList ? subjects.all : [subjects]

/**
 * Returns the first subject of a binding that matches the user. The reason of a decision names this
 * subject.
 */
export const firstSubject = ({ subjects }: Binding, user: User): Subject | undefined =>
  subjects instanceof SubjectList ? subjects.firstFor(user) : subjects

/**
 * The sets of groups that `groupsOf` has built, by list of groups. Requests with the same client
 * certificate or cached token share one list, so its set is built only once.
 */
const groupSets = new WeakMap<readonly string[], ReadonlySet<string>>()

type Groups = readonly string[] | ReadonlySet<string>

/**
 * Returns the groups of a user. Many groups are returned as a set, because a client can repeat a
 * group thousands of times.
 */
export function groupsOf({ groups }: User): Groups {
  if (groups.length <= SCAN_MAX) return groups
  const known = groupSets.get(groups) ?? new Set(groups)
  groupSets.set(groups, known)
  return known
}

const hasGroup = (groups: Groups, group: string): boolean =>
  'has' in groups ? groups.has(group) : groups.includes(group)

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
