/**
 * Counters, gauges and histograms in the Prometheus text format. To count efficiently, callers call
 * `with` once and keep the series that it returns. Each count is then an addition to a field.
 * prom-client is not used, because it looks up the labels in every call, and cannot print `le`
 * last.
 */

import { type Log, silent } from './log.ts'
import { Quantiles } from './quantiles.ts'
import { Slices } from '../scheduling/slices.ts'

/** The stability level of a metric, which is part of its help text. */
export type Stability = 'STABLE' | 'BETA' | 'ALPHA'

export type MetricOptions = {
  readonly name: string
  readonly help: string
  readonly stability?: Stability
  /**
   * The names of the labels, which are printed in this order. By convention, they are in
   * alphabetical order.
   */
  readonly labels?: readonly string[]
  /**
   * The Kubernetes release in which the metric was deprecated, such as `1.27.0`. Later releases
   * hide the metric unless an operator requests it.
   */
  readonly deprecatedSince?: string
}

/**
 * Maximum number of series of a metric. Further combinations of label values are counted in a
 * single series, in which all labels have the value `other`.
 */
const SERIES_MAX = 20_000

/**
 * The label values that an operator allows, by metric and label. The keys have the form
 * `metric,label`. Labels without a key can have any value.
 */
export type AllowedLabels = ReadonlyMap<string, ReadonlySet<string>>

/** Flags with which an operator shows, hides or restricts metrics. */
export type MetricChoice = {
  /**
   * The minor version of the Kubernetes release that the server emulates. Metrics that were
   * deprecated before this release are hidden.
   */
  readonly release: number
  readonly allowedLabels: AllowedLabels
  /** Names of metrics that the operator has disabled. */
  readonly disabled: ReadonlySet<string>
  /** Whether metrics that are hidden because of their deprecation are shown nevertheless. */
  readonly showsHidden: boolean
}

const everything: MetricChoice = {
  release: 0,
  allowedLabels: new Map(),
  disabled: new Set(),
  showsHidden: false,
}

/** Replaces label values that the operator does not allow. */
const UNEXPECTED = 'unexpected'

abstract class Metric<Series> {
  readonly options: MetricOptions
  /**
   * The allowed values of each label, in the order of the labels. Undefined if all labels can have
   * any value.
   */
  #allowed: readonly (ReadonlySet<string> | undefined)[] | undefined
  #onUnexpected: () => void = () => undefined
  readonly #series = new Map<string, { readonly labels: string; readonly series: Series }>()

  constructor(options: MetricOptions) {
    this.options = options
  }

  abstract readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  protected abstract create(): Series
  protected abstract lines(series: Series, labels: string): string

  /** Restricts the values of labels. Must be called before the first series is created. */
  restrict(allowed: AllowedLabels, onUnexpected: () => void): void {
    this.#onUnexpected = onUnexpected
    const { name, labels = [] } = this.options
    const sets = labels.map((label) => allowed.get(`${name},${label}`))
    this.#allowed = sets.some((set) => set !== undefined) ? sets : undefined
  }

  #shown(values: readonly string[]): readonly string[] {
    const allowed = this.#allowed
    return allowed === undefined
      ? values
      : values.map((value, at) => (allowed[at]?.has(value) === false ? UNEXPECTED : value))
  }

  /** Returns the series with these label values, in the order of the labels. */
  with(...given: readonly string[]): Series {
    const values = this.#shown(given)
    if (values !== given && values.some((value, at) => value !== given[at])) this.#onUnexpected()
    const key = values.join('\u0000')
    const found = this.#series.get(key)
    if (found !== undefined) return found.series
    if (this.#series.size < SERIES_MAX) return this.#create(key, values)
    const others = values.map(() => 'other')
    return this.#series.get('other')?.series ?? this.#create('other', others)
  }

  #create(key: string, values: readonly string[]): Series {
    const series = this.create()
    this.#series.set(key, { labels: this.#labelsText(values), series })
    return series
  }

  /** Adds a series that the caller has created, so that the caller can update it directly. */
  adopt(series: Series, ...values: readonly string[]): void {
    this.#series.set(values.join('\u0000'), { labels: this.#labelsText(values), series })
  }

  /** Removes a series because the object that it describes no longer exists. */
  remove(...given: readonly string[]): void {
    const values = this.#shown(given)
    // Do not remove a series whose label values were replaced by `unexpected`, because it also
    // counts other objects.
    if (values.some((value, at) => value !== given[at])) return
    this.#series.delete(values.join('\u0000'))
  }

  clear(): void {
    this.#series.clear()
  }

  /**
   * Yields the text in pieces with a limited number of series each. A caller can let the event loop
   * run other work between two pieces.
   */
  *pieces(): Generator<string> {
    if (this.#series.size === 0) return
    const { name, help, stability = 'ALPHA', deprecatedSince } = this.options
    const since = deprecatedSince === undefined ? '' : `(Deprecated since ${deprecatedSince}) `
    let text = `# HELP ${name} [${stability}] ${since}${help}\n# TYPE ${name} ${this.type}\n`
    let count = 0
    for (const { labels, series } of this.#series.values()) {
      text += this.lines(series, labels)
      if (++count % PIECE_SERIES !== 0) continue
      yield text
      text = ''
    }
    yield text
  }

  /**
   * Formats the labels of a series. Each series keeps the result, because it never changes and
   * formatting it takes longer than everything else.
   */
  #labelsText(values: readonly string[]): string {
    return (this.options.labels ?? [])
      .map((label, at) => `${label}="${escapeValue(values[at] ?? '')}"`)
      .join(',')
  }
}

/**
 * Number of series per piece. Printing this number of histogram series takes about a millisecond.
 */
const PIECE_SERIES = 50

export class Count {
  value = 0

  add(amount = 1): void {
    this.value += amount
  }
}

export class Counter extends Metric<Count> {
  override readonly type = 'counter'

  protected override create(): Count {
    return new Count()
  }

  protected override lines({ value }: Count, labels: string): string {
    return line(this.options.name, labels, value)
  }
}

/** A gauge. Its `value` is assigned, or changed with `add`. */
export class Gauge extends Metric<Count> {
  override readonly type = 'gauge'

  protected override create(): Count {
    return new Count()
  }

  protected override lines({ value }: Count, labels: string): string {
    return line(this.options.name, labels, value)
  }
}

export class Distribution {
  readonly #bounds: readonly number[]
  /**
   * The number of values per bucket, and the number of values above all bounds. The numbers are not
   * cumulative.
   */
  readonly counts: number[]
  sum = 0
  count = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = new Array<number>(bounds.length + 1).fill(0)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && value > (bounds[at] ?? 0)) at++
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum += value
    this.count++
  }

  /**
   * Counts a value several times, in the first bucket. The value must not exceed the bound of this
   * bucket.
   */
  observeLow(value: number, times: number): void {
    this.counts[0] = (this.counts[0] ?? 0) + times
    this.sum += value * times
    this.count += times
  }
}

export class Histogram extends Metric<Distribution> {
  override readonly type = 'histogram'
  readonly #bounds: readonly number[]
  /** The upper bounds of the buckets as they are printed. */
  readonly #shownBounds: readonly string[]

  constructor(options: MetricOptions, bounds: readonly number[]) {
    super(options)
    this.#bounds = bounds
    this.#shownBounds = bounds.map(formatNumber)
  }

  protected override create(): Distribution {
    return new Distribution(this.#bounds)
  }

  protected override lines({ counts, sum, count }: Distribution, labels: string): string {
    const { name } = this.options
    const before = labels === '' ? '' : `${labels},`
    let text = ''
    let total = 0
    for (const [at, bound] of this.#shownBounds.entries()) {
      total += counts[at] ?? 0
      text += line(`${name}_bucket`, `${before}le="${bound}"`, total)
    }
    text += line(`${name}_bucket`, `${before}le="+Inf"`, count)
    return text + line(`${name}_sum`, labels, sum) + line(`${name}_count`, labels, count)
  }
}

/** The quantiles that Go's client library prints by default. */
const quantiles = [0.5, 0.9, 0.99] as const

export type SummaryOptions = MetricOptions & {
  readonly spanMs: number
  readonly monotonicMs: () => number
}

export class Summary extends Metric<Quantiles> {
  override readonly type = 'summary'
  readonly #spanMs: number
  readonly #monotonicMs: () => number

  constructor({ spanMs, monotonicMs, ...options }: SummaryOptions) {
    super(options)
    this.#spanMs = spanMs
    this.#monotonicMs = monotonicMs
  }

  protected override create(): Quantiles {
    return new Quantiles(this.#spanMs, this.#monotonicMs)
  }

  protected override lines(series: Quantiles, labels: string): string {
    const { name } = this.options
    const before = labels === '' ? '' : `${labels},`
    const read = series.read(quantiles)
    const shown = quantiles.map((quantile, at) =>
      line(name, `${before}quantile="${quantile}"`, read[at] ?? Number.NaN),
    )
    return (
      shown.join('') +
      line(`${name}_sum`, labels, series.sum) +
      line(`${name}_count`, labels, series.count)
    )
  }
}

/** All metrics of one HTTP endpoint. */
export class Metrics {
  readonly #metrics: {
    readonly options: MetricOptions
    readonly pieces: () => Iterable<string>
  }[] = []
  readonly #updates: (() => Iterable<void>)[] = []
  readonly #choice: MetricChoice
  readonly #log: Log
  #unexpected: Count | undefined
  #registered: Counter | undefined
  #hidden: Count | undefined
  #printing: Promise<unknown> = Promise.resolve()

  constructor(choice: Partial<MetricChoice> = {}, log: Log = silent) {
    this.#choice = { ...everything, ...choice }
    this.#log = log
    if (this.#choice.allowedLabels.size === 0) return
    this.#unexpected = this.counter({
      name: 'cardinality_enforcement_unexpected_categorizations_total',
      help: 'Number of times that a label value was replaced because it was not allowed.',
    }).with()
  }

  /** Adds metrics that count the metrics themselves. Call this before other metrics are added. */
  countOwn(): this {
    const beta = { stability: 'BETA' } as const
    const registered = {
      name: 'registered_metrics_total',
      help: 'Number of registered metrics, by stability level and deprecation version.',
      ...beta,
    }
    this.#registered = this.counter({
      ...registered,
      labels: ['deprecated_version', 'stability_level'],
    })
    this.#hidden = this.counter({
      name: 'hidden_metrics_total',
      help: 'Number of deprecated metrics that are no longer shown.',
      ...beta,
    }).with()
    const disabled = {
      name: 'disabled_metrics_total',
      help: 'Number of metrics disabled by --disabled-metrics.',
      ...beta,
    }
    this.counter(disabled).with().value = this.#choice.disabled.size
    return this
  }

  counter(options: MetricOptions): Counter {
    return this.#add(new Counter(options))
  }

  gauge(options: MetricOptions): Gauge {
    return this.#add(new Gauge(options))
  }

  histogram(options: MetricOptions, bounds: readonly number[]): Histogram {
    return this.#add(new Histogram(options, bounds))
  }

  summary(options: SummaryOptions): Summary {
    return this.#add(new Summary(options))
  }

  /**
   * Adds a function that is called before each scrape, for values that are read only on a scrape.
   */
  onPrint(update: () => void): void {
    this.#updates.push(() => {
      update()
      return []
    })
  }

  /**
   * Adds a function that is called before each scrape and can take a long time. The event loop can
   * run other work wherever `update` yields.
   */
  onPrintInTurns(update: () => Iterable<void>): void {
    this.#updates.push(update)
  }

  print(): string {
    return [...this.#pieces()].join('')
  }

  /**
   * Prints all metrics. Thousands of series have several megabytes, so the event loop runs other
   * work in between. Concurrent calls run one after the other, because each of them first updates
   * the metrics.
   */
  printInTurns(): Promise<Buffer[]> {
    const printing = this.#printing.then(() => this.#printSliced())
    this.#printing = printing.catch(() => undefined)
    return printing
  }

  async #printSliced(): Promise<Buffer[]> {
    const slices = new Slices()
    const printed: Buffer[] = []
    for (const piece of this.#pieces()) {
      if (piece !== '') printed.push(Buffer.from(piece))
      if (slices.isOver) await slices.turn()
    }
    return printed
  }

  /**
   * Updates the metrics, and then yields them as text. While updates run, the yielded pieces are
   * empty.
   */
  *#pieces(): Generator<string> {
    for (const update of this.#updates) {
      const turns = update()[Symbol.iterator]()
      while (turns.next().done !== true) yield ''
    }
    const sorted = this.#metrics.toSorted((a, b) => (a.options.name < b.options.name ? -1 : 1))
    for (const metric of sorted) yield* metric.pieces()
  }

  /**
   * Adds a metric. If the metric has no labels, its only series is created immediately. Hidden
   * metrics also count, because checking whether they are hidden would take longer.
   */
  #add<M extends Metric<unknown>>(metric: M): M {
    const { release, allowedLabels, disabled, showsHidden } = this.#choice
    const { name, labels = [], stability = 'ALPHA', deprecatedSince } = metric.options
    const isHidden =
      deprecatedSince !== undefined && minorOf(deprecatedSince) < release && !showsHidden
    if (isHidden) this.#hidden?.add()
    if (!isHidden && !disabled.has(name)) {
      if (deprecatedSince !== undefined && showsHidden) this.#log('warn', shownAlthoughHidden(name))
      this.#metrics.push(metric)
      this.#registered?.with(deprecatedSince ?? '', stability).add()
    }
    if (allowedLabels.size > 0) metric.restrict(allowedLabels, () => this.#unexpected?.add())
    if (labels.length === 0) metric.with()
    return metric
  }
}

const shownAlthoughHidden = (name: string): string =>
  `Hidden metrics (${name}) have been manually overridden, showing this very deprecated metric.`

/** Returns the minor version in a version such as 1.27.0. */
const minorOf = (version: string): number => Number(version.split('.')[1])

const line = (name: string, labels: string, value: number): string =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${formatNumber(value)}\n`

/** Formats a number as Go does: an exponent has at least two digits. */
function formatNumber(value: number): string {
  if (value === Infinity) return '+Inf'
  const text =
    value !== 0 && (Math.abs(value) >= 1e21 || Math.abs(value) < 1e-4)
      ? value.toExponential()
      : `${value}`
  if (Number.isInteger(value) && Math.abs(value) >= 1e6 && /0{5,}$/.test(text)) {
    return padExponent(value.toExponential())
  }
  return padExponent(text)
}

const padExponent = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2')

const escapeValue = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
