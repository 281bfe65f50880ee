/**
 * The chain of authorizers. Members of system:masters are allowed everything. For all other users,
 * the authorizers are called in order, and the first authorizer that has an opinion decides. A
 * decision is synchronous unless a webhook is called.
 */
import { aggregate } from '../../api/aggregate.ts'
import type { AccessAttributes, AccessDecision } from '../../api/access.ts'
import { mastersGroup, type User } from '../../api/user.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { Count } from '../../lib/telemetry/metrics.ts'
import {
  allowed,
  type Authorizer,
  noOpinion,
  type Rights,
  type RightsRequest,
  type WaitingRequest,
} from './authorizer.ts'
import type { AuthorizationMetrics } from './metrics.ts'

/** An authorizer, with its configured type and name. */
export type Link = { readonly type: string; readonly name: string; readonly authorizer: Authorizer }

export type CountedLink = Link & { readonly allows: Count; readonly denies: Count }

export class AuthorizerChain implements Authorizer {
  readonly #metrics: AuthorizationMetrics
  readonly #logNow: () => Log | undefined
  #links: readonly CountedLink[]

  /** `logNow` returns the logger for decisions, or undefined while decisions are not logged. */
  constructor(
    links: readonly Link[],
    metrics: AuthorizationMetrics,
    logNow: () => Log | undefined = () => undefined,
  ) {
    this.#metrics = metrics
    this.#logNow = logNow
    this.#links = this.#counted(links)
  }

  get links(): readonly Link[] {
    return this.#links
  }

  /** Replaces the authorizers. Decisions in progress finish with the previous authorizers. */
  replace(links: readonly Link[]): void {
    this.#links = this.#counted(links)
  }

  readonly authorize = (
    user: User,
    attributes: AccessAttributes,
    waiting?: WaitingRequest,
  ): MaybePromise<AccessDecision> => {
    const isMaster = user.groups.includes(mastersGroup)
    const decision = isMaster ? allowed : decide(this.#links, user, attributes, waiting)
    const log = this.#logNow()
    if (log === undefined) return decision
    if (decision instanceof Promise)
      return decision.then((later) => logged(later, { log, user, attributes }))
    return logged(decision, { log, user, attributes })
  }

  readonly rightsOf = async (
    user: User,
    namespace: string,
    waiting: RightsRequest,
  ): Promise<Rights> => {
    const all: Rights[] = []
    for (const { authorizer } of this.#links)
      all.push(await authorizer.rightsOf(user, namespace, waiting))
    return joinRights(all)
  }

  #counted(links: readonly Link[]): readonly CountedLink[] {
    const { decisions } = this.#metrics
    return links.map((link) => ({
      ...link,
      allows: decisions.with('allowed', link.name, link.type),
      denies: decisions.with('denied', link.name, link.type),
    }))
  }
}

type Logging = { readonly log: Log; readonly user: User; readonly attributes: AccessAttributes }

function logged(decision: AccessDecision, { log, user, attributes }: Logging): AccessDecision {
  const { selectors: _, kind: __, ...what } = { selectors: undefined, ...attributes }
  const { verdict, reason, error } = decision
  log('debug', 'authorization', {
    user: user.name,
    groups: user.groups,
    ...what,
    decision: verdict,
    reason,
    error,
  })
  return decision
}

/**
 * Returns the decision of the first authorizer that has an opinion. If no authorizer has an
 * opinion, returns the reasons and errors of all authorizers.
 */
function decide(
  links: readonly CountedLink[],
  user: User,
  attributes: AccessAttributes,
  waiting: WaitingRequest | undefined,
): MaybePromise<AccessDecision> {
  let heard = nothingHeard
  let at = 0
  for (const link of links) {
    const decision = link.authorizer.authorize(user, attributes, waiting)
    if (decision instanceof Promise) {
      return decideLater(decision, { links: links.slice(at), user, attributes, waiting, heard })
    }
    if (isFinal(decision, link)) return decision
    if (decision !== noOpinion) heard = [...heard, decision]
    at++
  }
  return joined(heard)
}

type Rest = {
  /** The authorizers that have not decided yet. The decision of the first one is awaited. */
  readonly links: readonly CountedLink[]
  readonly user: User
  readonly attributes: AccessAttributes
  readonly waiting: WaitingRequest | undefined
  readonly heard: readonly AccessDecision[]
}

const nothingHeard: readonly AccessDecision[] = []

async function decideLater(first: Promise<AccessDecision>, rest: Rest): Promise<AccessDecision> {
  const { links, user, attributes, waiting } = rest
  const heard = [...rest.heard]
  let awaited: MaybePromise<AccessDecision> | undefined = first
  for (const link of links) {
    const decision: AccessDecision = await (awaited ??
      link.authorizer.authorize(user, attributes, waiting))
    awaited = undefined
    if (isFinal(decision, link)) return decision
    heard.push(decision)
  }
  return joined(heard)
}

function isFinal({ verdict }: AccessDecision, { allows, denies }: CountedLink): boolean {
  if (verdict === 'no-opinion') return false
  if (verdict === 'allow') allows.add()
  else denies.add()
  return true
}

function joined(heard: readonly AccessDecision[]): AccessDecision {
  const reasons = heard.flatMap(({ reason }) => (reason === '' ? [] : [reason]))
  const error = aggregate(heard.flatMap((decision) => decision.error ?? []))
  if (reasons.length === 0 && error === '') return noOpinion
  return { verdict: 'no-opinion', reason: reasons.join('\n'), ...(error === '' ? {} : { error }) }
}

function joinRights(all: readonly Rights[]): Rights {
  const evaluationError = aggregate(all.flatMap((rights) => rights.evaluationError ?? []))
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: all.some(({ incomplete }) => incomplete),
    ...(evaluationError === '' ? {} : { evaluationError }),
  }
}
