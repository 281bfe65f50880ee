/** Arguments of the functions that generate test cases. */
import type { Choices } from '../choices.ts'
import type { Grammar } from '../expressions.ts'
import type { Schemas } from '../schemas.ts'
import type { KindSeeds } from '../seeds.ts'
import type { Case } from '../step.ts'
import type { Values } from '../values.ts'

export type Input = {
  readonly values: Values
  readonly grammar: Grammar
  readonly schemas: Schemas
  readonly seeds: readonly KindSeeds[]
}

export type Area = (choices: Choices, input: Input, number: number) => Case

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const
