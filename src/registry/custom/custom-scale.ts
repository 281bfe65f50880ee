/** The scale of a custom kind: the definition says where the numbers are. */
import { internalError } from '../../api/errors.ts'
import { type FieldFault, invalidValue } from '../../api/field-fault.ts'
import { fieldsOf, type KubeObject, numberOf, textOf } from '../../api/object.ts'
import type { View } from '../resource.ts'
import { metadataOf, scaleView, withVersionOf } from '../scale.ts'
import type { ScalePaths } from './definition.ts'
import { readPath, valueAtPath, withValueAt } from './simple-path.ts'

/** Of one that shows no number of replicas where it should, nothing can be shown. */
export function customScaleView(paths: ScalePaths): View {
  const [spec, status] = [readPath(paths.spec), readPath(paths.status)]
  const selector = paths.selector === '' ? undefined : readPath(paths.selector)
  return {
    ...scaleView(),
    get shape() {
      return scaleView().shape
    },
    ownedPath: spec.join('.'),
    show: (object) => {
      const replicas = valueAtPath(object, spec)
      if (replicas === undefined) throw internalError(`the spec replicas field "${paths.spec}" does not exist`)
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: metadataOf(object),
        spec: { replicas },
        status: {
          replicas: numberOf(valueAtPath(object, status)),
          ...(selector === undefined ? {} : { selector: textOf(valueAtPath(object, selector)) }),
        },
      }
    },
    change: (object, scale) => ({
      ...withReplicas(object, spec, scale),
      metadata: withVersionOf(object.metadata, scale.metadata),
    }),
    validate: () => [],
  }
}

function withReplicas(object: KubeObject, path: readonly string[], scale: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object
  const changed = withValueAt(object, path, numberOf(fieldsOf(scale['spec'])['replicas']))
  return { ...changed, apiVersion, kind, metadata }
}

/** Whoever writes them, there are no negative numbers of replicas. */
export function validateScale(object: KubeObject, paths: ScalePaths | undefined): FieldFault[] {
  if (paths === undefined) return []
  return [paths.spec, paths.status].flatMap((path) => {
    const value = valueAtPath(object, readPath(path))
    if (typeof value !== 'number' || value >= 0) return []
    return [invalidValue(path, value, 'should be a non-negative integer')]
  })
}
