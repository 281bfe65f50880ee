/**
 * A validating or mutating policy and its bindings, reduced to the fields that the evaluation of
 * requests needs.
 */
import type { Requirement } from '../../api/label-selector.ts'
import { type Fields, fieldsOf, type KubeObject, textOf, textsOf } from '../../api/object.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { Slice } from '../../objects/cel/run.ts'
import { nowOrInTurns, type Turns } from '../../objects/cel/turns.ts'
import { requirementsOf } from '../../registry/rules/label-selector.ts'
import { isSame } from '../../objects/schema/equal.ts'
import { type MatchCriteria, readPolicyCriteria } from '../match/criteria.ts'
import { isParameterized } from './compile-expressions.ts'

export type ParamKind = { readonly apiVersion: string; readonly kind: string }

/** Compiles the expressions in the spec of a policy. */
export type Compile<C> = (spec: Fields, slice: Slice) => Turns<C>

export class Policy<C> {
  readonly name: string
  readonly #uid: string | undefined
  readonly criteria: MatchCriteria
  /** Whether errors of the policy are ignored. If false, errors deny the request. */
  readonly ignoresErrors: boolean
  readonly paramKind: ParamKind | undefined
  /** Whether reinvocationPolicy is IfNeeded. Only mutating policies have this field. */
  readonly isReinvoked: boolean
  readonly #spec: Fields
  readonly #compile: Compile<C>
  #compiled: MaybePromise<C> | undefined

  constructor({ metadata, spec }: KubeObject, compile: Compile<C>) {
    const { name = '' } = metadata
    this.name = name
    this.#uid = metadata.uid
    this.#spec = fieldsOf(spec)
    this.#compile = compile
    this.criteria = readPolicyCriteria(fieldsOf(this.#spec['matchConstraints']))
    this.ignoresErrors = this.#spec['failurePolicy'] === 'Ignore'
    this.isReinvoked = this.#spec['reinvocationPolicy'] === 'IfNeeded'
    const { apiVersion, kind } = fieldsOf(this.#spec['paramKind'])
    this.paramKind = isParameterized(this.#spec)
      ? { apiVersion: textOf(apiVersion), kind: textOf(kind) }
      : undefined
  }

  /**
   * Returns whether the specs are equal. Comparing generations is not enough: after a restore of
   * etcd, the same generation can have a different spec.
   */
  isSameAs(other: Policy<C>): boolean {
    return this.#uid === other.#uid && isSame(this.#spec, other.#spec)
  }

  /**
   * Returns the compiled expressions. They are compiled for the first request that the policy
   * matches, and then reused. Returns a promise only while a long compilation runs.
   */
  compiled(): MaybePromise<C> {
    if (this.#compiled !== undefined) return this.#compiled
    const compiled = nowOrInTurns((slice) => this.#compile(this.#spec, slice))
    if (!(compiled instanceof Promise)) return (this.#compiled = compiled)
    this.#compiled = compiled.then(
      (done) => (this.#compiled = done),
      (error: unknown) => {
        // Forget the failed compilation, so that the next matching request compiles the expressions
        // again.
        this.#compiled = undefined
        throw error
      },
    )
    return this.#compiled
  }
}

export type ParamRef = {
  /** Name of the parameter. Empty if `selector` selects the parameters. */
  readonly name: string
  /**
   * Requirements of the label selector that selects the parameters. Undefined if the binding has no
   * selector, or an invalid one.
   */
  readonly selector: readonly Requirement[] | undefined
  /** Namespace of the parameters. Empty if they are in the namespace of the request. */
  readonly namespace: string
  readonly deniesIfNone: boolean
}

export type Action = 'Deny' | 'Warn' | 'Audit'

export type Binding = {
  readonly name: string
  readonly policyName: string
  readonly criteria: MatchCriteria
  /** The validationActions. Empty for a mutating policy. */
  readonly actions: readonly string[]
  /** Reference to the parameters. If it is undefined, the value of `params` is null. */
  readonly paramRef: ParamRef | undefined
}

export function readBinding({ metadata, spec }: KubeObject): Binding {
  const { policyName, matchResources, validationActions, paramRef } = fieldsOf(spec)
  return {
    name: metadata.name ?? '',
    policyName: textOf(policyName),
    criteria: readPolicyCriteria(fieldsOf(matchResources)),
    actions: textsOf(validationActions),
    paramRef:
      paramRef === undefined || paramRef === null ? undefined : readParamRef(fieldsOf(paramRef)),
  }
}

function readParamRef({ name, selector, namespace, parameterNotFoundAction }: Fields): ParamRef {
  return {
    name: textOf(name),
    selector:
      selector === undefined || selector === null ? undefined : requirementsOf(fieldsOf(selector)),
    namespace: textOf(namespace),
    deniesIfNone: parameterNotFoundAction === 'Deny',
  }
}
