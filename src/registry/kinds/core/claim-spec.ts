/** What a claim asks of a volume: in a PersistentVolumeClaim, and where one is made from a template. */
import { forbiddenField, invalidValue, required } from '../../../api/field-fault.ts'
import { checkDnsSubdomain } from '../../../api/names.ts'
import { fieldsOf, textOf, textsOf } from '../../../api/object.ts'
import { nanosOf } from '../../../api/quantity.ts'
import { labelSelector } from '../../rules/label-selector.ts'
import { given, type Rule, unlessEmpty } from '../../rules/rule.ts'
import { named, oneOf } from '../../rules/scalars.ts'

const accessMode: Rule = oneOf('ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod')

/** Also of persistent volumes. */
export const accessModes: Rule = (value, path, check) => {
  const modes = textsOf(value)
  if (modes.length === 0) check.faults.push(required(path, 'at least 1 access mode is required'))
  for (const mode of modes) accessMode(mode, path, check)
  if (modes.includes('ReadWriteOncePod') && modes.length > 1) {
    const why = 'may not use ReadWriteOncePod with other access modes'
    check.faults.push(forbiddenField(path, why))
  }
}

export const volumeMode: Rule = given(oneOf('Block', 'Filesystem'))

export const claimSpec: Rule = (value, path, check) => {
  const spec = fieldsOf(value)
  accessModes(spec['accessModes'], `${path}.accessModes`, check)
  labelSelector(spec['selector'], `${path}.selector`, check)
  const storage = fieldsOf(fieldsOf(spec['resources'])['requests'])['storage']
  const at = `${path}.resources[storage]`
  if (storage === undefined) check.faults.push(required(at))
  else if (nanosOf(textOf(storage)) <= 0n) {
    const nanos = nanosOf(textOf(storage))
    const why = nanos < 0n ? 'must be greater than or equal to 0' : 'must be greater than zero'
    check.faults.push(invalidValue(at, textOf(storage), why))
  }
  unlessEmpty(named(checkDnsSubdomain))(spec['storageClassName'], `${path}.storageClassName`, check)
  volumeMode(spec['volumeMode'], `${path}.volumeMode`, check)
}
