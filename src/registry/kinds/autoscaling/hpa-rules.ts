/**
 * Rules for autoscalers. Errors have the paths of autoscaling/v2, whichever version was written.
 */
import {
  forbiddenField,
  invalidShown,
  invalidUnquoted,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { goQuantity } from '../../../api/go-value.ts'
import { checkDnsLabel, checkPathSegment } from '../../../api/names.ts'
import { fieldsOf, itemsOf, numberOf, textOf } from '../../../api/object.ts'
import { nanosOf } from '../../../api/quantity.ts'
import { checkContainerResourceName } from '../../rules/resources.ts'
import { all, each, fields, ifPresent, needed, type Rule } from '../../rules/rule.ts'
import { named, nonNegative, oneOf, positive } from '../../rules/scalars.ts'

const WINDOW_SECONDS_MAX = 3600
const PERIOD_SECONDS_MAX = 1800

const segment = named(checkPathSegment)

/** The first release that validates the apiVersion of a reference. */
const VERSIONS_SINCE = 34

/** Names of conditions that are on if the stored object has a reference without a valid version. */
export const keptTarget = 'keeps the scale target'
export const keptObjects = 'keeps the objects of metrics'

const reference = (kept: string, mayBeCore: (kind: string) => boolean): Rule =>
  all(
    fields({ kind: needed(segment), name: needed(segment) }),
    (value, path, { faults, gates }) => {
      if (gates.release < VERSIONS_SINCE || gates.isOn(kept)) return
      const { apiVersion, kind } = fieldsOf(value)
      const why = versionFault(textOf(apiVersion), mayBeCore(textOf(kind)))
      if (why !== undefined)
        faults.push(invalidValue(`${path}.apiVersion`, textOf(apiVersion), why))
    },
  )

/** Returns why an apiVersion is invalid. */
export function versionFault(apiVersion: string, mayBeCore: boolean): string | undefined {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`
  const isCore = parts.length < 2 || parts[0] === ''
  return isCore && !mayBeCore ? 'apiVersion must specify API group' : undefined
}

const positiveAmount: Rule = ifPresent((value, path, { faults }) => {
  if (nanosOf(textOf(value)) <= 0n)
    faults.push(invalidShown(path, goQuantity(textOf(value)), 'must be positive'))
})

const positivePercent: Rule = ifPresent((value, path, { faults }) => {
  if (numberOf(value) < 1)
    faults.push(invalidValue(path, numberOf(value), 'must be greater than 0'))
})

const targetType: Rule = (value, path, { faults }) => {
  const type = textOf(value)
  if (type === '') faults.push(required(path, 'must specify a metric target type'))
  if (['Utilization', 'Value', 'AverageValue'].includes(type)) return
  faults.push(invalidValue(path, type, 'must be either Utilization, Value, or AverageValue'))
}

const target = fields({
  type: targetType,
  value: positiveAmount,
  averageValue: positiveAmount,
  averageUtilization: positivePercent,
})

/**
 * Requires that one of two fields of the target is set. `why` contains the error messages: `none`
 * if neither field is set, and `both` if both are set. Without `why.both`, both fields can be set.
 */
function eitherTarget(
  [one, other]: readonly [string, string],
  why: { readonly none: string; readonly both?: string },
): Rule {
  return (value, path, { faults }) => {
    const { [one]: first, [other]: second } = fieldsOf(fieldsOf(value)['target'])
    if (first === undefined && second === undefined)
      faults.push(required(`${path}.target.${one}`, why.none))
    else if (first !== undefined && second !== undefined && why.both !== undefined) {
      faults.push(forbiddenField(`${path}.target.${other}`, why.both))
    }
  }
}

const metricName = fields({ name: needed(segment, 'must specify a metric name') })

const positiveAverage: Rule = (value, path, { faults }) => {
  const { averageValue } = fieldsOf(fieldsOf(value)['target'])
  if (averageValue !== undefined && nanosOf(textOf(averageValue)) > 0n) return
  faults.push(
    required(`${path}.target.averageValue`, 'must specify a positive target averageValue'),
  )
}

const rawOrUtilization = eitherTarget(['averageUtilization', 'averageValue'], {
  none: 'must set either a target raw value or a target utilization',
  both: 'may not set both a target raw value and a target utilization',
})

const containerResource: Rule = (value, path, { faults }) => {
  const name = textOf(value)
  for (const why of checkContainerResourceName(name)) faults.push(invalidUnquoted(path, name, why))
}

const resourceName = 'must specify a resource name'

/** Rules for metric sources, keyed by field, in the order of validation. */
const sources: { readonly [source: string]: Rule } = {
  object: all(
    fields({ describedObject: reference(keptObjects, () => true), metric: metricName, target }),
    eitherTarget(['averageValue', 'value'], {
      none: 'must set either a target value or averageValue',
    }),
  ),
  external: all(
    fields({ metric: metricName, target }),
    eitherTarget(['averageValue', 'value'], {
      none: 'must set either a target value for metric or a per-pod target',
      both: 'may not set both a target value for metric and a per-pod target',
    }),
  ),
  pods: all(fields({ metric: metricName, target }), positiveAverage),
  resource: all(fields({ name: needed(undefined, resourceName), target }), rawOrUtilization),
  containerResource: all(
    fields({
      name: needed(containerResource, resourceName),
      container: needed(named(checkDnsLabel), 'must specify a container'),
      target,
    }),
    rawOrUtilization,
  ),
}

const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']

/**
 * Rule for a metric. Only the first source that is set is validated. A source that does not match
 * the type is refused.
 */
const metric: Rule = (value, path, check) => {
  const { faults } = check
  const source = fieldsOf(value)
  const type = textOf(source['type'])
  const isKnown = metricTypes.includes(type)
  if (type === '') faults.push(required(`${path}.type`, 'must specify a metric source type'))
  const unknown = notSupported(`${path}.type`, type, metricTypes)
  if (!isKnown) faults.push(unknown)
  const present = Object.keys(sources).filter((name) => source[name] !== undefined)
  const [first] = present
  if (first !== undefined) sources[first]?.(source[first], `${path}.${first}`, check)
  const expected = `${type.charAt(0).toLowerCase()}${type.slice(1)}`
  if (!isKnown) faults.push(unknown)
  else if (!present.includes(expected)) {
    faults.push(
      required(`${path}.${expected}`, 'must populate information for the given metric source'),
    )
  }
  if (present.length === 1) return
  for (const name of present.filter((one) => one !== expected)) {
    faults.push(forbiddenField(`${path}.${name}`, 'must populate the given metric source only'))
  }
}

/**
 * Rule for minReplicas and maxReplicas. minReplicas can be zero only if the feature gate
 * HPAScaleToZero is on.
 */
const replicas: Rule = (value, path, { faults, gates }) => {
  const { minReplicas, maxReplicas } = fieldsOf(value)
  const [min, max] = [numberOf(minReplicas), numberOf(maxReplicas)]
  const least = gates.isOn('HPAScaleToZero') ? 0 : 1
  if (minReplicas !== undefined && min < least) {
    faults.push(
      invalidValue(`${path}.minReplicas`, min, `must be greater than or equal to ${least}`),
    )
  }
  if (max < 1) faults.push(invalidValue(`${path}.maxReplicas`, max, 'must be greater than 0'))
  if (minReplicas !== undefined && max < min) {
    faults.push(
      invalidValue(`${path}.maxReplicas`, max, 'must be greater than or equal to `minReplicas`'),
    )
  }
}

/**
 * Rule for minReplicas 0, which requires an Object or External metric. All other metrics are
 * measured in Pods, and do not exist if there are no Pods.
 */
const scalesFromZero: Rule = (value, path, { faults }) => {
  const { minReplicas, metrics } = fieldsOf(value)
  const isOutside = itemsOf(metrics).some(({ type }) => type === 'Object' || type === 'External')
  if (minReplicas !== 0 || isOutside) return
  const why =
    'must specify at least one Object or External metric to support scaling to zero replicas'
  faults.push(forbiddenField(`${path}.metrics`, why))
}

function atMost(max: number): Rule {
  return (value, path, { faults }) => {
    if (numberOf(value) > max)
      faults.push(invalidValue(path, numberOf(value), `must be less than or equal to ${max}`))
  }
}

const windowFromZero: Rule = (value, path, { faults }) => {
  if (numberOf(value) < 0)
    faults.push(invalidValue(path, numberOf(value), 'must be greater than or equal to zero'))
}

const nonNegativeAmount: Rule = (value, path, { faults }) => {
  if (nanosOf(textOf(value)) < 0n)
    faults.push(invalidValue(path, textOf(value), 'must be greater than or equal to 0'))
}

const scalingRules: Rule = ifPresent(
  fields({
    stabilizationWindowSeconds: ifPresent(all(windowFromZero, atMost(WINDOW_SECONDS_MAX))),
    selectPolicy: ifPresent(oneOf('Disabled', 'Max', 'Min')),
    policies: needed(
      each(
        fields({
          type: oneOf('Percent', 'Pods'),
          value: positive,
          periodSeconds: all(positive, atMost(PERIOD_SECONDS_MAX)),
        }),
      ),
      'must specify at least one Policy',
    ),
    tolerance: ifPresent(nonNegativeAmount),
  }),
)

export const autoscalerSpec: Rule = all(
  replicas,
  fields({
    scaleTargetRef: reference(keptTarget, (kind) => kind === 'ReplicationController'),
    metrics: each(metric),
  }),
  scalesFromZero,
  fields({ behavior: fields({ scaleUp: scalingRules, scaleDown: scalingRules }) }),
)

export const autoscalerStatus: Rule = fields({
  currentReplicas: nonNegative,
  desiredReplicas: nonNegative,
})
