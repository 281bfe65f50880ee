/**
 * User impersonation through headers. The caller needs permission for the verb `impersonate` for
 * each part of the identity in the headers. The request then has only the permissions of the
 * impersonated user. Groups that the impersonated user gets implicitly are not checked.
 */
import type { AccessAttributes } from '../../api/access.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { checkDnsLabel, checkDnsSubdomain } from '../../api/names.ts'
import { impersonatesNobody, impersonatesNobodyText } from '../../api/errors.ts'
import { type ApiRequest, decodeHeaderKey, headerValues } from '../../api/request.ts'
import {
  anonymousUser,
  authenticatedGroup,
  unauthenticatedGroup,
  type User,
} from '../../api/user.ts'
import {
  accountGroups,
  parseAccountUserName,
  type ServiceAccountRef,
} from '../../api/service-account.ts'
import { refuseLong } from './long-values.ts'
import type { Authorize, WaitingRequest } from '../../access/authorization/authorizer.ts'
import { refusal } from '../../access/authorization/refusal.ts'

const USER = 'impersonate-user'
const GROUP = 'impersonate-group'
const UID = 'impersonate-uid'
const EXTRA = 'impersonate-extra-'
const authenticationGroup = 'authentication.k8s.io'

/**
 * The first release in which headers without a user name get a Status with code 400. Before, they
 * get a text with code 500.
 */
const BAD_REQUEST_SINCE = 35

type ImpersonatedUser = {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: readonly (readonly [key: string, value: string])[]
}

export type ImpersonateOptions = {
  readonly authorize: Authorize
  /** Minor version of the release. */
  readonly release: number
  readonly waiting?: WaitingRequest
}

/**
 * Whether a request has impersonation headers. This check must be cheap, because most requests have
 * none.
 */
export function asksToImpersonate(headers: IncomingHttpHeaders): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}

/**
 * Returns the impersonated user. Fails with Forbidden if the caller lacks a permission, and with
 * BadRequest if a header is too long, or if the headers contain other parts of an identity but no
 * user name. Before 1.35, the latter is a TextError.
 */
export async function impersonate(
  request: ApiRequest,
  user: User,
  { authorize, release, waiting }: ImpersonateOptions,
): Promise<User> {
  const asked = readHeaders(request.headers)
  const isAsked =
    asked.name !== '' || asked.uid !== '' || asked.groups.length > 0 || asked.extra.length > 0
  if (!isAsked) return user
  if (asked.name === '') throw nobody(request, asked, release)
  for (const attributes of rightsFor(asked)) {
    const { verdict, reason } = await authorize(user, attributes, waiting)
    if (verdict !== 'allow') throw refusal(user, attributes, reason)
  }
  return identityOf(asked)
}

function nobody(request: ApiRequest, asked: ImpersonatedUser, release: number): Error {
  const parts = partsOf(asked)
  return release < BAD_REQUEST_SINCE
    ? impersonatesNobodyText(request, parts)
    : impersonatesNobody(parts)
}

function readHeaders(headers: IncomingHttpHeaders): ImpersonatedUser {
  const extra: (readonly [string, string])[] = []
  for (const header in headers) {
    if (!header.startsWith(EXTRA)) continue
    const key = decodeHeaderKey(header.slice(EXTRA.length))
    for (const value of headerValues(headers, header)) extra.push([key, value])
  }
  const [name = ''] = headerValues(headers, USER)
  const [uid = ''] = headerValues(headers, UID)
  const groups = headerValues(headers, GROUP)
  for (const value of [name, uid, ...groups, ...extra.flat()])
    refuseLong('an impersonation header', value)
  return { name, uid, groups, extra }
}

function accountOf(user: string): ServiceAccountRef | undefined {
  const account = parseAccountUserName(user)
  const isValid =
    account !== undefined &&
    checkDnsLabel(account.namespace).length === 0 &&
    checkDnsSubdomain(account.name).length === 0
  return isValid ? account : undefined
}

/**
 * Yields the permissions that the caller needs, in the order in which they are checked. The first
 * denied permission is reported.
 */
function* rightsFor({
  name,
  uid,
  groups,
  extra,
}: ImpersonatedUser): Generator<Extract<AccessAttributes, { kind: 'resource' }>> {
  const base = {
    kind: 'resource',
    verb: 'impersonate',
    group: '',
    version: '',
    subresource: '',
    namespace: '',
  } as const
  const account = accountOf(name)
  if (account === undefined) yield { ...base, plural: 'users', name }
  else yield { ...base, plural: 'serviceaccounts', ...account }
  for (const one of groups) yield { ...base, plural: 'groups', name: one }
  const special = { ...base, group: authenticationGroup, version: 'v1' }
  for (const [key, value] of extra)
    yield { ...special, plural: 'userextras', subresource: key, name: value }
  if (uid !== '') yield { ...special, plural: 'uids', name: uid }
}

function identityOf({ name, uid, groups, extra }: ImpersonatedUser): User {
  const account = accountOf(name)
  const given =
    groups.length === 0 && account !== undefined ? accountGroups(account.namespace) : groups
  const more = Map.groupBy(extra, ([key]) => key)
  const values = Array.from(more, ([key, all]) => [key, all.map(([, value]) => value)] as const)
  return {
    name,
    uid,
    groups: withOwnGroup(name, given),
    ...(extra.length === 0 ? {} : { extra: Object.fromEntries(values) }),
  }
}

function withOwnGroup(name: string, groups: readonly string[]): readonly string[] {
  if (groups.includes(unauthenticatedGroup)) return groups
  if (name === anonymousUser.name) return [...groups, unauthenticatedGroup]
  return groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup]
}

/**
 * Returns the parts of the identity in the format in which Go prints object references: kind,
 * namespace, name, version and field path. Empty parts are printed as spaces.
 */
function partsOf({ uid, groups, extra }: ImpersonatedUser): string[] {
  const version = `${authenticationGroup}/v1`
  return [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...extra.map(([key, value]) => `{UserExtra  ${value}  ${version}  ${key}}`),
    ...(uid === '' ? [] : [`{UID  ${uid}  ${version}  }`]),
  ]
}
