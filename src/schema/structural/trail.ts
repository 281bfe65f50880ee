/** A place in a value, on the way of a walk. Nearly all values are good, so it is named only when somebody asks. */
export class Trail {
  readonly #outer: Trail | undefined
  readonly #step: string | number
  #name: string | undefined

  /** `step`: the name of a field, or the index of an item. */
  constructor(outer?: Trail, step: string | number = '') {
    this.#outer = outer
    this.#step = step
  }

  get isRoot(): boolean {
    return this.#outer === undefined
  }

  /** From the root: `spec.a[0]`. */
  get name(): string {
    return (this.#name ??= nameOf(this.#outer?.name ?? '', this.#step))
  }
}

export function nameOf(outer: string, step: string | number): string {
  if (typeof step === 'number') return `${outer}[${step}]`
  return outer === '' ? step : `${outer}.${step}`
}
