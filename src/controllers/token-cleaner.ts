/** The token-cleaner-controller, which deletes expired bootstrap tokens. */
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
        await write.delete()
        return undefined
      },
    },
    options,
  )

/**
 * Returns the time at which a bootstrap token expires. Returns undefined if the Secret is not a
 * bootstrap token or has no expiration. Returns 0 if the expiration cannot be parsed, so that the
 * token counts as expired.
 */
export function expiryOf({ type, data }: Fields): number | undefined {
  if (type !== 'bootstrap.kubernetes.io/token') return undefined
  const text = Buffer.from(textOf(fieldsOf(data)['expiration']), 'base64').toString()
  if (text === '') return undefined
  const ms = rfc3339.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? 0 : ms
}

/** Matches RFC 3339 as Go parses it: only with capital letters. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
