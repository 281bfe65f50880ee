/**
 * Functions for authorization checks, such as
 * `authorizer.group("apps").resource("deployments").namespace("a").check("get").allowed()`. The
 * value of the variable `authorizer` contains the authorizer that these functions call.
 */
import { checkDnsLabel, checkDnsSubdomain } from '../../../api/names.ts'
import type { MaybePromise } from '../../../lib/concurrency/maybe-promise.ts'
import { sizeOf, traversal } from '../cost.ts'
import type { Library } from '../environment.ts'
import { type FunctionPart, member, type Meter } from '../functions.ts'
import { LaterResult } from '../question.ts'
import { fixed, scaled, unknownSize } from '../ranges.ts'
import { bool, opaque, string, type Type } from '../types.ts'
import { CelError, noSuchOverload, type Opaque, type Result, type Value } from '../values.ts'

/**
 * An authorization check of a path or a resource. If `serviceAccount` is set, the check is for this
 * account instead of the user of the request.
 */
export type AccessCheck = {
  readonly verb: string
  readonly serviceAccount?: { readonly namespace: string; readonly name: string }
  readonly path?: string
  readonly group?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export type CheckDecision = {
  readonly isAllowed: boolean
  readonly reason: string
  readonly error?: string
}

/**
 * Decides whether access is allowed. If it returns a promise, the evaluation waits for it. If the
 * evaluation cannot wait (`Program.evaluate`), the check has an error as its result.
 */
export type CheckAccess = (check: AccessCheck) => MaybePromise<CheckDecision>

export type CheckedResource = Pick<
  AccessCheck,
  'group' | 'resource' | 'subresource' | 'namespace' | 'name'
>

/** Returns the value of the variable `authorizer`. */
export const authorizerValue = (checkAccess: CheckAccess): Value => new AuthorizerValue(checkAccess)
/** Returns the value of the variable `authorizer.requestResource`. */
export const requestResourceValue = (checkAccess: CheckAccess, resource: CheckedResource): Value =>
  new AuthorizerValue(checkAccess, 'ResourceCheck', resource)

type Stage = 'Authorizer' | 'PathCheck' | 'GroupCheck' | 'ResourceCheck'
type PartialCheck = Omit<AccessCheck, 'verb'>

/** The value of the variable `authorizer`, or of a call such as `authorizer.group("apps")`. */
class AuthorizerValue implements Opaque {
  readonly typeName: string
  readonly stage: Stage
  readonly checkAccess: CheckAccess
  readonly asked: PartialCheck

  constructor(checkAccess: CheckAccess, stage: Stage = 'Authorizer', asked: PartialCheck = {}) {
    this.checkAccess = checkAccess
    this.stage = stage
    this.asked = asked
    this.typeName = `kubernetes.authorization.${stage}`
  }

  isSame(other: Opaque): boolean {
    return this === other
  }
}

class DecisionValue implements Opaque {
  readonly typeName = 'kubernetes.authorization.Decision'
  readonly decision: CheckDecision

  constructor(decision: CheckDecision) {
    this.decision = decision
  }

  isSame(other: Opaque): boolean {
    return this === other
  }
}

const stages = {
  Authorizer: opaque('kubernetes.authorization.Authorizer'),
  PathCheck: opaque('kubernetes.authorization.PathCheck'),
  GroupCheck: opaque('kubernetes.authorization.GroupCheck'),
  ResourceCheck: opaque('kubernetes.authorization.ResourceCheck'),
} as const
const decisionType = opaque('kubernetes.authorization.Decision')

export const authorizerType: Type = stages.Authorizer
export const resourceCheckType: Type = stages.ResourceCheck

/** Cost of a check in kube-apiserver. It is high because authorizers can call webhooks. */
const CHECK_COST = 350_000

type Next = {
  readonly from: Stage
  readonly to: Stage
  readonly set: (text: string) => PartialCheck | CelError
}

function step(name: string, { from, to, set }: Next): FunctionPart {
  return {
    name,
    overloads: [member(`authorizer_${name}`, [stages[from], string], stages[to])],
    run: (value, text) => {
      if (!(value instanceof AuthorizerValue) || value.stage !== from || typeof text !== 'string')
        return noSuchOverload
      const asked = set(text)
      return asked instanceof CelError
        ? asked
        : new AuthorizerValue(value.checkAccess, to, { ...value.asked, ...asked })
    },
    ...(name.endsWith('Selector')
      ? {
          estimate: ([, text]) => ({ cost: scaled(text?.size ?? unknownSize, 0.1) }),
          cost: ([, text = null]: readonly Value[]) => traversal(sizeOf(text)),
        }
      : {}),
  }
}

const onResource = (name: string, set: Next['set']): FunctionPart =>
  step(name, { from: 'ResourceCheck', to: 'ResourceCheck', set })

function serviceAccount(value: Value, namespace: Value, name: Value): Result {
  if (
    !(value instanceof AuthorizerValue) ||
    typeof namespace !== 'string' ||
    typeof name !== 'string'
  )
    return noSuchOverload
  if (checkDnsSubdomain(name).length > 0) return new CelError('Invalid service account name')
  if (checkDnsLabel(namespace).length > 0) return new CelError('Invalid service account namespace')
  return new AuthorizerValue(value.checkAccess, 'Authorizer', {
    ...value.asked,
    serviceAccount: { namespace, name },
  })
}

function check(value: Value, verb: Value, _three: Value, _four: Value, meter: Meter): Result {
  if (!(value instanceof AuthorizerValue) || typeof verb !== 'string') return noSuchOverload
  const decision = value.checkAccess({ ...value.asked, verb })
  if (!(decision instanceof Promise)) return new DecisionValue(decision)
  return meter.ask(new LaterResult(decision.then((later) => new DecisionValue(later))))
}

const answer = (
  name: string,
  run: (decision: CheckDecision) => Result,
  result: Type,
): FunctionPart => ({
  name,
  overloads: [member(`decision_${name}`, [decisionType], result)],
  run: (value) => (value instanceof DecisionValue ? run(value.decision) : noSuchOverload),
})

export const authorizerLibrary: Library = {
  functions: [
    step('path', {
      from: 'Authorizer',
      to: 'PathCheck',
      set: (path) => (path.trim() === '' ? new CelError('path must not be empty') : { path }),
    }),
    step('group', { from: 'Authorizer', to: 'GroupCheck', set: (group) => ({ group }) }),
    {
      name: 'serviceAccount',
      overloads: [
        member('authorizer_serviceaccount', [stages.Authorizer, string, string], stages.Authorizer),
      ],
      run: serviceAccount,
    },
    step('resource', {
      from: 'GroupCheck',
      to: 'ResourceCheck',
      set: (resource) =>
        resource.trim() === '' ? new CelError('resource must not be empty') : { resource },
    }),
    onResource('subresource', (subresource) => ({ subresource })),
    onResource('namespace', (namespace) => ({ namespace })),
    onResource('name', (name) => ({ name })),
    onResource('fieldSelector', (fieldSelector) => ({ fieldSelector })),
    onResource('labelSelector', (labelSelector) => ({ labelSelector })),
    {
      name: 'check',
      overloads: [
        member('pathcheck_check', [stages.PathCheck, string], decisionType),
        member('resourcecheck_check', [stages.ResourceCheck, string], decisionType),
      ],
      run: check,
      isLong: true,
      estimate: () => ({ cost: fixed(CHECK_COST) }),
      cost: () => CHECK_COST,
    },
    answer('allowed', ({ isAllowed }) => isAllowed, bool),
    answer('reason', ({ reason }) => reason, string),
    answer('errored', ({ error }) => error !== undefined, bool),
    answer('error', ({ error }) => error ?? '', string),
  ],
}
