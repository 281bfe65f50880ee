/**
 * Measures the cost of a validation rule: compiling it when a CustomResourceDefinition is read, and
 * evaluating it when an object is written.
 */
import { compile, type Program } from '../../../src/objects/cel/compile.ts'
import { type Environment, withVariables } from '../../../src/objects/cel/environment.ts'
import { valueOf } from '../../../src/objects/cel/json-values.ts'
import { kubernetesEnvironment } from '../../../src/objects/cel/kubernetes.ts'
import { typeOfSchema } from '../../../src/objects/cel/schema-type.ts'
import type { Type } from '../../../src/objects/cel/types.ts'
import { CelError } from '../../../src/objects/cel/values.ts'
import type { Figure } from '../../report/figure.ts'

const EVALUATIONS = 200_000
const COMPILATIONS = 2_000
const BUDGET = 1_000_000
const MICROS_MAX = 5

const schema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    minReplicas: { type: 'integer' },
    hosts: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 63 } },
  },
} as const
const object = {
  replicas: 3,
  minReplicas: 2,
  hosts: ['a.example.com', 'b.example.com', 'c.example.com'],
}

const comparison = 'self.minReplicas <= self.replicas'
const loop = 'self.hosts.all(h, h.matches("^[a-z0-9.-]+$") && h.endsWith(".example.com"))'

export function benchRules(): Figure[] {
  const type = typeOfSchema(schema, { name: 'self' })
  if (type === undefined) throw new Error('the schema of the bench has a type')
  const environment = withVariables(kubernetesEnvironment({ release: 33, libraries: 32 }), {
    self: type,
  })
  return [
    { name: 'compile a rule with a pattern', value: compileMicros(environment), unit: 'µs CPU' },
    {
      name: 'evaluate a comparison of two fields',
      value: evaluateMicros(programOf(comparison, environment), type),
      unit: 'µs CPU',
      target: { below: MICROS_MAX },
    },
    {
      name: 'evaluate a loop over 3 strings',
      value: evaluateMicros(programOf(loop, environment), type),
      unit: 'µs CPU',
    },
  ]
}

function programOf(text: string, environment: Environment): Program {
  const compiled = compile(text, environment)
  if ('fault' in compiled) throw new Error(compiled.fault)
  return compiled.program
}

function compileMicros(environment: Environment): number {
  return micros(COMPILATIONS, () => programOf(loop, environment))
}

/**
 * Returns the time of one evaluation in µs. Includes the conversion of the object to a CEL value,
 * which every write requires.
 */
function evaluateMicros(program: Program, type: Type): number {
  return micros(EVALUATIONS, () => {
    const self = valueOf(object, type)
    if (self instanceof CelError) throw new Error(self.message)
    const result = program.evaluate({ self }, BUDGET)
    if (!('value' in result) || result.value !== true) throw new Error('the rule holds')
  })
}

function micros(rounds: number, run: () => unknown): number {
  for (let round = 0; round < rounds / 4; round++) run()
  const before = process.cpuUsage()
  for (let round = 0; round < rounds; round++) run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / rounds
}
