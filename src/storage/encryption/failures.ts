/** Creates the error for a value that several keys or providers have tried to decrypt. */
import { aggregate } from '../../api/aggregate.ts'
import { messageOf } from '../../lib/errors.ts'
import { isCode, StorageError } from '../errors.ts'

/**
 * Combines errors into one. Returns undefined if there are no errors. Returns a single error
 * unchanged.
 */
export function unreadableBy(errors: readonly unknown[]): unknown {
  if (errors.length <= 1) return errors[0]
  const messages = [...new Set(errors.map(messageOf))]
  // If one of the providers might decrypt the value later ('sealed'), do not report the value as
  // corrupt.
  const code = errors.some((error) => isCode(error, 'sealed')) ? 'sealed' : 'corrupt'
  return new StorageError(code, aggregate(messages), { cause: errors[0] })
}
