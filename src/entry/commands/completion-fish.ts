/** Generates the completions for fish. */
import type { CommandFlag } from '../../lib/process/command-flags.ts'
import { nextWords } from './completion-bash.ts'
import type { DescribedCommand } from './describe-commands.ts'

const head = `# Completions of keelson for fish: keelson completion fish | source
complete -c keelson -f

# Whether the words before the cursor begin with the arguments.
function __keelson_is
    set -l words (commandline -opc)
    set -e words[1]
    set -l count (count $argv)
    test (count $words) -ge $count; and test "$words[1..$count]" = "$argv"; and not contains -- -- $words
end

# Whether the next word is the argument at a position, which is the first parameter.
function __keelson_at
    set -l words (string match -v -- '-*' (commandline -opc))
    set -l count (math (count $argv) + $argv[1])
    __keelson_is $argv[2..-1]; and test (count $words) -eq $count
end

# Whether the words so far are exactly the arguments.
function __keelson_only
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end

complete -c keelson -n 'contains -- -- (commandline -opc)' -F -a '(__fish_complete_command)'
`

export function completeFish(commands: readonly DescribedCommand[]): string {
  const prefixes = ['', ...new Set(commands.flatMap(({ name }) => name.split(' ').slice(0, -1)))]
  const names = prefixes.flatMap((prefix) =>
    nextWords(commands, prefix).map((word) => {
      const name = prefix === '' ? word : `${prefix} ${word}`
      const summary = commands.find((one) => one.name === name)?.summary ?? ''
      return line([`-n '__keelson_only ${prefix}'`, `-a ${word}`, `-d ${quote(summary)}`])
    }),
  )
  return [head, ...names, ...commands.flatMap(linesOf)].join('')
}

function linesOf({ name, help, flags }: DescribedCommand): string[] {
  const ofFlags = [...flags].map(([flag, spec]) =>
    line([`-n '__keelson_is ${name}'`, `-l ${flag}`, ...valueOf(spec), `-d ${describe(spec)}`]),
  )
  const ofArguments = (help.arguments ?? []).map((choices, at) =>
    choices.length === 0
      ? ''
      : line([`-n '__keelson_at ${at} ${name}'`, `-a ${quote(choices.join(' '))}`]),
  )
  return [...ofFlags, ...ofArguments]
}

/**
 * Returns the options of fish for the value of a flag. `-r` means that the flag requires a value,
 * `-x` that the value is not a file, and `-F` that the value is a file.
 */
function valueOf({ type, short, value, choices, isList = false }: CommandFlag): string[] {
  const letter = short === undefined ? [] : [`-s ${short}`]
  if (type === 'boolean') return letter
  if (choices !== undefined) {
    const list = `(__fish_complete_list , "printf %s\\\\n ${choices.join(' ')}")`
    return [...letter, '-x', `-a ${quote(isList ? list : choices.join(' '))}`]
  }
  if (value === 'folder') return [...letter, '-x', `-a '(__fish_complete_directories)'`]
  return [...letter, value === 'file' ? '-r -F' : '-x']
}

/** Returns the first sentence of the help text. */
const describe = ({ help }: CommandFlag): string => quote(help.split(/(?<=\.) /, 1)[0] ?? '')

const line = (parts: readonly string[]): string => `complete -c keelson ${parts.join(' ')}\n`

/** Puts a text in quotation marks, in which fish only replaces `\\` and `\'`. */
const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
