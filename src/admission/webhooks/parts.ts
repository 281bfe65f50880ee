import type { ConvertByWebhook } from '../match/versions.ts'
import type { Objects } from '../objects.ts'

/** What both types of webhooks need. */
export type HookParts = {
  readonly objects: Pick<Objects, 'get'>
  readonly convertByWebhook: ConvertByWebhook
  /** A new unique id. */
  readonly newId: () => string
}
