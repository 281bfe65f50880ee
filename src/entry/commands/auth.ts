import { messageOf } from '../../lib/errors.ts'
import { authWhy, WhyUsageError } from './auth-why.ts'
import { defaultKubeconfig } from './own-files.ts'
import { type CommandContext, FAILURE, USAGE_FAULT } from './command-context.ts'

/**
 * Exit code if the user is not allowed to do something. `kubectl auth can-i` uses the same code.
 */
const DENIED = 1

export async function auth(args: readonly string[], parts: CommandContext): Promise<void> {
  try {
    const explanation = await authWhy(args, { defaultKubeconfig: defaultKubeconfig(parts.env) })
    for (const warning of explanation.warnings) parts.report(`Warning: ${warning}\n`)
    parts.print(explanation.text)
    if (!explanation.isAllowed) parts.exit(DENIED)
  } catch (error) {
    parts.fail(error instanceof WhyUsageError ? USAGE_FAULT : FAILURE, [messageOf(error)])
  }
}
