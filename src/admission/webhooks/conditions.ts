/** The match conditions of a webhook: it is called only if all of them are true. */
import { forbidden } from '../../api/errors.ts'
import { admissionEnvironment } from '../../cel/admission.ts'
import { type Compiled, compileInTurns } from '../../cel/compile.ts'
import type { Activation, Slice } from '../../cel/run.ts'
import { inTurns, type Turns } from '../../cel/turns.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Attributes } from '../admission.ts'
import { CONDITIONS_COST_MAX, EXPRESSION_COST_MAX, OVER_BUDGET } from '../policies/costs.ts'
import { RequestValues } from '../policies/request-values.ts'
import type { HookParts } from './parts.ts'

type Condition = { readonly text: string; readonly compiled: Compiled }

/** Compiled with the first request that comes so far. */
export class Conditions {
  readonly #texts: readonly string[]
  #compiled: Promise<readonly Condition[]> | undefined

  constructor(texts: readonly string[]) {
    this.#texts = texts
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0
  }

  compiled(): Promise<readonly Condition[]> {
    return (this.#compiled ??= inTurns((slice) => compileAll(this.#texts, slice)))
  }
}

function* compileAll(texts: readonly string[], slice: Slice): Turns<readonly Condition[]> {
  const names = { hasParams: false, hasAuthorizer: true, variables: undefined }
  const environment = admissionEnvironment('1.33', names)
  const conditions: Condition[] = []
  for (const text of texts) conditions.push({ text, compiled: yield* compileInTurns(text, environment, slice) })
  return conditions
}

type Asked = { readonly attributes: Attributes; readonly resource: Resource }

/** Whether all conditions are true. If none is false and some fail, the failurePolicy decides: false, or a Forbidden. */
export async function matchesConditions(
  { conditions, failsOpen }: { readonly conditions: Conditions; readonly failsOpen: boolean },
  { attributes, resource }: Asked,
  { convertByWebhook, authorizerOf, answerPattern }: HookParts,
): Promise<boolean> {
  if (conditions.isEmpty) return true
  const { resource: own, subresource, namespace, name, context } = attributes
  const values = new RequestValues(attributes, convertByWebhook)
  const requestResource = { group: own.group, resource: own.plural, subresource, namespace, name }
  const variables = {
    ...(await values.objectsIn(resource)),
    request: values.requestAs(resource),
    namespaceObject: null,
    ...authorizerOf(context, requestResource),
  }
  const all = await conditions.compiled()
  const matched = await inTurns((slice) => evaluateAll(all, variables, slice), { answer: answerPattern })
  if (typeof matched === 'boolean') return matched
  if (failsOpen) return false
  throw forbidden(own, name, matched.error)
}

function* evaluateAll(
  conditions: readonly Condition[],
  variables: Activation,
  slice: Slice,
): Turns<boolean | { readonly error: string }> {
  const errors: string[] = []
  let left = CONDITIONS_COST_MAX
  let isFalse = false
  for (const { text, compiled } of conditions) {
    if ('fault' in compiled) {
      errors.push(`compilation error: ${compiled.fault}`)
      continue
    }
    const result = yield* compiled.program.inTurns(variables, EXPRESSION_COST_MAX, slice)
    left -= result.cost
    if (left < 0) return { error: OVER_BUDGET }
    if ('error' in result) errors.push(`expression '${text}' resulted in error: ${result.error}`)
    else if (result.value !== true) isFalse = true
  }
  if (isFalse) return false
  if (errors.length === 0) return true
  const distinct = [...new Set(errors)]
  return { error: distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]` }
}
