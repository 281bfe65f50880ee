/** A validating policy and its bindings, as far as requests need them. */
import { type Fields, fieldsOf, type KubeObject, textOf, textsOf } from '../../api/object.ts'
import { nowOrInTurns } from '../../cel/turns.ts'
import { type MatchCriteria, readPolicyCriteria } from '../match/criteria.ts'
import type { Maybe } from '../objects.ts'
import { type CompiledPolicy, compilePolicy, isParameterized } from './compile-policy.ts'

export type ParamKind = { readonly apiVersion: string; readonly kind: string }

export class Policy {
  readonly name: string
  /** Changes whenever the spec does. */
  readonly version: string
  readonly criteria: MatchCriteria
  /** Whether errors are ignored; else they deny the request. */
  readonly ignoresErrors: boolean
  readonly paramKind: ParamKind | undefined
  readonly #spec: Fields
  #compiled: Maybe<CompiledPolicy> | undefined

  constructor({ metadata, spec }: KubeObject) {
    const { name = '' } = metadata
    this.name = name
    this.version = versionOf(metadata)
    this.#spec = fieldsOf(spec)
    this.criteria = readPolicyCriteria(fieldsOf(this.#spec['matchConstraints']))
    this.ignoresErrors = this.#spec['failurePolicy'] === 'Ignore'
    const { apiVersion, kind } = fieldsOf(this.#spec['paramKind'])
    this.paramKind = isParameterized(this.#spec) ? { apiVersion: textOf(apiVersion), kind: textOf(kind) } : undefined
  }

  /** Compiled when the first request matches, and then kept. A promise only while that takes long. */
  compiled(): Maybe<CompiledPolicy> {
    if (this.#compiled !== undefined) return this.#compiled
    const compiled = nowOrInTurns((slice) => compilePolicy(this.#spec, slice))
    this.#compiled = compiled instanceof Promise ? compiled.then((done) => (this.#compiled = done)) : compiled
    return this.#compiled
  }
}

export const versionOf = ({ uid, generation }: KubeObject['metadata']): string => `${uid}/${generation}`

export type ParamRef = {
  /** Empty: `selector` decides. */
  readonly name: string
  /** Undefined: there is none, or it is not valid. */
  readonly selector: Fields | undefined
  /** Empty: the namespace of the request. */
  readonly namespace: string
  readonly deniesIfNone: boolean
}

export type Action = 'Deny' | 'Warn' | 'Audit'

export type Binding = {
  readonly name: string
  readonly policyName: string
  readonly criteria: MatchCriteria
  readonly actions: readonly string[]
  /** Undefined: `params` is null. */
  readonly paramRef: ParamRef | undefined
}

export function readBinding({ metadata, spec }: KubeObject): Binding {
  const { policyName, matchResources, validationActions, paramRef } = fieldsOf(spec)
  return {
    name: metadata.name ?? '',
    policyName: textOf(policyName),
    criteria: readPolicyCriteria(fieldsOf(matchResources)),
    actions: textsOf(validationActions),
    paramRef: paramRef === undefined || paramRef === null ? undefined : readParamRef(fieldsOf(paramRef)),
  }
}

function readParamRef({ name, selector, namespace, parameterNotFoundAction }: Fields): ParamRef {
  return {
    name: textOf(name),
    selector: selector === undefined || selector === null ? undefined : fieldsOf(selector),
    namespace: textOf(namespace),
    deniesIfNone: parameterNotFoundAction === 'Deny',
  }
}
