/**
 * Validation rules for parts of objects. A rule validates one value, and adds its faults to
 * `check.faults`. The rules of a struct are a table from fields to rules, in the order in which
 * clients see the faults. A rule that depends on several fields is a function.
 */
import { FAULTS_MAX, faultsOfEach, type FieldFault, required } from '../../api/field-fault.ts'
import { defaultGates, type Gates } from '../../api/gates.ts'
import { fieldsOf, isFields, type Json } from '../../api/object.ts'
import { isDivided } from '../../lib/scheduling/parts.ts'

/** Context of a rule besides the value. Families of rules extend it. */
export type Check = { readonly faults: FieldFault[]; readonly gates: Gates }

export type Rule<C extends Check = Check> = (
  value: Json | undefined,
  path: string,
  check: C,
) => void

/** Returns the faults that a rule finds in a value. Rules that depend on gates need `gates`. */
export function faultsOf(
  rule: Rule,
  value: Json | undefined,
  path: string,
  gates: Gates = defaultGates,
): FieldFault[] {
  return collectFaults((faults) => rule(value, path, { faults, gates }))
}

/** Collects the faults that rules add, and stops them when FAULTS_MAX is reached. */
export function collectFaults(addTo: (faults: FieldFault[]) => void): FieldFault[] {
  const faults = new ReportedFaults()
  try {
    addTo(faults)
  } catch (error) {
    if (!(error instanceof EnoughFaults)) throw error
  }
  return [...faults]
}

class EnoughFaults extends Error {}

class ReportedFaults extends Array<FieldFault> {
  override push(...more: FieldFault[]): number {
    if (this.length >= FAULTS_MAX) throw new EnoughFaults()
    return super.push(...more)
  }
}

/**
 * Returns the rule for a struct, in which each field has a rule. An absent struct counts as an
 * empty one, unless the rule is wrapped in `ifPresent`.
 */
export function fields<C extends Check>(rules: { readonly [field: string]: Rule<C> }): Rule<C> {
  const rows = Object.entries(rules).map(([name, rule]) => ({ name, rule, suffix: `.${name}` }))
  return (value, path, check) => {
    const struct = fieldsOf(value)
    for (const { name, rule, suffix } of rows) rule(struct[name], path + suffix, check)
  }
}

/** Returns the rule for a list, in which each item has the same rule. */
export function each<C extends Check>(rule: Rule<C>): Rule<C> {
  return (value, path, check) => {
    if (!Array.isArray(value)) return
    if (isDivided())
      return eachIn<Json, C>(value, check, (item, at, own) => rule(item, `${path}[${at}]`, own))
    for (let at = 0; at < value.length; at++) rule(value[at], `${path}[${at}]`, check)
  }
}

/**
 * Visits the items of a list that may be long. A visit adds its faults to the `check` that it
 * receives. A visit that was interrupted is called again. It must therefore change state that it
 * shares with other visits only after its own loops, or inside `once`.
 */
export function eachIn<T, C extends Check>(
  items: readonly T[],
  check: C,
  visit: (item: T, at: number, check: C) => void,
): void {
  if (!isDivided()) {
    for (const [at, item] of items.entries()) visit(item, at, check)
    return
  }
  const found = faultsOfEach(items, (item, at) =>
    collectFaults((faults) => visit(item, at, { ...check, faults })),
  )
  for (const fault of found) check.faults.push(fault)
}

export function all<C extends Check>(...rules: readonly Rule<C>[]): Rule<C> {
  return (value, path, check) => {
    for (const rule of rules) rule(value, path, check)
  }
}

/** Returns a rule that skips an absent value. */
export function ifPresent<C extends Check>(rule: Rule<C>): Rule<C> {
  return (value, path, check) => {
    if (value !== undefined && value !== null) rule(value, path, check)
  }
}

/**
 * Returns a rule that skips a value that is absent, empty or zero, which Go does not distinguish.
 */
export function unlessEmpty<C extends Check>(rule: Rule<C>): Rule<C> {
  return (value, path, check) => {
    if (!isEmpty(value)) rule(value, path, check)
  }
}

/** Returns the rule for a value that must not be empty, and must pass `rule`. */
export function needed<C extends Check>(rule?: Rule<C>, detail = ''): Rule<C> {
  return (value, path, check) => {
    if (isEmpty(value)) check.faults.push(required(path, detail))
    else rule?.(value, path, check)
  }
}

export function neededFields(...names: readonly string[]): Rule {
  return fields(Object.fromEntries(names.map((name) => [name, needed()])))
}

/** Whether a value is absent, or the zero value of its type. */
export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false)
    return true
  return Array.isArray(value)
    ? value.length === 0
    : isFields(value) && Object.keys(value).length === 0
}
