/**
 * Validates a volume projection of certificates. They come either from all bundles of a signer or
 * from one ClusterTrustBundle (gate ClusterTrustBundleProjection).
 */
import {
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../../api/field-fault.ts'
import { goPointer, goStruct } from '../../../../api/go-value.ts'
import { checkDnsSubdomain } from '../../../../api/names.ts'
import { type Fields, isFields, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { addAll } from '../../../../lib/scheduling/long-lists.ts'
import { validateLabelSelector } from '../../../rules/label-selector.ts'
import { visiblePath } from '../../../rules/scalars.ts'
import { validateSigner } from '../../../rules/signer.ts'
import type { PodCheck } from './check.ts'

export function trustBundle(source: Fields, path: string, check: PodCheck): void {
  addAll(check.faults, validateChoice(source, path))
  const file = textOf(source['path'])
  if (file === '') check.faults.push(required(`${path}.path`))
  visiblePath(file, `${path}.path`, check)
}

function validateChoice(source: Fields, path: string): FieldFault[] {
  const { name, signerName, labelSelector } = source
  if (name !== undefined && signerName !== undefined) {
    const why = 'only one of name and signerName may be used'
    const value = { type: 'core.ClusterTrustBundleProjection', json: source }
    return [invalidShown(path, goProjection(source), why, value)]
  }
  if (name !== undefined) return validateName(textOf(name), labelSelector !== undefined, path)
  if (signerName === undefined)
    return [required(path, 'either name or signerName must be specified')]
  const signer = textOf(signerName)
  return [
    ...(signer === '' ? [required(`${path}.signerName`, 'must be a valid signer name')] : []),
    ...validateSigner(signer, `${path}.signerName`),
    ...(isFields(labelSelector)
      ? validateLabelSelector(labelSelector, `${path}.labelSelector`)
      : []),
  ]
}

/**
 * Validates the name of a bundle. If the bundle has a signer, its name begins with the signer:
 * `example.com:signer:name`.
 */
function validateName(name: string, isSelected: boolean, path: string): FieldFault[] {
  const own = name.slice(name.lastIndexOf(':') + 1)
  return [
    ...(name === '' ? [required(`${path}.name`, 'must be a valid object name')] : []),
    ...checkDnsSubdomain(own).map((why) =>
      invalidValue(`${path}.name`, name, `not a valid clustertrustbundlename: ${why}`),
    ),
    ...(isSelected
      ? [
          invalidShown(
            `${path}.labelSelector`,
            '{}',
            'labelSelector must be unset if name is specified',
          ),
        ]
      : []),
  ]
}

const goProjection = ({ name, signerName, labelSelector, optional, path }: Fields): string =>
  goStruct('core.ClusterTrustBundleProjection', {
    Name: goPointer('string', name !== undefined),
    SignerName: goPointer('string', signerName !== undefined),
    LabelSelector: goPointer('v1.LabelSelector', labelSelector !== undefined),
    Optional: goPointer('bool', optional !== undefined),
    Path: quote(textOf(path)),
  })
