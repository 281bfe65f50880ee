/**
 * Describes all commands with their flags and arguments. Completions and manual pages are generated
 * from these descriptions, so they contain the same names as the help texts.
 */
import type { CommandFlag } from '../../lib/process/command-flags.ts'
import { type CommandHelp, helpFlag } from '../../lib/process/command-help.ts'
import type { CommandEntry } from './command-context.ts'

export type DescribedCommand = {
  readonly name: string
  readonly summary: string
  readonly help: CommandHelp
  /** All flags that the command accepts, by name. */
  readonly flags: ReadonlyMap<string, CommandFlag>
}

/** Describes the commands that are in the list of commands. */
export async function describeCommands(
  commands: readonly CommandEntry[],
): Promise<readonly DescribedCommand[]> {
  const shown = commands.filter(({ isHidden = false }) => !isHidden)
  return Promise.all(
    shown.map(async ({ name, summary, alsoTakesFlagsOf, help }) => {
      const other = commands.find((one) => one.name === alsoTakesFlagsOf)
      const own = await help()
      const inherited = other === undefined ? [] : flagsOf(await other.help())
      return {
        name,
        summary,
        help: name === 'help' ? { ...own, arguments: wordsOf(shown) } : own,
        // A command can also accept the flags of another command. Its own flags take precedence.
        flags: new Map([...inherited, ...flagsOf(own), ...Object.entries(helpFlag)]),
      }
    }),
  )
}

/**
 * Returns a list with the first words of all commands, a list with their second words, and so on.
 */
function wordsOf(commands: readonly CommandEntry[]): string[][] {
  const names = commands.map(({ name }) => name.split(' '))
  const length = Math.max(...names.map((words) => words.length))
  return Array.from({ length }, (_, at) => [...new Set(names.flatMap((words) => words[at] ?? []))])
}

const flagsOf = ({ sections }: CommandHelp): [string, CommandFlag][] =>
  sections.flatMap(({ flags }) => Object.entries(flags))
