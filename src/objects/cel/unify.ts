/**
 * Type unification: determines whether a type is compatible with an expected type, and which types
 * the type parameters must then have. `Bindings` stores the types of the type parameters.
 */
import { dyn, isSame, mapParts, partsOf, type Type } from './types.ts'

export class Bindings {
  readonly #bound = new Map<string, Type>()
  /** The previous types of all type parameters that the current call of `fitsAll` has changed. */
  readonly #undo: [string, Type | undefined][] = []
  #fresh = 0

  /** Returns a new type parameter. */
  fresh(): Type {
    return { kind: 'parameter', name: `_var${this.#fresh++}` }
  }

  /**
   * Whether all types are compatible with the expected types. If not, the type parameters stay
   * unchanged.
   */
  fitsAll(types: readonly Type[], wanted: readonly Type[]): boolean {
    if (types.length !== wanted.length) return false
    this.#undo.length = 0
    if (types.every((type, at) => this.#fit(type, wanted[at] ?? dyn))) return true
    for (const [name, before] of this.#undo.toReversed()) {
      if (before === undefined) this.#bound.delete(name)
      else this.#bound.set(name, before)
    }
    return false
  }

  fits(type: Type, wanted: Type): boolean {
    return this.fitsAll([type], [wanted])
  }

  /**
   * Replaces type parameters by their types. If `isFinal` is true, parameters without a type become
   * `dyn`.
   */
  resolve(type: Type, isFinal = false): Type {
    if (type.kind !== 'parameter') return mapParts(type, (part) => this.resolve(part, isFinal))
    const bound = this.#bound.get(type.name)
    if (bound !== undefined) return this.resolve(bound, isFinal)
    return isFinal ? dyn : type
  }

  #fit(type: Type, wanted: Type): boolean {
    if (wanted.kind === 'parameter') {
      const bound = this.#bind(wanted, type)
      if (bound !== 'unknown') return bound
    }
    if (type.kind === 'parameter') return this.#bind(type, wanted) === true
    if (isAnything(type) || isAnything(wanted)) return true
    if (type.kind === 'null') return isNullable(wanted)
    if (wanted.kind === 'null') return isNullable(type)
    if (type.kind !== wanted.kind) return false
    if (type.kind === 'type') return true
    if ('name' in type && 'name' in wanted && type.name !== wanted.name) return false
    const [parts, others] = [partsOf(type), partsOf(wanted)]
    return (
      parts.length === others.length &&
      parts.every((part, at) => this.#fit(part, others[at] ?? dyn))
    )
  }

  /**
   * Sets the type of a type parameter. Returns 'unknown' if the parameter cannot have this type
   * because the type contains the parameter.
   */
  #bind(parameter: Type & { kind: 'parameter' }, type: Type): boolean | 'unknown' {
    if (isSame(parameter, type)) return true
    const bound = this.#bound.get(parameter.name)
    if (bound === undefined) {
      if (this.#refersTo(type, parameter.name)) return 'unknown'
      this.#set(parameter.name, type)
      return true
    }
    if (isSame(bound, type)) return true
    if (!this.#fit(type, bound)) return false
    const general = mostGeneral(type, bound)
    if (!this.#refersTo(general, parameter.name)) this.#set(parameter.name, general)
    return true
  }

  #set(name: string, type: Type): void {
    this.#undo.push([name, this.#bound.get(name)])
    this.#bound.set(name, type)
  }

  #refersTo(type: Type, name: string): boolean {
    if (type.kind === 'parameter') {
      const bound = this.#bound.get(type.name)
      return type.name === name || (bound !== undefined && this.#refersTo(bound, name))
    }
    return partsOf(type).some((part) => this.#refersTo(part, name))
  }
}

export const isAnything = (type: Type): boolean => type.kind === 'dyn' || type.kind === 'error'

const isNullable = (type: Type): boolean =>
  type.kind === 'null' ||
  type.kind === 'struct' ||
  type.kind === 'opaque' ||
  type.kind === 'timestamp' ||
  type.kind === 'duration'

export const mostGeneral = (one: Type, other: Type): Type =>
  isMoreGeneral(one, other) ? one : other

function isMoreGeneral(one: Type, other: Type): boolean {
  if (one.kind === 'dyn' || one.kind === 'parameter') return true
  if (one.kind !== other.kind) return false
  if (one.kind === 'type') return true
  if ('name' in one && 'name' in other && one.name !== other.name) return false
  const [parts, others] = [partsOf(one), partsOf(other)]
  return (
    parts.length === others.length &&
    parts.every((part, at) => isMoreGeneral(part, others[at] ?? dyn))
  )
}
