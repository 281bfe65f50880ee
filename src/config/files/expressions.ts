/**
 * Compiles the CEL expressions in configuration files. They are compiled when the file is read, so
 * that errors are reported immediately.
 */
import { type FieldFault, internalFault, invalidValue } from '../../api/field-fault.ts'
import {
  compile,
  type CompileResult,
  compileInTurns,
  type Program,
} from '../../objects/cel/compile.ts'
import type { Environment } from '../../objects/cel/environment.ts'
import { inTurns } from '../../objects/cel/turns.ts'
import { outputNameOf, type Type } from '../../objects/cel/types.ts'

export type Expression = { readonly text: string; readonly program: Program }

/** The text of an expression, and the path of the field that contains the expression. */
export type ExpressionField = { readonly text: string; readonly path: string }

/** Checks the result type of an expression. Returns an error if the type is not allowed. */
type CheckType = (type: Type) => string | undefined

/**
 * Compiles expressions in named environments. Compiling 500 expressions takes 100 ms. Therefore,
 * when a file is reloaded, its expressions are compiled in advance without blocking the event loop.
 */
export class ExpressionCompiler<Name extends string> {
  readonly #environments: { readonly [name in Name]: Environment }
  readonly #prepared = new Map<string, CompileResult>()

  constructor(environments: { readonly [name in Name]: Environment }) {
    this.#environments = environments
  }

  /** Compiles expressions without blocking the event loop. `compile` then uses the results. */
  async prepare(name: Name, texts: readonly string[]): Promise<void> {
    const environment = this.#environments[name]
    for (const text of texts) {
      this.#prepared.set(
        `${name} ${text}`,
        await inTurns((slice) => compileInTurns(text, environment, slice)),
      )
    }
  }

  compile(
    name: Name,
    { text, path }: ExpressionField,
    checkType: CheckType,
  ): Expression | { readonly fault: FieldFault } {
    const compiled =
      this.#prepared.get(`${name} ${text}`) ?? compile(text, this.#environments[name])
    if ('fault' in compiled && compiled.stage === 'compilation') {
      return { fault: invalidValue(path, text, `compilation failed: ${compiled.fault}`) }
    }
    const why = checkType(compiled.type)
    if (why !== undefined) return { fault: invalidValue(path, text, why) }
    if ('fault' in compiled)
      return { fault: internalFault(path, `program instantiation failed: ${compiled.fault}`) }
    return { text, program: compiled.program }
  }
}

/**
 * Allows any result type. Expressions of claim mappings need this, because their values are
 * validated for each token.
 */
export const anyType = (): undefined => undefined

/** Allows only bool. As in kube-apiserver, the message depends on the kind of file. */
export const onlyBool = (type: Type): string | undefined =>
  type.kind === 'bool' ? undefined : 'must evaluate to bool'
export const onlyBoolShown = (type: Type): string | undefined =>
  type.kind === 'bool' ? undefined : `must evaluate to bool but got ${outputNameOf(type)}`
