/** `keelson completion`: prints a script that completes command lines of keelson in a shell. */
import type { CommandHelp } from '../../lib/process/command-help.ts'
import { type CommandContext, USAGE_FAULT } from './command-context.ts'
import { completeBash, completeZsh } from './completion-bash.ts'
import { completeFish } from './completion-fish.ts'
import { describeCommands } from './describe-commands.ts'

const shells = { bash: completeBash, zsh: completeZsh, fish: completeFish }

const isShell = (name: string): name is keyof typeof shells => Object.hasOwn(shells, name)

export const completionHelp: CommandHelp = {
  usage: ['keelson completion bash|zsh|fish'],
  arguments: [Object.keys(shells)],
  description: `Prints a script that completes commands, flags and their values in a shell. To load
it in each new shell, add a line to its configuration:

  source <(keelson completion bash)      in ~/.bashrc
  source <(keelson completion zsh)       in ~/.zshrc, after compinit
  keelson completion fish | source       in ~/.config/fish/config.fish`,
  sections: [],
}

export async function completion(args: readonly string[], parts: CommandContext): Promise<void> {
  const [name = '', ...others] = args
  if (!isShell(name) || others.length > 0) {
    return parts.fail(USAGE_FAULT, [
      `keelson completion needs the name of a shell: ${Object.keys(shells).join(', ')}`,
    ])
  }
  parts.print(shells[name](await describeCommands(parts.commands)))
}
