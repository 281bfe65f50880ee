/** Where a walk through a value is. Nearly all values are good, so a place is named only when it is asked for. */
import type { FieldFault } from '../../api/field-fault.ts'
import type { Json } from '../../api/object.ts'

/** What is wrong, to be put into words if it is told at all: of alternatives that fail, most are not. */
export type Fault = () => FieldFault

export type Walk = {
  /** What stands before all places in paths. */
  readonly prefix: string
  readonly faults: Fault[]
}

type Link = {
  /** What the value was before the update; undefined: it is new. */
  readonly old: Json | undefined
  readonly outer?: Place | undefined
  /** The name of a field, or the index of an item. */
  readonly step?: string | number
}

export class Place {
  readonly prefix: string
  readonly faults: Fault[]
  readonly old: Json | undefined
  readonly #outer: Place | undefined
  readonly #step: string | number
  #name: string | undefined

  constructor({ prefix, faults }: Walk, { old, outer, step = '' }: Link) {
    this.prefix = prefix
    this.faults = faults
    this.old = old
    this.#outer = outer
    this.#step = step
  }

  /** From the root of what is validated: `spec.a[0]`. */
  get name(): string {
    return (this.#name ??= nameOf(this.#outer?.name ?? '', this.#step))
  }

  get isRoot(): boolean {
    return this.#outer === undefined
  }

  below(step: string | number, old: Json | undefined): Place {
    return new Place(this, { old, outer: this, step })
  }

  /** The same place on a walk of its own. */
  tried(faults: Fault[]): Place {
    const { prefix, old } = this
    return new Place({ prefix, faults }, { old, outer: this.#outer, step: this.#step })
  }
}

function nameOf(outer: string, step: string | number): string {
  if (typeof step === 'number') return `${outer}[${step}]`
  return outer === '' ? step : `${outer}.${step}`
}
