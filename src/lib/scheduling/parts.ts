/**
 * Divides long synchronous work into parts, so that the event loop can run other work in between.
 * The work consists of ordinary functions: their loops over lists and maps call `repeat`,
 * `eachItem` or `eachKey`, where the work can pause. A pause throws. The work is then called again
 * in a later tick of the event loop: completed loops return their previous results, and the
 * interrupted loop continues with its state.
 *
 * Code outside of these loops is repeated in each part, so it must be short and free of side
 * effects; other code must be inside a `once`. Whenever the work is called again, it must reach the
 * same loops. If a function can skip its loops because its result is cached, it must be called
 * inside a `once`. Outside of `parts`, these functions are ordinary loops.
 *
 * Each call has a label that is unique in the source code, so that a loop is never mistaken for
 * another one. A label does not distinguish two runs of the same call. These are identified by
 * their order, and loops over lists also by the length of the list.
 */
import { inSlices, type Slices, type Steps } from './slices.ts'

/**
 * The clock is checked once per this number of loop steps. A step that can take long must itself
 * contain divided loops.
 */
const STEPS_PER_LOOK = 16

/**
 * Maximum nesting depth of loops that are divided. Loops at a greater depth are not divided. Each
 * level needs several stack frames, so a value with a thousand nested levels would overflow the
 * stack.
 */
const LEVELS_MAX = 100

/**
 * The members of Slices that this file uses. Tests set `stepsPerLook` to 1, so that the clock is
 * checked after each step.
 */
type PartSlices = Pick<Slices, 'isOver' | 'begin'> & { readonly stepsPerLook?: number }

/**
 * The label of a loop. `repeat` also accepts a position in a text, which distinguishes loops better
 * than a label.
 */
type Key = string | number

/**
 * Called when work runs undivided because it did not reach the same loops each time. This is a bug
 * in the work, so tests replace `report` by a function that throws.
 */
export const unsteadyWork: { report: (message: string) => void } = { report: warnOnce(new Set()) }

/**
 * Returns a function that reports each message only once, because clients can repeat the request
 * that causes it.
 */
function warnOnce(reported: Set<string>): (message: string) => void {
  return (message) => {
    if (reported.has(message)) return
    reported.add(message)
    process.emitWarning(message, 'UnsteadyWork')
  }
}

/** Runs work in parts, and returns to the event loop after each part. */
export const inParts = <T>(work: () => T, slices: Slices): Promise<T> =>
  inSlices(parts(work, slices), slices)

/**
 * Runs a function in parts. The generator yields before each part, so that it can be one step of
 * longer work. A part ends when its time slice is over.
 */
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
      // If an async function caught the pause, it returned a promise that is rejected. Handle the
      // rejection here, because no other code does.
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

/** Whether an error is a pause. Code that catches all errors must throw a pause again. */
export const isPause = (error: unknown): boolean => error === paused

/**
 * Runs one step of longer work, and yields when the step is complete. Without `slices`, the step is
 * not divided into parts.
 */
export function* stepOf<T>(work: () => T, slices: Slices | undefined): Steps<T> {
  const made = slices === undefined ? work() : yield* parts(work, slices)
  yield undefined
  return made
}

/** Whether the caller is part of work that is divided into parts. */
export const isDivided = (): boolean => running.progress !== undefined

/**
 * Calls `step` until it returns false, and then returns the state. The steps may change only the
 * state, because nothing else remains after a pause.
 */
export function repeat<S>(key: Key, start: () => S, step: (state: S) => boolean): S {
  if (running.progress !== undefined) return running.progress.repeat(key, start, step)
  const state = start()
  while (step(state));
  return state
}

/** Computes a value. If the work is later repeated after a pause, returns the same value again. */
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

/** Calls `visit` for each item of a list until it returns false. Returns the state. */
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

/** Calls `visit` for each key of a map until it returns false. Returns the state. */
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

/** Does the same as `items.every`, but can be divided. */
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

/** Does the same as `everyItem` for the keys of a map. */
export function everyKey(label: string, fields: object, holds: (key: string) => boolean): boolean {
  return eachKey(
    label,
    fields,
    (): { isSo: boolean } => ({ isSo: true }),
    (state, key) => (state.isSo = holds(key)),
  ).isSo
}

/** Calls `find` for each item, and returns the first result that is not undefined. */
export function firstOf<T, R>(
  label: string,
  items: readonly T[],
  find: (item: T, at: number) => R | undefined,
): R | undefined {
  return eachItem(
    label,
    items,
    (): { found: R | undefined } => ({ found: undefined }),
    (state, item, at) => {
      state.found = find(item, at)
      return state.found === undefined
    },
  ).found
}

/** Does the same as `items.map`, but can be divided. */
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

/**
 * Thrown where work pauses, to leave its functions. It is not a failure: the work is called again
 * later.
 */
const paused = new Error('the work is paused')

const running: { progress: Progress | undefined } = { progress: undefined }

/**
 * A loop that has started, and that later calls of the work continue. `inner` contains the loops
 * inside its current step, in the order of their calls. `failure` is the error of a step. A failed
 * step is not run again, because it may have changed the state.
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
  /** The loops of the current step, and the index of the next loop. */
  #loops = this.#all
  #next = 0
  #steps = 0
  #level = 0
  /**
   * Whether this part has repeated all earlier work and reached new work. The time slice of a part
   * begins only there. Otherwise the repetition could use up the whole slice, and the work would
   * never make progress.
   */
  #hasBegun = false
  readonly #stepsPerLook: number
  /** Whether this part ended with a pause. */
  isInterrupted = false
  /** Why the work must run undivided: it did not reach the same loops when it was repeated. */
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
    // The first part has nothing to repeat, so it uses the rest of the current slice. If each call
    // began a new slice, many short calls in a row would never pause.
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

  /** Begins the time slice of this part when the first new step is reached. */
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
   * Makes the loop check the clock after the current step. Call this in a step that can take long,
   * such as listing the keys of a large map.
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
