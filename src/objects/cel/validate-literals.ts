/**
 * Checks that Kubernetes performs in addition to type-checking. All elements of a list or map
 * literal must have the same type. A literal duration, timestamp, regular expression or format must
 * be valid.
 */
import { type Call, type Expr, partsOf } from './ast.ts'
import type { CheckedExpression } from './checker.ts'
import { toDuration, toTimestamp } from './conversions.ts'
import { checkFormat } from './library/format-text.ts'
import { longPatternFault } from './long-pattern.ts'
import { compilePattern, isLongPattern } from './regex.ts'
import type { Slice } from './run.ts'
import type { Fault } from './source.ts'
import type { Turns } from './turns.ts'
import { dyn, isOptional, isSame, nameOf } from './types.ts'
import { CelError } from './values.ts'

export function* validateLiterals(
  checked: CheckedExpression,
  { isHomogeneous }: { readonly isHomogeneous: boolean },
  slice: Slice,
): Turns<Fault[]> {
  const faults: Fault[] = []
  const seen = new Set<Expr>()
  const visit = function* (expr: Expr, isFormatted: boolean): Turns<void> {
    if (seen.has(expr)) return
    if (slice.isOver()) yield undefined
    seen.add(expr)
    // The list that is passed to `format` can have elements of different types.
    const isInside = isFormatted || (expr.kind === 'call' && expr.name === 'format')
    for (const part of partsOf(expr)) yield* visit(part, isInside)
    // Bounded: checkCall returns few faults, because a call has few literal arguments
    if (expr.kind === 'call') faults.push(...(yield* checkCall(expr, checked)))
    if (isFormatted || !isHomogeneous) return
    // Bounded: checkSame returns at most one fault
    if (expr.kind === 'list')
      faults.push(...checkSame(expr.elements, (at) => expr.optional.has(at), checked))
    if (expr.kind === 'map') {
      const { entries } = expr
      faults.push(
        // Bounded: checkSame returns at most one fault
        ...checkSame(
          entries.map(({ key }) => key),
          () => false,
          checked,
        ),
      )
      faults.push(
        // Bounded: checkSame returns at most one fault
        ...checkSame(
          entries.map(({ value }) => value),
          (at) => entries[at]?.isOptional ?? false,
          checked,
        ),
      )
    }
  }
  yield* visit(checked.expr, false)
  return faults
}

/** Reports the first expression whose type differs from that of the first expression. */
function checkSame(
  exprs: readonly Expr[],
  isOptionalAt: (at: number) => boolean,
  checked: CheckedExpression,
): Fault[] {
  const types = exprs.map((expr, at) => {
    const type = checked.typeOf(expr)
    return isOptionalAt(at) && isOptional(type) ? (type.parameters[0] ?? dyn) : type
  })
  const [first] = types
  const at = types.findIndex((type) => first !== undefined && !isSame(first, type))
  const [expr, type] = [exprs[at], types[at]]
  if (first === undefined || expr === undefined || type === undefined) return []
  return [
    {
      offset: expr.offset,
      message: `expected type '${nameOf(first)}' but found '${nameOf(type)}'`,
    },
  ]
}

function* checkCall(call: Call, checked: CheckedExpression): Turns<Fault[]> {
  const reference = checked.referenceOf(call)
  if (reference?.kind !== 'call') return []
  const [first] = call.args
  if (call.name === 'format' && call.target?.kind === 'literal' && first?.kind === 'list') {
    return checkFormat(call, first, checked)
  }
  if (call.name !== 'duration' && call.name !== 'timestamp' && call.name !== 'matches') return []
  // For `matches(text, pattern)`, kube-apiserver checks the first argument, which is the text.
  if (first?.kind !== 'literal') return []
  const { value } = first
  const isWrong =
    call.name === 'matches'
      ? typeof value === 'string' && (yield* isNoPattern(value))
      : (call.name === 'duration' ? toDuration(value) : toTimestamp(value)) instanceof CelError
  return isWrong ? [{ offset: first.offset, message: `invalid ${call.name} argument` }] : []
}

function* isNoPattern(text: string): Turns<boolean> {
  if (isLongPattern(text)) return (yield* longPatternFault(text)) !== undefined
  return compilePattern(text) instanceof CelError
}
