/** Who a binding gives a role to. */
import type { User } from '../api/user.ts'
import type { Role } from './role.ts'

/** A longer list of subjects is not gone through for each request. */
const SCAN_MAX = 16

export type Subject = {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  /** Of a service account. */
  readonly namespace: string
  /** The name of the user or of the group that it is. */
  readonly matches: string
}

export type Binding = {
  readonly name: string
  /** Empty: a ClusterRoleBinding. */
  readonly namespace: string
  /** A kind that there is none of can only be stored by who writes to etcd. */
  readonly role: Role | { readonly unknownKind: string }
  /** Those that can be somebody; one alone stands without a list, as in most bindings. */
  readonly subjects: Subject | SubjectList
}

export class SubjectList {
  readonly all: readonly Subject[]
  /** Where a long list first has a name: of a user, of a group. */
  readonly #users: ReadonlyMap<string, number> | undefined
  readonly #groups: ReadonlyMap<string, number> | undefined

  constructor(all: readonly Subject[]) {
    this.all = all
    if (all.length <= SCAN_MAX) return
    this.#users = positions(all, (kind) => kind !== 'Group')
    this.#groups = positions(all, (kind) => kind === 'Group')
  }

  /** Reasons name it. */
  firstFor(user: User): Subject | undefined {
    if (this.#users === undefined || this.#groups === undefined) return this.all.find((one) => isUser(one, user))
    let first = this.#users.get(user.name) ?? Infinity
    for (const group of user.groups) first = Math.min(first, this.#groups.get(group) ?? Infinity)
    return this.all[first]
  }
}

const isUser = ({ kind, matches }: Subject, { name, groups }: User): boolean =>
  kind === 'Group' ? groups.includes(matches) : matches === name

function positions(all: readonly Subject[], isMeant: (kind: Subject['kind']) => boolean): Map<string, number> {
  const found = new Map<string, number>()
  for (const [at, { kind, matches }] of all.entries()) {
    if (isMeant(kind) && !found.has(matches)) found.set(matches, at)
  }
  return found
}
