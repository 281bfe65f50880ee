/** `keelson help COMMAND`: prints the same text as `keelson COMMAND --help`. */
import { type CommandHelp, printHelp } from '../../lib/process/command-help.ts'
import { type CommandContext, USAGE_FAULT } from './command-context.ts'
import { findCommand, printCommands, unknownCommand } from './find-command.ts'

export const helpHelp: CommandHelp = {
  usage: ['keelson help [COMMAND]'],
  description: 'Shows the help text of a command. Without a command, lists all commands.',
  sections: [],
}

export async function help(args: readonly string[], parts: CommandContext): Promise<void> {
  const { commands } = parts
  if (args.length === 0) return parts.print(printCommands(commands))
  const found = findCommand(commands, args)
  if (found === undefined) return parts.fail(USAGE_FAULT, unknownCommand(commands, args))
  parts.print(printHelp(await found.command.help()))
}
