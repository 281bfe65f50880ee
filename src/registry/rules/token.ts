/** Rules for the requested lifetime of a service account token. */
import { type FieldFault, invalidValue } from '../../api/field-fault.ts'
import { isNumber, type Json } from '../../api/object.ts'

const SECONDS_MIN = 10 * 60
const SECONDS_MAX = 2 ** 32

export function validateTokenLifetime(path: string, seconds: Json | undefined): FieldFault[] {
  if (!isNumber(seconds)) return []
  if (seconds < SECONDS_MIN)
    return [invalidValue(path, seconds, 'may not specify a duration less than 10 minutes')]
  if (seconds > SECONDS_MAX)
    return [invalidValue(path, seconds, 'may not specify a duration larger than 2^32 seconds')]
  return []
}
