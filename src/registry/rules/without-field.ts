import { fieldsOf, type KubeObject } from '../../api/object.ts'

/** The object without one field of a part of it: fields whose gate is off are taken for absent. */
export function withoutField(object: KubeObject, part: string, field: string): KubeObject {
  const fields = fieldsOf(object[part])
  if (fields[field] === undefined) return object
  const { [field]: _, ...rest } = fields
  return { ...object, [part]: rest }
}
