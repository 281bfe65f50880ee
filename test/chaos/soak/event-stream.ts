/**
 * Follows the events of a resource in the order of their revisions, without gaps. When a watch
 * ends, it is resumed from the last resourceVersion that was received.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fields, fieldsOf, textOf } from '../../../src/api/object.ts'
import type { SoakClient } from './client.ts'

const RETRY_MS = 100

export type StreamedEvent = { readonly type: string; readonly object: Fields }

/**
 * Follows events until the signal is aborted. Rejects if the watch cannot be resumed. Starts with
 * an event for each existing object.
 */
export async function followEvents(
  client: SoakClient,
  path: string,
  {
    signal,
    onEvent,
  }: { readonly signal: AbortSignal; readonly onEvent: (event: StreamedEvent) => void },
): Promise<void> {
  let seen = ''
  while (!signal.aborted) {
    try {
      const from = seen === '' ? '' : `&resourceVersion=${seen}`
      for await (const event of client.lines(`${path}?watch=true${from}`)) {
        const { type, object } = fieldsOf(event)
        const fields = fieldsOf(object)
        if (type === 'ERROR')
          throw new ExpiredPosition(`${path} from ${seen}: ${JSON.stringify(object)}`)
        seen = textOf(fieldsOf(fields['metadata'])['resourceVersion'])
        onEvent({ type: textOf(type), object: fields })
        if (signal.aborted) return
      }
    } catch (error) {
      if (error instanceof ExpiredPosition) throw error
    }
    await sleep(RETRY_MS)
  }
}

class ExpiredPosition extends Error {}
