/**
 * Validation for the --allow-privileged flag, which specifies whether Pods can have privileged
 * containers.
 */
import { type FieldFault, forbiddenField } from '../api/field-fault.ts'
import { fieldsOf, type KubeObject } from '../api/object.ts'
import { containersOf } from './kinds/core/pod/windows.ts'
import { podSpecOf } from './pod-specs.ts'

/** Returns an error for each privileged container. Used if the server does not allow them. */
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
