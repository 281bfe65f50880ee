/** Rules for the environment variables of a container and the sources of their values. */
import { type FieldFault, invalidValue } from '../../../../api/field-fault.ts'
import type { Gates } from '../../../../api/gates.ts'
import {
  checkConfigKey,
  checkDnsLabel,
  checkDnsSubdomain,
  checkVariableName,
} from '../../../../api/names.ts'
import { fieldsOf, itemsOf, textOf } from '../../../../api/object.ts'
import {
  each,
  eachIn,
  fields,
  ifPresent,
  needed,
  type Rule,
  unlessEmpty,
} from '../../../rules/rule.ts'
import { named, withoutBacksteps } from '../../../rules/scalars.ts'
import { envPaths, fieldRef, resourceFieldRef } from './downward.ts'

const nameFault =
  "a valid environment variable name must consist only of printable ASCII characters other than '='"

const anyName: Rule = named((name) => (/^[ -<>-~]+$/.test(name) ? [] : [nameFault]))

const strictName: Rule = named(checkVariableName)

const variableName: Rule = (value, path, check) =>
  (check.gates.isOn('RelaxedEnvironmentVariableValidation') ? anyName : strictName)(
    value,
    path,
    check,
  )

const keyRef: Rule = fields({ name: named(checkDnsSubdomain), key: needed(named(checkConfigKey)) })

const sources: { readonly [source: string]: Rule } = {
  fieldRef: fieldRef(envPaths),
  resourceFieldRef: resourceFieldRef({ isVolume: false }),
  configMapKeyRef: keyRef,
  secretKeyRef: keyRef,
  fileKeyRef: fields({
    key: needed(anyName),
    volumeName: needed(named(checkDnsLabel)),
    path: needed(withoutBacksteps),
  }),
}

const variable: Rule = (value, path, check) => {
  const { name, value: text, valueFrom } = fieldsOf(value)
  needed(variableName)(name, `${path}.name`, check)
  if (valueFrom === undefined || valueFrom === null) return
  const from = fieldsOf(valueFrom)
  const names = Object.keys(sources).filter((source) => from[source] !== undefined)
  for (const source of names) sources[source]?.(from[source], `${path}.valueFrom.${source}`, check)
  const why = sourceFault(names.length, textOf(text) !== '', check.gates)
  if (why !== undefined) check.faults.push(invalidValue(`${path}.valueFrom`, '', why))
}

function sourceFault(count: number, hasValue: boolean, gates: Gates): string | undefined {
  if (count === 0) {
    if (gates.isOn('EnvFiles')) {
      return 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    }
    return 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'
  }
  if (hasValue) return 'may not be specified when `value` is not empty'
  return count > 1 ? 'may not have more than one field specified at a time' : undefined
}

export const environment: Rule = each(variable)

const namedSource: Rule = fields({ name: needed(named(checkDnsSubdomain)) })

const wholeSource: Rule = fields({
  prefix: unlessEmpty(variableName),
  configMapRef: ifPresent(namedSource),
  secretRef: ifPresent(namedSource),
})

/**
 * Rule for envFrom. If an item does not have exactly one source, the error has the path of the list
 * instead of the item.
 */
export const environmentSources: Rule = (value, path, check) => {
  each(wholeSource)(value, path, check)
  eachIn(itemsOf(value), check, ({ configMapRef, secretRef }, _, { faults }) => {
    const fault = countFault(
      Number(configMapRef !== undefined) + Number(secretRef !== undefined),
      path,
    )
    if (fault !== undefined) faults.push(fault)
  })
}

function countFault(count: number, path: string): FieldFault | undefined {
  if (count === 1) return undefined
  const why =
    count === 0
      ? 'must specify one of: `configMapRef` or `secretRef`'
      : 'may not have more than one field specified at a time'
  return invalidValue(path, '', why)
}
