/** Whether containers may do all that the node may is for whoever runs the cluster to say: --allow-privileged. */
import { type FieldFault, forbiddenField } from '../api/field-fault.ts'
import { fieldsOf, type KubeObject } from '../api/object.ts'
import { containersOf } from './kinds/core/pod/windows.ts'
import { podSpecOf } from './pod-specs.ts'

/** What is wrong with an object of the kind where privileged containers are not allowed. */
export function validateUnprivileged(object: KubeObject, kind: string): FieldFault[] {
  const found = podSpecOf(object, kind)
  if (found === undefined) return []
  return containersOf(found.spec).flatMap(({ container, at }) =>
    fieldsOf(container['securityContext'])['privileged'] === true
      ? [forbiddenField(`${found.path}.${at}.securityContext.privileged`, 'disallowed by cluster policy')]
      : [],
  )
}
