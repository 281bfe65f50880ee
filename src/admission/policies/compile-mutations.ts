/** Compiles the expressions of a mutating policy. */
import { type Fields, fieldsOf, itemsOf, textOf } from '../../api/object.ts'
import { storedVersion } from '../../objects/cel/kubernetes.ts'
import type { Slice } from '../../objects/cel/run.ts'
import type { Turns } from '../../objects/cel/turns.ts'
import {
  compileAll,
  compileConditional,
  type Conditional,
  type Expression,
} from './compile-expressions.ts'

export type Mutation = {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch'
  readonly expression: Expression
}

export type CompiledMutations = Conditional & { readonly mutations: readonly Mutation[] }

/**
 * Compiles the spec of a mutating policy. `release` is the minor version of Kubernetes that the
 * server implements.
 */
export function* compileMutations(
  spec: Fields,
  release: number,
  slice: Slice,
): Turns<CompiledMutations> {
  const { conditions, variables, names } = yield* compileConditional(
    spec,
    storedVersion(release),
    slice,
  )
  const given = itemsOf(spec['mutations']).map(({ patchType, applyConfiguration, jsonPatch }) => {
    const isApplied = patchType === 'ApplyConfiguration'
    const { expression } = fieldsOf(isApplied ? applyConfiguration : jsonPatch)
    return {
      patchType: isApplied ? 'ApplyConfiguration' : 'JSONPatch',
      text: textOf(expression),
    } as const
  })
  const texts = given.map(({ text }) => text)
  const expressions = yield* compileAll(texts, { ...names, hasPatchTypes: true }, slice)
  const mutations = given.flatMap(({ patchType }, at) => {
    const expression = expressions[at]
    return expression === undefined ? [] : { patchType, expression }
  })
  return { conditions, variables, mutations }
}
