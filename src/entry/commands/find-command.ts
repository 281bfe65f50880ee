/** Finds the command that a user typed, and lists the commands. */
import { didYouMean } from '../../lib/text/suggest.ts'
import type { CommandEntry } from './command-context.ts'

/** Returns the command whose name the arguments begin with, and the remaining arguments. */
export function findCommand(
  commands: readonly CommandEntry[],
  words: readonly string[],
): { readonly command: CommandEntry; readonly args: readonly string[] } | undefined {
  for (const command of commands) {
    const length = command.name.split(' ').length
    if (words.slice(0, length).join(' ') === command.name)
      return { command, args: words.slice(length) }
  }
  return undefined
}

/** Returns the lines of the error for arguments that do not begin with the name of a command. */
export function unknownCommand(
  commands: readonly CommandEntry[],
  [word = '', next = '']: readonly string[],
): readonly string[] {
  if (word.startsWith('-')) return unknownFlag(word)
  const names = commands.map(({ name }) => name)
  const ofGroup = names.filter((name) => name.startsWith(`${word} `))
  if (ofGroup.length > 0) {
    const shown = ofGroup.map((name) => `keelson ${name}`).join(', ')
    return [`keelson ${word} needs one of its commands: ${shown}`]
  }
  const ofTwoWords = names.filter((name) => name.includes(' '))
  const meant =
    didYouMean(`${word} ${next}`, ofTwoWords, toCommandLine) ??
    didYouMean(word, names, toCommandLine)
  return [
    `unknown command ${JSON.stringify(word)}: keelson --help lists the commands`,
    ...(meant === undefined ? [] : [meant]),
  ]
}

/** Returns the lines of the error for a flag before the name of a command. */
function unknownFlag(flag: string): readonly string[] {
  const meant = didYouMean(flag, ['--help', '--version'])
  return [
    `unknown flag ${JSON.stringify(flag)}: the flags of a command follow its name; keelson --help lists the commands`,
    ...(meant === undefined ? [] : [meant]),
  ]
}

const toCommandLine = (name: string): string => `keelson ${name}`

/** Returns the output of `keelson --help`. */
export function printCommands(commands: readonly CommandEntry[]): string {
  const shown = commands.filter(({ isHidden = false }) => !isHidden)
  const width = Math.max(...shown.map(({ name }) => name.length))
  const lines = shown.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`)
  return `Usage: keelson <command> [flags]

Commands:
${lines.join('')}
keelson help COMMAND and keelson COMMAND --help describe a command and its flags.

  --version  Show the version.
  --help     Show this text.
`
}
