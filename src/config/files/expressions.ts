/** Expressions in configuration files: compiled when a file is read, so that one that cannot run is told there and then. */
import { type FieldFault, internalFault, invalidValue } from '../../api/field-fault.ts'
import { compile, type Program } from '../../cel/compile.ts'
import type { Environment } from '../../cel/environment.ts'
import { outputNameOf, type Type } from '../../cel/types.ts'

export type Expression = { readonly text: string; readonly program: Program }

/** `refuseType`: what is wrong with the type that an expression comes to; undefined: nothing. */
export function compileExpression(
  { text, path }: { readonly text: string; readonly path: string },
  environment: Environment,
  refuseType: (type: Type) => string | undefined,
): Expression | { readonly fault: FieldFault } {
  const compiled = compile(text, environment)
  if ('fault' in compiled && compiled.stage === 'compilation') {
    return { fault: invalidValue(path, text, `compilation failed: ${compiled.fault}`) }
  }
  const why = refuseType(compiled.type)
  if (why !== undefined) return { fault: invalidValue(path, text, why) }
  if ('fault' in compiled) return { fault: internalFault(path, `program instantiation failed: ${compiled.fault}`) }
  return { text, program: compiled.program }
}

/** Of mappings: the value is looked at when there is one. */
export const anyType = (): undefined => undefined

/** The two kinds of files word it differently. */
export const onlyBool = (type: Type): string | undefined => (type.kind === 'bool' ? undefined : 'must evaluate to bool')
export const onlyBoolShown = (type: Type): string | undefined =>
  type.kind === 'bool' ? undefined : `must evaluate to bool but got ${outputNameOf(type)}`
