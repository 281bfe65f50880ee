/** The token-cleaner-controller: deletes bootstrap tokens that have expired. */
import { fieldsOf, type Fields, textOf } from '../api/object.ts'
import { contentOf } from '../storage/cache/informer.ts'
import { ObjectController, type ObjectControllerOptions } from './object-controller.ts'

export const cleanTokens = (
  wallMs: () => number,
  options: ObjectControllerOptions,
): AsyncDisposable =>
  new ObjectController(
    {
      name: 'the deletion of a bootstrap token',
      queue: 'token_cleaner',
      workersMax: 1,
      group: '',
      plural: 'secrets',
      namespace: 'kube-system',
      concerns: (item) => expiryOf(contentOf(item)) !== undefined,
      work: async (secret, write) => {
        const expiryMs = expiryOf(secret)
        if (expiryMs === undefined) return undefined
        const leftMs = expiryMs - wallMs()
        if (leftMs > 0) return leftMs
        await write.delete(secret)
        return undefined
      },
    },
    options,
  )

/**
 * Undefined: it is no bootstrap token, or one that does not expire. One whose time cannot be parsed
 * has expired.
 */
export function expiryOf({ type, data }: Fields): number | undefined {
  if (type !== 'bootstrap.kubernetes.io/token') return undefined
  const text = Buffer.from(textOf(fieldsOf(data)['expiration']), 'base64').toString()
  if (text === '') return undefined
  const ms = rfc3339.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? 0 : ms
}

/** As Go has it: with capital letters alone. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
