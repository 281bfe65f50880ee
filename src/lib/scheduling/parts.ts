/**
 * Divides long synchronous work into parts, between which the event loop runs other work. The work
 * stays plain functions: its loops over lists and maps call `repeat`, `eachItem` or `eachKey`,
 * where it can pause. A pause throws. The work is then called again in a later tick of the event
 * loop: finished loops return what they computed, and the interrupted loop continues with its
 * state.
 *
 * Code outside of these loops is repeated with each part, so it must be short and free of side
 * effects; all other code goes into a `once`. The work must reach the same loops each time. Where a
 * cache may skip some of them, the call is inside of a `once`. Outside of `parts` these functions
 * are ordinary loops.
 *
 * Each call has a label that no other call in the source has, so that a loop is never continued in
 * place of another one. A label does not distinguish two runs of the same call. Those are
 * identified by their order, and lists also by their length.
 */
import { inSlices, type Slices, type Steps } from './slices.ts'

/** Number of steps between two checks of the clock. A step that takes long has loops of its own. */
const STEPS_PER_LOOK = 16

/**
 * Maximum nesting of loops that are divided; loops inside of these are not. Each level takes
 * several frames of the stack, which a value that is nested a thousand levels deep would exhaust.
 */
const LEVELS_MAX = 100

/**
 * The part of Slices that is used here. Tests set `stepsPerLook` to check the clock after each
 * step.
 */
type PartSlices = Pick<Slices, 'isOver' | 'begin'> & { readonly stepsPerLook?: number }

/** `repeat` also accepts a position in a text, which distinguishes loops better than a label. */
type Key = string | number

/**
 * Called when work runs undivided because it did not reach the same loops each time. That is a
 * mistake in the work, so tests replace `report` by a function that throws.
 */
export const unsteadyWork: { report: (message: string) => void } = { report: warnOnce(new Set()) }

/**
 * Returns a function that reports each message once: clients may repeat the request that causes it.
 */
function warnOnce(reported: Set<string>): (message: string) => void {
  return (message) => {
    if (reported.has(message)) return
    reported.add(message)
    process.emitWarning(message, 'UnsteadyWork')
  }
}

/** Runs the work in parts, each in its own tick of the event loop. */
export const inParts = <T>(work: () => T, slices: Slices): Promise<T> =>
  inSlices(parts(work, slices), slices)

/** Like `inParts`, for work that is one of several steps. A part ends when the slice is over. */
export function* parts<T>(work: () => T, slices: PartSlices): Steps<T> {
  const progress = new Progress(slices)
  for (;;) {
    yield undefined
    progress.rewind()
    running.progress = progress
    try {
      const made = work()
      if (!progress.isInterrupted) return made
      progress.note('a pause was caught')
      // If an async function caught the pause, its promise is rejected, and no code handles it.
      if (made instanceof Promise) made.catch(() => undefined)
    } catch (error) {
      if (!progress.isInterrupted) throw error
      if (error !== paused) progress.note('a pause was caught')
    } finally {
      running.progress = undefined
    }
    if (progress.fault === undefined) continue
    unsteadyWork.report(`work in parts is not the same each time: ${progress.fault}`)
    return work()
  }
}

/** Whether an error is a pause, which must reach `parts`. For code that catches all errors. */
export const isPause = (error: unknown): boolean => error === paused

/** Runs one of several steps, and yields after it. Without `slices` the step is not divided. */
export function* stepOf<T>(work: () => T, slices: Slices | undefined): Steps<T> {
  const made = slices === undefined ? work() : yield* parts(work, slices)
  yield undefined
  return made
}

/** Whether the caller runs inside of `parts`. */
export const isDivided = (): boolean => running.progress !== undefined

/**
 * Calls `step` until it returns false. Returns the state, which must contain everything that the
 * steps change.
 */
export function repeat<S>(key: Key, start: () => S, step: (state: S) => boolean): S {
  if (running.progress !== undefined) return running.progress.repeat(key, start, step)
  const state = start()
  while (step(state));
  return state
}

/** Computes a value that is not computed again when the work continues. */
export function once<T>(label: string, make: () => T): T {
  const { progress } = running
  if (progress === undefined) return make()
  const kept = progress.repeat(
    label,
    (): (readonly [T])[] => [],
    (values) => {
      values.push([make()])
      progress.lookNext()
      return false
    },
  )
  const [made] = kept
  return made === undefined ? make() : made[0]
}

/** Visits the items of a list until a visit returns false. Returns the state. */
export function eachItem<T, S>(
  label: string,
  items: readonly T[],
  start: () => S,
  visit: (state: S, item: T, at: number) => boolean,
): S {
  const { progress } = running
  if (progress !== undefined) return progress.eachItem(label, items, start, visit)
  const state = start()
  for (let at = 0; at < items.length; at++) {
    const item = items[at]
    if (item === undefined || !visit(state, item, at)) break
  }
  return state
}

/** Visits the keys of a map until a visit returns false. Returns the state. */
export function eachKey<S>(
  label: string,
  fields: object,
  start: () => S,
  visit: (state: S, key: string) => boolean,
): S {
  const { progress } = running
  if (progress !== undefined)
    return progress.each(label, () => progress.keysOf(fields), start, visit).state
  const state = start()
  for (const key in fields) if (!visit(state, key)) break
  return state
}

/** Like `items.every`, but can be divided. */
export function everyItem<T>(
  label: string,
  items: readonly T[],
  holds: (item: T, at: number) => boolean,
): boolean {
  if (!isDivided()) return items.every(holds)
  return eachItem(
    label,
    items,
    (): { isSo: boolean } => ({ isSo: true }),
    (state, item, at) => (state.isSo = holds(item, at)),
  ).isSo
}

/** Like `everyItem`, for the keys of a map. */
export function everyKey(label: string, fields: object, holds: (key: string) => boolean): boolean {
  return eachKey(
    label,
    fields,
    (): { isSo: boolean } => ({ isSo: true }),
    (state, key) => (state.isSo = holds(key)),
  ).isSo
}

/** Like `items.map`, but can be divided. */
export function mapEach<T, R>(
  label: string,
  items: readonly T[],
  map: (item: T, at: number) => R,
): R[] {
  if (!isDivided()) return items.map(map)
  return eachItem(
    label,
    items,
    (): R[] => [],
    (made, item, at) => {
      made.push(map(item, at))
      return true
    },
  )
}

/** Not a failure: thrown to end a call of work that continues later, or that runs undivided. */
const paused = new Error('the work is paused')

const running: { progress: Progress | undefined } = { progress: undefined }

/**
 * A loop that was started. `inner` contains the loops of its current step, in the order of their
 * calls. `failure` is what a step threw. That step may have changed the state, so it is not run
 * again.
 */
type Loop<S> = {
  readonly key: Key
  readonly state: S
  isDone: boolean
  inner: Loop<unknown>[]
  failure?: { readonly error: unknown }
}

class Progress {
  readonly #slices: PartSlices
  readonly #all: Loop<unknown>[] = []
  /** The loops of the step that is running, and the index of the next loop. */
  #loops = this.#all
  #next = 0
  #steps = 0
  #level = 0
  /**
   * Whether this part has done something new. The time of what it repeats does not count; otherwise
   * a part could be over before it makes progress.
   */
  #hasBegun = false
  readonly #stepsPerLook: number
  /** Whether this part ended with a pause. */
  isInterrupted = false
  /** Why the work cannot continue in parts. */
  fault: string | undefined

  constructor(slices: PartSlices) {
    this.#slices = slices
    this.#stepsPerLook = slices.stepsPerLook ?? STEPS_PER_LOOK
  }

  note(fault: string): void {
    this.fault ??= fault
  }

  rewind(): void {
    this.#loops = this.#all
    this.#next = 0
    // The first part repeats nothing, so it does not begin a new slice. Otherwise many short works
    // in a row would never reach the end of a slice.
    this.#hasBegun = this.#all.length === 0
    this.isInterrupted = false
  }

  eachItem<T, S>(
    key: Key,
    items: readonly T[],
    start: () => S,
    visit: (state: S, item: T, at: number) => boolean,
  ): S {
    const loop = this.each(key, () => items, start, visit)
    if (loop.items.length !== items.length) this.#giveUp(`another list at ${nameOf(key)}`)
    return loop.state
  }

  each<T, S>(
    key: Key,
    list: () => readonly T[],
    start: () => S,
    visit: (state: S, item: T, at: number) => boolean,
  ): { readonly items: readonly T[]; readonly state: S } {
    const begin = (): { readonly items: readonly T[]; readonly state: S; at: number } => ({
      items: list(),
      state: start(),
      at: 0,
    })
    return this.repeat(key, begin, (now) => {
      const item = now.items[now.at]
      if (item === undefined) return false
      const goesOn = visit(now.state, item, now.at)
      now.at++
      return goesOn
    })
  }

  repeat<S>(key: Key, start: () => S, step: (state: S) => boolean): S {
    if (this.isInterrupted) this.#giveUp('a pause was caught')
    const loops = this.#loops
    const at = this.#next++
    const known = loops[at]
    if (known !== undefined && known.key !== key)
      this.#giveUp(`${nameOf(key)} instead of ${nameOf(known.key)}`)
    if (known === undefined) this.#beginPart()
    const loop: Loop<S> =
      known !== undefined && isOf<S>(known, key)
        ? known
        : { key, state: start(), isDone: false, inner: [] }
    loops[at] = loop
    if (loop.failure !== undefined) throw loop.failure.error
    if (loop.isDone) return loop.state
    this.#level++
    try {
      this.#run(loop, this.#level < LEVELS_MAX ? step : (state) => this.#undivided(step, state))
    } catch (error) {
      if (error !== paused) loop.failure = { error }
      throw error
    } finally {
      this.#level--
      this.#loops = loops
      this.#next = at + 1
    }
    return loop.state
  }

  /** Called before each step that was not done before. */
  #beginPart(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#slices.begin()
  }

  keysOf(fields: object): readonly string[] {
    this.lookNext()
    return Object.keys(fields)
  }

  /**
   * Checks the clock after this step, which may take long, for example to list the keys of a large
   * map.
   */
  lookNext(): void {
    this.#steps = -1
  }

  #pause(): never {
    this.isInterrupted = true
    throw paused
  }

  #giveUp(fault: string): never {
    this.note(fault)
    this.#pause()
  }

  #undivided<S>(step: (state: S) => boolean, state: S): boolean {
    running.progress = undefined
    try {
      return step(state)
    } finally {
      running.progress = this
      this.lookNext()
    }
  }

  #run<S>(loop: Loop<S>, step: (state: S) => boolean): void {
    for (;;) {
      if (loop.inner.length === 0) this.#beginPart()
      this.#loops = loop.inner
      this.#next = 0
      loop.isDone = !step(loop.state)
      if (loop.inner.length > 0) loop.inner = []
      if (++this.#steps % this.#stepsPerLook === 0 && this.#slices.isOver) this.#pause()
      if (loop.isDone) return
    }
  }
}

const nameOf = (key: Key): string => (typeof key === 'string' ? key : 'a position')

const isOf = <S>(loop: Loop<unknown>, key: Key): loop is Loop<S> => loop.key === key
