/**
 * All priority levels, and the division of the server's seats among them. Seats are divided by the
 * shares of the levels and, every ten seconds, by the number of seats that each level could use. If
 * a level needs fewer than its own seats, it lends the rest to other levels, up to the limit in its
 * object.
 */
import { allocateSeats } from './allocate-seats.ts'
import { Level, type LevelOptions } from './level.ts'
import { type LevelSpec, mandatoryLevels } from './priority-level.ts'

export type LevelsOptions = Omit<LevelOptions, 'onIdle'> & {
  /** Number of seats of all priority levels together. */
  readonly seats: number
}

export class Levels {
  readonly #options: LevelsOptions
  readonly #specs = new Map<string, LevelSpec>()
  readonly #levels = new Map<string, Level>()

  constructor(options: LevelsOptions) {
    this.#options = options
    this.apply()
  }

  /**
   * Sets a priority level, or deletes it if `spec` is undefined. `apply` must be called afterwards.
   */
  set(name: string, spec: LevelSpec | undefined): void {
    if (spec === undefined) this.#specs.delete(name)
    else this.#specs.set(name, spec)
  }

  names(): Iterable<string> {
    return this.#specs.keys()
  }

  get(name: string): Level | undefined {
    const level = this.#levels.get(name)
    return level?.isQuiescing === true ? undefined : level
  }

  /**
   * Returns all priority levels, including those whose objects were deleted but which still have
   * requests.
   */
  all(): readonly Level[] {
    return [...this.#levels.values()]
  }

  /** Applies the current objects, and divides the seats among the priority levels. */
  apply(): void {
    const wanted = new Map(mandatoryLevels.map((spec) => [spec.name, spec]))
    for (const [name, spec] of this.#specs) wanted.set(name, spec)
    for (const level of this.#levels.values()) this.#retire(level, wanted)
    for (const spec of wanted.values()) {
      const level = this.#levels.get(spec.name) ?? this.#create(spec)
      level.spec = spec
      level.isQuiescing = false
    }
    const shareSum = this.all().reduce((sum, { spec }) => sum + spec.shares, 0)
    for (const level of this.#levels.values()) level.setLimits(this.#options.seats, shareSum)
    this.divide()
  }

  /** Ends a period, and divides the seats according to their use in this period. */
  divide(): void {
    const { seats: serverSeats, time, metrics } = this.#options
    const nowMs = time.monotonicMs()
    const levels = this.all()
    for (const { demand } of levels) demand.endPeriod(nowMs)
    const exempt = levels.filter(({ spec }) => spec.isExempt)
    const limited = levels.filter(({ spec }) => !spec.isExempt)
    const total = sum(levels.map(({ nominal }) => nominal))
    const left = total - sum(exempt.map(({ needed }) => needed))
    const kept = sum(limited.map(({ lower }) => lower))
    const needed = sum(limited.map((level) => level.needed))
    for (const level of exempt) level.setCurrent(level.needed, serverSeats)
    if (left > needed) {
      // As in kube-apiserver, exempt requests get the seats of other priority levels only if those
      // levels do not need them.
      const wants = limited.map((level) => ({
        target: level.target,
        min: level.needed,
        max: level.upper,
      }))
      const allocation = allocateSeats(total, wants)
      metrics.fairFraction.value = allocation?.fairFraction ?? 0
      limited.forEach((level, at) =>
        level.setCurrent(
          Math.round(allocation?.seats[at] ?? level.current ?? level.lower),
          serverSeats,
        ),
      )
      return
    }
    metrics.fairFraction.value = 0
    const share = left <= kept ? 0 : (left - kept) / (needed - kept)
    for (const level of limited) {
      level.setCurrent(level.lower + Math.round((level.needed - level.lower) * share), serverSeats)
    }
  }

  /**
   * Retires a priority level whose object was deleted. It gets seats until its last request has
   * ended.
   */
  #retire(level: Level, wanted: ReadonlyMap<string, LevelSpec>): void {
    if (wanted.has(level.spec.name)) return
    if (level.queues.isIdle) this.#remove(level)
    else level.isQuiescing = true
  }

  #remove({ spec }: Level): void {
    this.#levels.delete(spec.name)
    this.#options.metrics.levels.forget(spec.name)
  }

  #create(spec: LevelSpec): Level {
    const onIdle = (level: Level): void => {
      if (!level.isQuiescing || this.#levels.get(level.spec.name) !== level) return
      this.#remove(level)
      this.apply()
    }
    const level = new Level(spec, { ...this.#options, onIdle })
    this.#levels.set(spec.name, level)
    return level
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
