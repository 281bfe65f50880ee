/**
 * The position of a value while an object is visited. Its path is computed only for errors, because
 * nearly all values are valid.
 */
export class Trail {
  readonly #outer: Trail | undefined
  readonly #step: string | number
  #name: string | undefined

  /** Creates a position inside `outer`. `step` is the name of a field or the index of an item. */
  constructor(outer?: Trail, step: string | number = '') {
    this.#outer = outer
    this.#step = step
  }

  get isRoot(): boolean {
    return this.#outer === undefined
  }

  /** Path from the root, such as `spec.a[0]`. */
  get name(): string {
    return (this.#name ??= nameOf(this.#outer?.name ?? '', this.#step))
  }
}

export function nameOf(outer: string, step: string | number): string {
  if (typeof step === 'number') return `${outer}[${step}]`
  return outer === '' ? step : `${outer}.${step}`
}
