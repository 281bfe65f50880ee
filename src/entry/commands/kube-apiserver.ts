/** The command that the `kube-apiserver` script of `keelson assets` runs. */
import { exitWithParent, parentVariable } from '../envtest/parent.ts'
import { replaceStandIn } from '../envtest/stand-in.ts'
import { collectWhenIdle } from '../../lib/process/collect-when-idle.ts'
import type { CommandContext } from './command-context.ts'
import { serve } from './serve.ts'

export async function kubeApiServer(args: readonly string[], parts: CommandContext): Promise<void> {
  const given = parts.env[parentVariable]
  // If the parent process ends, stop the server by sending SIGTERM to this process.
  exitWithParent({ given, onGone: () => process.kill(process.pid, 'SIGTERM') })
  await serve(await replaceStandIn(args), parts)
  collectWhenIdle()
}
