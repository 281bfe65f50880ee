/** Chooses the cases of a run, and runs them with several concurrent workers. */
import { areas, casesMax } from './areas/areas.ts'
import type { Input } from './areas/input.ts'
import { choicesOf } from './choices.ts'
import { Grammar } from './expressions.ts'
import type { Options } from './options.ts'
import { loadSchemas } from './schemas.ts'
import { loadSeeds } from './seeds.ts'
import type { Case } from './step.ts'
import type { Target } from './target.ts'
import { Values } from './values.ts'

export type Work = { readonly area: string; readonly number: number; readonly steps: Case }

export async function loadInput(reference: Target): Promise<Input> {
  const values = new Values()
  return {
    values,
    grammar: new Grammar(),
    schemas: await loadSchemas(reference, values),
    seeds: await loadSeeds(),
  }
}

/** Yields one case of each area in turn, so that even a run that ends early covers all areas. */
export function* chosenCases(
  { seed, areas: names, cases, from }: Options,
  input: Input,
): Generator<Work> {
  const end = Math.min(from + cases, Math.max(...names.map(casesMax)))
  for (let number = from; number < end; number++) {
    for (const area of names) {
      const make = areas[area]
      if (make === undefined || number >= casesMax(area)) continue
      yield { area, number, steps: make(choicesOf(seed, area, number), input, number) }
    }
  }
}

/** Maximum duration of one task: a case, and the reduction of its differences. */
const PIECE_MAX_MS = 10 * 60_000

export type TakeOptions<T> = Pick<Options, 'minutes' | 'concurrency'> & {
  /** Called before each task. After it returns true, no further task starts. */
  readonly isOver?: () => boolean
  readonly nameOf?: (piece: T) => string
  readonly pieceMsMax?: number
}

/**
 * Runs tasks concurrently until the time limit is reached or the process receives SIGINT. If a task
 * does not end in time, throws an error that names the task.
 */
export async function takeAll<T>(
  work: Iterable<T>,
  {
    minutes,
    concurrency,
    isOver = () => false,
    nameOf = String,
    pieceMsMax = PIECE_MAX_MS,
  }: TakeOptions<T>,
  take: (piece: T) => Promise<void>,
): Promise<void> {
  let until = performance.now() + minutes * 60_000
  const interrupt = (): void => void (until = 0)
  process.once('SIGINT', interrupt)
  const pieces = work[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    while (performance.now() < until && !isOver()) {
      const { value, done } = pieces.next()
      if (done) return
      await inTime(take(value), pieceMsMax, nameOf(value))
    }
  }
  try {
    await Promise.all(Array.from({ length: concurrency }, worker))
  } finally {
    process.off('SIGINT', interrupt)
  }
}

async function inTime(taken: Promise<void>, maxMs: number, name: string): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error(`${name} did not end within ${maxMs / 60_000} minutes`)),
    maxMs,
  )
  try {
    await Promise.race([taken, late])
  } finally {
    clearTimeout(timer)
  }
}
