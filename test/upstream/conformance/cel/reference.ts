/**
 * Results of CEL expressions in kube-apiserver: the recordings of the compat suite map each
 * expression to a value, an error or a cost. Tests evaluate the expressions with the CEL engine
 * alone, which takes a moment, while the compat suite takes minutes.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fieldsOf, type Fields, type Json, textsOf } from '../../../../src/api/object.ts'
import { compile } from '../../../../src/objects/cel/compile.ts'
import { atOnce } from '../../../../src/objects/cel/turns.ts'
import { withVariables } from '../../../../src/objects/cel/environment.ts'
import { valueOf } from '../../../../src/objects/cel/json-values.ts'
import { kubernetesEnvironment } from '../../../../src/objects/cel/kubernetes.ts'
import { typeOfSchema } from '../../../../src/objects/cel/schema-type.ts'
import { CelError } from '../../../../src/objects/cel/values.ts'

const compat = join(import.meta.dirname, '..', '..', '..', 'recorded', 'compat')

export type Case = { readonly id: string; readonly expression: string; readonly expected: Json }

/**
 * Returns the expressions of a recording and their recorded results. In each scenario, the body of
 * the last response maps expressions to results. Scenarios in which this body is a Status are left
 * out.
 */
export function tablesOf(file: string): Case[] {
  const recordings = JSON.parse(readFileSync(join(compat, 'recordings', `${file}.json`), 'utf8'))
  return Object.entries<{ body: Json }[]>(recordings).flatMap(([id, steps]) => {
    const body = fieldsOf(steps.at(-1)?.body)
    if (body['kind'] === 'Status') return []
    return Object.entries(body).map(([expression, expected]) => ({
      id,
      expression,
      expected: expected ?? null,
    }))
  })
}

/** Returns the causes with which kube-apiserver rejected a CustomResourceDefinition. */
export function recordedFaults(id: string): readonly string[] {
  const recordings = JSON.parse(
    readFileSync(join(compat, 'recordings', 'cel-compile.json'), 'utf8'),
  )
  return textsOf(fieldsOf(recordings[id]?.at(-1))['body'])
}

export async function readSample(): Promise<{ readonly schema: Fields; readonly value: Fields }> {
  const kit = await import(join(compat, 'scenarios', 'kit', 'cel.mjs'))
  return { schema: { type: 'object', properties: kit.sampleSchema }, value: kit.sample }
}

const base = kubernetesEnvironment({ release: 33, libraries: 32 })
const BUDGET = 1_000_000

export class Sample {
  readonly #type
  readonly #environment
  readonly #self

  constructor(schema: Fields, value: Fields) {
    const type = typeOfSchema(schema, { name: 'selfType<n>' })
    if (type === undefined) throw new Error('the schema of the sample has no type')
    this.#type = type
    this.#environment = withVariables(base, { self: type, oldSelf: type })
    const self = valueOf(value, type)
    if (self instanceof CelError) throw new Error(self.message)
    this.#self = self
  }

  /** Returns a value in the form in which the messageExpression of a rule prints it. */
  valueOf(expression: string): string {
    return this.#run(`'%s'.format([${expression}])`) ?? 'no value'
  }

  #run(text: string): string | undefined {
    const compiled = compile(text, this.#environment)
    if ('fault' in compiled) return `${compiled.stage}: ${compiled.fault}`
    const result = compiled.program.evaluate({ self: this.#self }, BUDGET)
    return 'value' in result && typeof result.value === 'string' ? result.value : undefined
  }

  errorOf(expression: string): string {
    const compiled = compile(`[${expression}].size() < 0`, this.#environment)
    if ('fault' in compiled) return compiled.fault
    const result = compiled.program.evaluate({ self: this.#self }, BUDGET)
    return 'error' in result ? result.error : 'no error'
  }

  /** Returns the error for a rule in a CustomResourceDefinition, or 'accepted'. */
  faultOf(expression: string): string {
    const compiled = compile(expression, this.#environment)
    if ('fault' in compiled) {
      const what =
        compiled.stage === 'compilation' ? 'compilation failed' : 'program instantiation failed'
      return `rule: FieldValueInvalid: ${what}: ${compiled.fault}`
    }
    return compiled.type.kind === 'bool'
      ? 'accepted'
      : 'rule: FieldValueInvalid: cel expression must evaluate to a bool'
  }

  costOf(expression: string): number | string {
    const compiled = compile(expression, this.#environment)
    return 'fault' in compiled
      ? compiled.fault
      : Number(atOnce((slice) => compiled.program.estimateCost(this.#type, slice)).max)
  }
}
