/**
 * Validation rules for parts of objects. A rule validates one value, and adds errors to
 * `check.faults`.
 *
 * For a struct, a table lists the rules of the fields, in the order in which errors are reported. A
 * rule that concerns several fields is a function.
 */
import { FAULTS_MAX, faultsOfEach, type FieldFault, required } from '../../api/field-fault.ts'
import { defaultGates, type Gates } from '../../api/gates.ts'
import { fieldsOf, isFields, type Json } from '../../api/object.ts'
import { isDivided } from '../../lib/scheduling/parts.ts'

/**
 * Context that a rule receives in addition to the value. Groups of rules, such as those for parts
 * of a Pod, extend it with further fields.
 */
export type Check = { readonly faults: FieldFault[]; readonly gates: Gates }

export type Rule<C extends Check = Check> = (
  value: Json | undefined,
  path: string,
  check: C,
) => void

/**
 * Returns the errors that a rule finds in a value. `gates` is needed for rules that depend on
 * feature gates.
 */
export function faultsOf(
  rule: Rule,
  value: Json | undefined,
  path: string,
  gates: Gates = defaultGates,
): FieldFault[] {
  return collectFaults((faults) => rule(value, path, { faults, gates }))
}

/**
 * Collects the errors that rules add. After FAULTS_MAX errors, the next error is dropped, and the
 * validation ends.
 */
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
 * Returns the rule for a struct. Each field has its own rule. An absent struct is validated like an
 * empty one, unless the rule is wrapped in `ifPresent`.
 */
export function fields<C extends Check>(rules: { readonly [field: string]: Rule<C> }): Rule<C> {
  const rows = Object.entries(rules).map(([name, rule]) => ({ name, rule, suffix: `.${name}` }))
  return (value, path, check) => {
    const struct = fieldsOf(value)
    for (const { name, rule, suffix } of rows) rule(struct[name], path + suffix, check)
  }
}

/** Returns the rule for a list whose items all have the same rule. */
export function each<C extends Check>(rule: Rule<C>): Rule<C> {
  return (value, path, check) => {
    if (!Array.isArray(value)) return
    if (isDivided())
      return eachIn<Json, C>(value, check, (item, at, own) => rule(item, `${path}[${at}]`, own))
    for (let at = 0; at < value.length; at++) rule(value[at], `${path}[${at}]`, check)
  }
}

/**
 * Calls `visit` for each item of a list that can be long. `visit` adds its errors to the `check`
 * that it receives.
 *
 * If `visit` is interrupted, it is called again for the same item. Therefore, `visit` must not
 * change shared state before its own loops have ended, except inside `once`
 * (lib/scheduling/parts.ts).
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

/** Returns a rule that accepts an absent value. Other values must satisfy `rule`. */
export function ifPresent<C extends Check>(rule: Rule<C>): Rule<C> {
  return (value, path, check) => {
    if (value !== undefined && value !== null) rule(value, path, check)
  }
}

/**
 * Returns a rule that accepts absent, empty and zero values, because Go does not distinguish these
 * values. All other values must satisfy `rule`.
 */
export function unlessEmpty<C extends Check>(rule: Rule<C>): Rule<C> {
  return (value, path, check) => {
    if (!isEmpty(value)) rule(value, path, check)
  }
}

/** Returns the rule for a value that must not be empty and must satisfy `rule`. */
export function needed<C extends Check>(rule?: Rule<C>, detail = ''): Rule<C> {
  return (value, path, check) => {
    if (isEmpty(value)) check.faults.push(required(path, detail))
    else rule?.(value, path, check)
  }
}

export function neededFields(...names: readonly string[]): Rule {
  return fields(Object.fromEntries(names.map((name) => [name, needed()])))
}

/** Whether a value is absent or is the zero value of its type. */
export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false)
    return true
  return Array.isArray(value)
    ? value.length === 0
    : isFields(value) && Object.keys(value).length === 0
}
