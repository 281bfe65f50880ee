import { listRunning } from '../dev/running.ts'
import { describeRunning, statusFlags } from '../dev/status.ts'
import { readCommandFlags } from '../../lib/process/command-flags.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { notNoted, runningIndex } from './own-files.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'

export async function status(args: readonly string[], parts: CommandContext): Promise<void> {
  const { values, rest } = readCommandFlags(args, statusFlags)
  const output = values.get('output')
  const isJson = output === 'json'
  if (rest.length > 0 || (output !== undefined && !isJson)) {
    return parts.fail(USAGE_FAULT, [
      `keelson status only takes --output=json, not ${args.join(' ')}`,
    ])
  }
  const index = runningIndex(parts)
  if (index === undefined) return parts.fail(FAILURE, [notNoted])
  const running = listRunning(index)
  parts.print(
    isJson ? `${JSON.stringify(running)}\n` : describeRunning(running, systemClock.wallMs()),
  )
}
