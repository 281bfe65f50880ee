import { messageOf } from '../../lib/errors.ts'
import { UsageError } from '../dev/dev-flags.ts'
import { stopRunning } from '../dev/stop.ts'
import { notNoted, runningIndex } from './own-files.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'

export async function stop(args: readonly string[], parts: CommandContext): Promise<void> {
  const index = runningIndex(parts)
  if (index === undefined) return parts.fail(FAILURE, [notNoted])
  try {
    for (const line of await stopRunning(args, index)) parts.print(`${line}\n`)
  } catch (error) {
    if (error instanceof UsageError) parts.fail(USAGE_FAULT, error.faults)
    else parts.fail(FAILURE, [messageOf(error)])
  }
}
