/**
 * The scale subresource of a custom kind. The CRD defines the paths of the replica counts and the
 * selector.
 */
import { unclassified } from '../../api/errors.ts'
import { type FieldFault, invalidValue } from '../../api/field-fault.ts'
import { goPlain } from '../../api/go-value.ts'
import {
  fieldsOf,
  isFields,
  isNumber,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
} from '../../api/object.ts'
import type { HiddenView, View } from '../resource.ts'
import { metadataOf, scaleView, withVersionOf } from '../scale.ts'
import type { ScalePaths } from './crd.ts'
import { readPath, valueAtPath, withValueAt } from './simple-path.ts'

/**
 * Returns the rules for the Scale of a custom kind. An object without a replica count has no Scale.
 */
export function customScaleView(
  paths: ScalePaths,
  release: number,
  pathsIn: (apiVersion: string) => ScalePaths | undefined,
): View {
  const [spec, status] = [readPath(paths.spec), readPath(paths.status)]
  const selector = paths.selector === '' ? undefined : readPath(paths.selector)
  return {
    ...scaleView(release),
    get shape() {
      return scaleView(release).shape
    },
    objectPath: (apiVersion) => {
      const path = pathsIn(apiVersion)?.spec
      return path === undefined ? undefined : readPath(path).join('.')
    },
    refusesApply: 'request to convert CR to an invalid group/version: autoscaling/v1',
    show: (object) => {
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: metadataOf(object),
        spec: { replicas: numberOf(valueAtPath(object, spec)) },
        status: {
          replicas: numberOf(valueAtPath(object, status)),
          ...(selector === undefined ? {} : { selector: textOf(valueAtPath(object, selector)) }),
        },
      }
    },
    whyHidden: (object) => hiddenScale(object, paths),
    change: (object, scale) => {
      const [fault] = scaleFaults(object, paths)
      if (fault !== undefined) throw unclassified(fault)
      return {
        ...withReplicas(object, spec, scale),
        metadata: withVersionOf(object.metadata, scale.metadata),
      }
    },
    validate: () => [],
  }
}

/**
 * Returns the object with the replica count from `scale`. If the schema of the CRD lacks the field
 * for the replica count, the write still increments the generation, but reads prune the field.
 */
function withReplicas(object: KubeObject, path: readonly string[], scale: KubeObject): KubeObject {
  refuseScalarOnWay(object, path)
  const { apiVersion, kind, metadata } = object
  const replicas = numberOf(fieldsOf(scale['spec'])['replicas'])
  return { ...withValueAt(object, path, replicas), apiVersion, kind, metadata }
}

function refuseScalarOnWay(object: KubeObject, path: readonly string[]): void {
  let value: Json | undefined = object
  for (const [at, name] of path.slice(0, -1).entries()) {
    value = isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined
    if (value === undefined) return
    if (isFields(value)) continue
    const where = path.slice(0, at + 1).join('.')
    throw unclassified(`value cannot be set because .${where} is not a map[string]interface{}`)
  }
}

/**
 * Returns why an object has no Scale. If one value has the wrong type and another one is missing,
 * the wrong type is reported.
 */
function hiddenScale(object: KubeObject, paths: ScalePaths): HiddenView | undefined {
  const [fault] = scaleFaults(object, paths)
  if (fault !== undefined) return { unclassified: fault }
  if (valueAtPath(object, readPath(paths.spec)) !== undefined) return undefined
  return { internal: `the spec replicas field "${paths.spec}" does not exist` }
}

/** Returns an error message for each value that a Scale cannot represent. */
const scaleFaults = (
  object: KubeObject,
  { spec, status, selector }: ScalePaths,
): readonly string[] =>
  [
    ...accessFaults(object, spec, 'int64'),
    ...accessFaults(object, status, 'int64'),
    ...(selector === '' ? [] : accessFaults(object, selector, 'string')),
  ].map(({ message }) => message.replace(/^Invalid value: (?:0|""): /, ''))

/**
 * Validates the scale on every write: replica counts must not be negative, and the selector must be
 * a string.
 */
export function validateScale(object: KubeObject, paths: ScalePaths | undefined): FieldFault[] {
  return paths === undefined
    ? []
    : [...validateReplicas(object, paths.spec), ...validateScaleStatus(object, paths)]
}

/** Like `validateScale`, but checks only the values in the status. */
export function validateScaleStatus(
  object: KubeObject,
  paths: ScalePaths | undefined,
): FieldFault[] {
  if (paths === undefined) return []
  const selectorFaults = paths.selector === '' ? [] : accessFaults(object, paths.selector, 'string')
  return [...validateReplicas(object, paths.status), ...selectorFaults]
}

/** Maximum replica count, because `replicas` of a Scale is an int32. */
const REPLICAS_MAX = 2 ** 31 - 1

function validateReplicas(object: KubeObject, path: string): FieldFault[] {
  const faults = accessFaults(object, path, 'int64')
  const value = valueAtPath(object, readPath(path))
  if (faults.length > 0 || !isNumber(value)) return faults
  if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')]
  if (value > REPLICAS_MAX)
    return [invalidValue(path, value, `should be less than or equal to ${REPLICAS_MAX}`)]
  return []
}

/**
 * Validates the type of the value at a path. The error messages are those of Go's package
 * unstructured. An absent value is valid.
 */
function accessFaults(object: KubeObject, path: string, wanted: 'int64' | 'string'): FieldFault[] {
  let value: Json | undefined = object
  const refuse = (found: Json, expected: string, at = path): FieldFault[] => {
    const why = `${at} accessor error: ${goPlain(found)} is of the type ${goTypeOf(found)}, expected ${expected}`
    return [invalidValue(path, wanted === 'int64' ? 0 : '', why)]
  }
  const names = readPath(path)
  for (const [at, name] of names.entries()) {
    if (value === null) return []
    if (!isFields(value))
      return refuse(value, 'map[string]interface{}', `.${names.slice(0, at + 1).join('.')}`)
    value = Object.hasOwn(value, name) ? value[name] : undefined
    if (value === undefined) return []
  }
  return goTypeOf(value) === wanted ? [] : refuse(value, wanted)
}

function goTypeOf(value: Json): string {
  if (value === null) return '<nil>'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'string') return 'string'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}
