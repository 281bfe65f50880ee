/**
 * Runs a comprehension one iteration at a time, so that an interrupted evaluation can resume at the
 * same iteration.
 */
import { ComprehensionFrame, type Run, type Step } from './run.ts'
import { CelError, isList, isMap, notIterable } from './values.ts'

/** The compiled parts of a comprehension, and the positions of its variables in `Run.locals`. */
export type ComprehensionPlan = {
  readonly range: Step
  readonly initial: Step
  readonly condition: Step
  readonly next: Step
  readonly result: Step
  readonly slots: { readonly accumulator: number; readonly first: number; readonly second: number }
  /** Whether the comprehension has two variables: index and item, or key and value. */
  readonly isPair: boolean
}

export function comprehensionStep(plan: ComprehensionPlan): Step {
  const { condition, next, result, isPair } = plan
  const { accumulator, first, second } = plan.slots
  return (run) => {
    const { frame, locals } = run
    const place = frame.entered++
    const known = frame.known?.get(place)
    if (known !== undefined && !(known instanceof ComprehensionFrame))
      return run.recall(frame, known)
    const loop = known ?? begin(plan, run, place)
    if (loop instanceof CelError) return loop
    run.startLoop(loop)
    const { collection, keys, size } = loop
    locals[accumulator] = loop.accumulated
    for (; loop.at < size; loop.at++) {
      run.startTurn(loop)
      const { at } = loop
      if (isList(collection)) {
        const item = collection.at(at)
        locals[first] = isPair ? BigInt(at) : item
        locals[second] = item
      } else {
        const key = keys?.[at] ?? null
        locals[first] = key
        locals[second] = isPair ? (collection.get(key) ?? null) : null
      }
      if (condition(run) !== true) break
      loop.accumulated = locals[accumulator] = next(run)
      loop.known = undefined
    }
    if (loop.at === size) loop.entered = 0
    return run.endLoop(loop, result(run))
  }
}

function begin(
  { range, initial }: ComprehensionPlan,
  run: Run,
  place: number,
): ComprehensionFrame | CelError {
  const collection = range(run)
  if (collection instanceof CelError) return collection
  const start = initial(run)
  if (start instanceof CelError) return start
  if (!isList(collection) && !isMap(collection)) return notIterable(collection)
  return new ComprehensionFrame(run, place, { collection, initial: start })
}
