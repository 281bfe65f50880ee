/** The error when several keys or providers could have read a value and none did. */
import { aggregate } from '../../api/aggregate.ts'
import { messageOf } from '../../lib/errors.ts'
import { isCode, StorageError } from '../errors.ts'

/** Combines errors into one. Returns undefined if nothing failed; a single error stays as it is. */
export function unreadableBy(errors: readonly unknown[]): unknown {
  if (errors.length <= 1) return errors[0]
  const messages = [...new Set(errors.map(messageOf))]
  // As long as one of them may still succeed, the value is not lost.
  const code = errors.some((error) => isCode(error, 'sealed')) ? 'sealed' : 'corrupt'
  return new StorageError(code, aggregate(messages), { cause: errors[0] })
}
