/** --allow-privileged: whether pods may have privileged containers. */
import { type FieldFault, forbiddenField } from '../api/field-fault.ts'
import { fieldsOf, type KubeObject } from '../api/object.ts'
import { containersOf } from './kinds/core/pod/windows.ts'
import { podSpecOf } from './pod-specs.ts'

/** The faults of an object of the kind if privileged containers are not allowed. */
export function validateUnprivileged(object: KubeObject, kind: string): FieldFault[] {
  const found = podSpecOf(object, kind)
  if (found === undefined) return []
  return containersOf(found.spec).flatMap(({ container, at }) =>
    fieldsOf(container['securityContext'])['privileged'] === true
      ? [
          forbiddenField(
            `${found.path}.${at}.securityContext.privileged`,
            'disallowed by cluster policy',
          ),
        ]
      : [],
  )
}
