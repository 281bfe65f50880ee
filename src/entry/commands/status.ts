import { listRunning } from '../dev/running.ts'
import { describeRunning, statusHelp } from '../dev/status.ts'
import { systemClock } from '../../lib/time/clock.ts'
import { notNoted, runningIndex } from './own-files.ts'
import { asksForHelp, type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'

export async function status(args: readonly string[], parts: CommandContext): Promise<void> {
  if (asksForHelp(args)) return parts.print(statusHelp)
  const [output, ...more] = args
  const isJson = output === '--output=json' || output === '-ojson'
  if (more.length > 0 || (output !== undefined && !isJson)) {
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
