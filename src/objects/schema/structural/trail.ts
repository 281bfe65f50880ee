/**
 * A place in a value during a walk. Nearly all values are valid, so its path is built only when it
 * is needed.
 */
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
