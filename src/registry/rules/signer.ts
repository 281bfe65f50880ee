/** Rules for signer names of certificates. */
import {
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
  tooLong,
} from '../../api/field-fault.ts'
import { checkDnsLabel, checkDnsSubdomain } from '../../api/names.ts'
import { quote } from '../../api/quote.ts'

const SIGNER_NAME_BYTES_MAX = 571
/**
 * Maximum number of path segments that are validated. A name with more segments is too long anyway,
 * and each error contains the whole name.
 */
const PARTS_MAX = SIGNER_NAME_BYTES_MAX

/**
 * Validates a signer name, which consists of a domain and a path, as in `example.com/signer-name`.
 */
export function validateSigner(signer: string, path: string): FieldFault[] {
  if (signer === '') return [required(path)]
  const [domain = '', name = '', ...more] = signer.split('/')
  if (more.length > 0 || !signer.includes('/')) {
    const form = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    return [invalidValue(path, signer, form)]
  }
  const checkParts = (text: string, check: (part: string) => string[]): FieldFault[] => {
    const shown = quote(text)
    return text
      .split('.', PARTS_MAX)
      .flatMap((part) =>
        check(part).map((why) => invalidShown(path, shown, `validating label "${part}": ${why}`)),
      )
  }
  const isPlain = !domain.includes('.')
  return [
    ...(Buffer.byteLength(signer) > SIGNER_NAME_BYTES_MAX
      ? [tooLong(path, SIGNER_NAME_BYTES_MAX)]
      : []),
    ...checkParts(domain, checkDnsLabel),
    ...(isPlain
      ? [
          invalidValue(
            path,
            domain,
            'should be a domain with at least two segments separated by dots',
          ),
        ]
      : []),
    ...checkParts(name, checkDnsSubdomain),
  ]
}
