import { systemClock } from '../../lib/time/clock.ts'
import { messageOf } from '../../lib/errors.ts'
import { moveStore, StoreUsageError } from './move-store.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'

export async function store(args: readonly string[], parts: CommandContext): Promise<void> {
  const progress = parts.startProgress()
  try {
    const text = await moveStore(args, { nowMs: systemClock.wallMs(), showProgress: progress.show })
    progress.end()
    parts.print(text)
  } catch (error) {
    progress.end()
    parts.fail(error instanceof StoreUsageError ? USAGE_FAULT : FAILURE, [messageOf(error)])
  }
}
