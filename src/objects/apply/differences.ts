/**
 * Compares an object before and after a write, in each API version that a field manager uses. The
 * result shows which managers conflict with the write, and which fields they would no longer own.
 */
import type { Fields } from '../../api/object.ts'
import { type Comparison, compare, excluding, isDifferent, taken } from './compare.ts'
import { difference, type FieldSet, intersection, isEmptySet, noFields } from './field-set.ts'
import { eachItem, isDivided, once } from '../../lib/scheduling/parts.ts'
import { type Owner, type Owners, withFields } from './managers.ts'
import type { StructMerge } from './merge-type.ts'

/** An object before and after a write, both in the same API version. */
export type Versions = {
  readonly type: StructMerge
  readonly before: Fields
  readonly after: Fields
  /**
   * Whether fields that requests with this URL path cannot change are compared nevertheless.
   * kube-apiserver does this for custom kinds, except in the API version of the request.
   */
  readonly isWhole?: boolean
}

const same: Comparison = { added: noFields, modified: noFields, removed: noFields }

export class Differences {
  readonly #versions: (apiVersion: string) => Versions | undefined
  readonly #ignored: FieldSet
  readonly #known = new Map<string, Comparison | undefined>()
  readonly #read = new Map<string, Versions | undefined>()
  /**
   * For each comparison, the fields that the writer owns after the write. They are cached, because
   * thousands of managers can use the same version.
   */
  readonly #taken = new Map<Comparison, FieldSet>()

  /**
   * Prepares the comparisons of a write. `versions` is one pair of objects for all managers, or a
   * function that returns the pair in a version. `ignored` contains the fields that a request with
   * this URL path cannot change.
   */
  constructor(
    versions: Versions | ((apiVersion: string) => Versions | undefined),
    ignored: FieldSet,
  ) {
    this.#versions = typeof versions === 'function' ? versions : () => versions
    this.#ignored = ignored
  }

  /**
   * Returns the changes of the write in a version, or undefined if the kind has no such version.
   */
  in(apiVersion: string): Comparison | undefined {
    return once('difference', () => {
      if (this.#known.has(apiVersion)) return this.#known.get(apiVersion)
      const found = this.#compare(apiVersion)
      this.#known.set(apiVersion, found)
      return found
    })
  }

  /**
   * Returns the merge type of the kind in a version, or undefined if the kind does not have this
   * version.
   */
  readonly typeIn = (apiVersion: string): StructMerge | undefined =>
    this.#versionsIn(apiVersion)?.type

  #versionsIn(apiVersion: string): Versions | undefined {
    return once('versions', () => {
      if (this.#read.has(apiVersion)) return this.#read.get(apiVersion)
      const versions = this.#versions(apiVersion)
      this.#read.set(apiVersion, versions)
      return versions
    })
  }

  #compare(apiVersion: string): Comparison | undefined {
    const versions = this.#versionsIn(apiVersion)
    if (versions === undefined) return undefined
    const comparison = compare(versions.before, versions.after, versions.type)
    if (comparison === undefined) return same
    return versions.isWhole === true ? comparison : excluding(comparison, this.#ignored)
  }

  #takenBy(comparison: Comparison): FieldSet {
    return once('taken fields', () => {
      const known = this.#taken.get(comparison) ?? taken(comparison)
      this.#taken.set(comparison, known)
      return known
    })
  }

  /** Returns the managers that conflict with the write, each with the fields that it would lose. */
  conflicts(owners: Owners, writer: string): readonly Owner[] {
    return eachItem(
      'conflicts of owners',
      [...owners],
      (): Owner[] => [],
      (found, [identity, owner]) => {
        const comparison = identity === writer ? undefined : this.in(owner.apiVersion)
        if (comparison === undefined || !isDifferent(comparison)) return true
        const fields = intersection(owner.fields, this.#takenBy(comparison))
        if (!isEmptySet(fields)) found.push(withFields(owner, fields))
        return true
      },
    )
  }

  /**
   * Returns the managers after the write. They no longer own fields that the write changes or
   * removes. Managers whose version no longer exists are dropped. The entry of `writer` stays
   * unchanged.
   */
  release(owners: Owners, writer?: string): Map<string, Owner> {
    const kept = eachItem(
      'owners after the write',
      [...owners],
      (): Map<string, Owner> => new Map(),
      (left, [identity, owner]) => {
        const comparison = this.in(owner.apiVersion)
        if (identity === writer || (comparison !== undefined && !isDifferent(comparison)))
          left.set(identity, owner)
        else if (comparison !== undefined) {
          const fields = difference(
            difference(owner.fields, this.#takenBy(comparison)),
            comparison.removed,
          )
          if (!isEmptySet(fields)) left.set(identity, withFields(owner, fields))
        }
        return true
      },
    )
    // If the work is divided into parts, the loop above keeps this map for later parts. Return a
    // copy, because the caller changes the map.
    return isDivided() ? new Map(kept) : kept
  }
}
