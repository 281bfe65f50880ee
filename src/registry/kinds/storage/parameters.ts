/** Rules for the parameters of a StorageClass or VolumeAttributesClass. */
import { type FieldFault, invalidValue, required, tooLong } from '../../../api/field-fault.ts'
import { checkQualifiedName } from '../../../api/names.ts'
import { fieldsOf, type Json, textOf } from '../../../api/object.ts'

/** Maximum total size of the keys and values of the parameters. */
const PARAMETERS_BYTES_MAX = 256 * 1024
const PARAMETERS_MAX = 512

export function validateProvisioner(provisioner: string, path: string): FieldFault[] {
  if (provisioner === '') return [required(path)]
  const name = provisioner.toLowerCase()
  return checkQualifiedName(name).map((why) => invalidValue(path, name, why))
}

export function validateParameters(parameters: Json | undefined): FieldFault[] {
  const path = 'parameters'
  const fields = fieldsOf(parameters)
  if (Object.keys(fields).length > PARAMETERS_MAX) return [tooLong(path, PARAMETERS_MAX)]
  const entries = Object.entries(fields)
  const faults = entries.some(([key]) => key === '')
    ? [invalidValue(path, '', 'field can not be empty.')]
    : []
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(textOf(value)),
    0,
  )
  return bytes > PARAMETERS_BYTES_MAX ? [...faults, tooLong(path, PARAMETERS_BYTES_MAX)] : faults
}
