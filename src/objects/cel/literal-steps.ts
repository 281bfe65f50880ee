/**
 * Evaluates list, map and struct literals. Elements can be optional, as in `[?a]` or `{?k: v}`.
 */
import type { FieldInitializer } from './ast.ts'
import { LIST_COST, MAP_COST, STRUCT_COST } from './cost.ts'
import { jsonPatchType, operationFault } from './patches.ts'
import type { Step } from './run.ts'
import {
  ArrayList,
  CelError,
  HashMap,
  isKey,
  ConstructedStruct,
  type MapKey,
  noSuchOverload,
  Optional,
  unsupportedKey,
  type Value,
} from './values.ts'

/** Evaluates a list literal. `optional` contains the indexes of the optional elements. */
export const listStep =
  (elements: readonly Step[], optional: ReadonlySet<number>): Step =>
  (run) => {
    const items: Value[] = []
    for (let at = 0; at < elements.length; at++) {
      const value = elements[at]?.(run) ?? null
      if (value instanceof CelError) return value
      if (!optional.has(at)) items.push(value)
      else if (!(value instanceof Optional)) return noSuchOverload
      else if (value.value !== undefined) items.push(value.value)
    }
    run.spend(LIST_COST)
    return new ArrayList(items)
  }

export const mapStep =
  (
    entries: readonly { readonly key: Step; readonly value: Step; readonly isOptional: boolean }[],
  ): Step =>
  (run) => {
    const given: (readonly [MapKey, Value])[] = []
    for (const entry of entries) {
      const key = entry.key(run)
      if (key instanceof CelError) return key
      let value = entry.value(run)
      if (value instanceof CelError) return value
      if (entry.isOptional) {
        if (!(value instanceof Optional)) return noSuchOverload
        if (value.value === undefined) continue
        value = value.value
      }
      if (!isKey(key)) return unsupportedKey(key)
      given.push([key, value])
    }
    run.spend(MAP_COST)
    return HashMap.of(given)
  }

/**
 * Evaluates a struct literal. `values` are the steps that evaluate the fields, in the order of the
 * fields.
 */
export const structStep =
  (name: string, fields: readonly FieldInitializer[], values: readonly Step[]): Step =>
  (run) => {
    const known = new Map<string, Value>()
    for (const [at, field] of fields.entries()) {
      const value = values[at]?.(run) ?? null
      if (value instanceof CelError) return value
      if (!field.isOptional) known.set(field.name, value)
      else if (!(value instanceof Optional)) return noSuchOverload
      else if (value.value !== undefined) known.set(field.name, value.value)
    }
    run.spend(STRUCT_COST)
    const typeName = name.replace(/^\./, '')
    return (
      (typeName === jsonPatchType.name ? operationFault(known) : undefined) ??
      new ConstructedStruct(typeName, known)
    )
  }
