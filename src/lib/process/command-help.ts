/**
 * The description of a command. The help text, the reference page, the manual page and the
 * completions of shells are generated from it.
 */
import type { CommandFlag, CommandFlagTable } from './command-flags.ts'

export type CommandHelp = {
  /** The lines after "Usage:" in the help text, one for each form of the command. */
  readonly usage: readonly string[]
  /** The possible values of each positional argument, in order. An empty list allows any value. */
  readonly arguments?: readonly (readonly string[])[]
  /**
   * Paragraphs of the help text, separated by empty lines. An indented paragraph keeps its line
   * breaks.
   */
  readonly description: string
  readonly sections: readonly FlagSection[]
  /** Paragraphs of the help text that follow the flags. */
  readonly notes?: string
}

export type FlagSection = { readonly title?: string; readonly flags: CommandFlagTable }

/** The flag `--help`, which all commands accept. */
export const helpFlag: CommandFlagTable = { help: { type: 'boolean', help: 'Show this text.' } }

const COLUMNS_MAX = 100

export function printHelp({ usage, description, sections, notes }: CommandHelp): string {
  const [first = '', ...others] = usage
  const synopsis = [`Usage: ${first}`, ...others.map((line) => `       ${line}`)].join('\n')
  const flags = sections.map(({ title, flags: table }) =>
    [...(title === undefined ? [] : [`${title}:`]), printFlags(table)].join('\n'),
  )
  const hasTitles = sections.some(({ title }) => title !== undefined)
  const all = hasTitles
    ? [...flags, printFlags(helpFlag)].join('\n\n')
    : [...flags, printFlags(helpFlag)].join('\n')
  const after = notes === undefined ? [] : [wrapped(notes, '')]
  return `${[synopsis, wrapped(description, ''), all, ...after].join('\n\n')}\n`
}

function printFlags(flags: CommandFlagTable): string {
  return Object.entries(flags)
    .map(([name, flag]) => `  ${printFlag(name, flag)}\n${wrapped(flag.help, '        ')}`)
    .join('\n')
}

/** Returns the usage of a flag with its default, such as `-n, --namespace=name (default shop)`. */
export function printFlag(
  name: string,
  { short, type, value = 'value', shownDefault }: CommandFlag,
): string {
  const ending = type === 'string' ? `=${value}` : ''
  const byDefault = shownDefault === undefined ? '' : ` (default ${shownDefault})`
  const before = short === undefined ? '' : `-${short}, `
  return `${before}--${name}${ending}${byDefault}`
}

/** Breaks paragraphs into lines of at most COLUMNS_MAX characters. */
function wrapped(text: string, indent: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => (paragraph.startsWith(' ') ? paragraph : fold(paragraph, indent)))
    .join('\n\n')
}

function fold(paragraph: string, indent: string): string {
  const lines: string[] = []
  for (const word of paragraph.split(/[ \n]+/)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && longer.length <= COLUMNS_MAX) lines[lines.length - 1] = longer
    else lines.push(`${indent}${word}`)
  }
  return lines.join('\n')
}
