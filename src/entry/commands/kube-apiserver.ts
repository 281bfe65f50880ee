/** The command that the `kube-apiserver` script of `keelson assets` runs. */
import { exitWithParent, parentVariable } from '../envtest/parent.ts'
import { replaceStandIn } from '../envtest/stand-in.ts'
import { collectWhenIdle } from '../../lib/process/collect-when-idle.ts'
import type { CommandContext } from './command-context.ts'
import { serve } from './serve.ts'

export async function kubeApiServer(args: readonly string[], parts: CommandContext): Promise<void> {
  const given = parts.env[parentVariable]
  // When the parent process ends, this process sends SIGTERM to itself, which stops the server.
  exitWithParent({ given, onGone: () => process.kill(process.pid, 'SIGTERM') })
  await serve(await replaceStandIn(args), parts)
  collectWhenIdle()
}
