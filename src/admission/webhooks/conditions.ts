/** Match conditions of a webhook. The webhook is called only if all of them are true. */
import { forbidden } from '../../api/errors.ts'
import { admissionEnvironment } from '../../objects/cel/admission.ts'
import { type CompileResult, compileInTurns } from '../../objects/cel/compile.ts'
import { storedVersion } from '../../objects/cel/kubernetes.ts'
import type { Activation, Slice } from '../../objects/cel/run.ts'
import { inTurns, type Turns } from '../../objects/cel/turns.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { CONDITIONS_COST_MAX, EXPRESSION_COST_MAX, OVER_BUDGET } from '../policies/costs.ts'
import { RequestValues } from '../policies/request-values.ts'
import type { WebhookType } from './metrics.ts'
import type { WebhookOptions } from './webhook-options.ts'

type Condition = { readonly text: string; readonly compiled: CompileResult }

/** Match conditions, which are compiled when they are evaluated for the first time. */
export class Conditions {
  readonly #texts: readonly string[]
  readonly #release: number
  #compiled: Promise<readonly Condition[]> | undefined

  /**
   * Creates match conditions. `release` is the minor version of Kubernetes that the server
   * implements.
   */
  constructor(texts: readonly string[], release: number) {
    this.#texts = texts
    this.#release = release
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0
  }

  compiled(): Promise<readonly Condition[]> {
    return (this.#compiled ??= inTurns((slice) => compileAll(this.#texts, this.#release, slice)))
  }
}

function* compileAll(
  texts: readonly string[],
  release: number,
  slice: Slice,
): Turns<readonly Condition[]> {
  const names = { hasParams: false, hasAuthorizer: true, variables: undefined }
  const environment = admissionEnvironment(storedVersion(release), names)
  const conditions: Condition[] = []
  for (const text of texts)
    conditions.push({ text, compiled: yield* compileInTurns(text, environment, slice) })
  return conditions
}

export type ConditionInput = {
  readonly attributes: Attributes
  /** Resource in the version that the matching rule names. */
  readonly resource: Resource
  readonly type: WebhookType
}

type Conditional = {
  readonly name: string
  readonly conditions: Conditions
  readonly failsOpen: boolean
  readonly isListed: () => boolean
}

/**
 * Resolves to whether all conditions are true. If a condition cannot be evaluated and no condition
 * is false, the failurePolicy decides: with Ignore, the promise resolves to false, and with Fail,
 * it rejects with a Forbidden error.
 */
export async function matchesConditions(
  { name: webhook, conditions, failsOpen, isListed }: Conditional,
  { attributes, resource, type }: ConditionInput,
  { convertByWebhook, authorizerOf, answerPattern, clock, conditionMetrics }: WebhookOptions,
): Promise<boolean> {
  if (conditions.isEmpty) return true
  const { resource: own, subresource, namespace, name, context, operation } = attributes
  const values = new RequestValues(attributes, convertByWebhook)
  const requestResource = { group: own.group, resource: own.plural, subresource, namespace, name }
  const variables = {
    ...(await values.objectsIn(resource)),
    request: values.requestAs(resource),
    namespaceObject: null,
    ...authorizerOf(context, requestResource),
  }
  const all = await conditions.compiled()
  const startMs = clock.monotonicMs()
  const result = await inTurns((slice) => evaluateAll(all, variables, slice), {
    answer: answerPattern,
  })
  if (result.matches === true) return true
  const isExcluded = result.matches === false || failsOpen
  const seconds = (clock.monotonicMs() - startMs) / 1000
  if (isListed())
    conditionMetrics.observeWebhook({
      webhook,
      type,
      operation,
      seconds,
      errors: result.errors,
      isExcluded,
    })
  if (isExcluded) return false
  throw forbidden(own, name, result.why)
}

/**
 * The combined result of all conditions. `errors` is the number of conditions that could not be
 * evaluated. If a condition is false, only the conditions before it count.
 */
type ConditionsResult =
  | { readonly matches: true }
  | { readonly matches: false; readonly errors: number }
  | { readonly matches: 'unknown'; readonly errors: number; readonly why: string }

function* evaluateAll(
  conditions: readonly Condition[],
  variables: Activation,
  slice: Slice,
): Turns<ConditionsResult> {
  const errors: string[] = []
  let left = CONDITIONS_COST_MAX
  let errorsBefore: number | undefined
  for (const { text, compiled } of conditions) {
    if ('fault' in compiled) {
      errors.push(`compilation error: ${compiled.fault}`)
      continue
    }
    const result = yield* compiled.program.inTurns(variables, EXPRESSION_COST_MAX, slice)
    left -= result.cost
    if (left < 0) return { matches: 'unknown', errors: 0, why: OVER_BUDGET }
    if ('error' in result) errors.push(`expression '${text}' resulted in error: ${result.error}`)
    else if (result.value !== true) errorsBefore ??= errors.length
  }
  if (errorsBefore !== undefined) return { matches: false, errors: errorsBefore }
  if (errors.length === 0) return { matches: true }
  const distinct = [...new Set(errors)]
  const why = distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`
  return { matches: 'unknown', errors: errors.length, why }
}
