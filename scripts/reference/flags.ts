/**
 * Generates docs/reference/flags.md: the flags of `keelson serve`, and the status of each
 * flag of kube-apiserver.
 */
import type { Flag } from '../../src/config/flag.ts'
import { becomesOf, flagsOf, ownFlagNames } from '../../src/config/flags.ts'
import { code, type Page, page, table } from './markdown.ts'

export function flagsPage(): Page {
  const sections = Map.groupBy(flagsOf(), ([, { section }]) => section)
  return page(
    'flags.md',
    'Flags',
    `The flags of \`keelson serve\`. They have the names and, with a few
[exceptions](../differences.md), the defaults of kube-apiserver. \`keelson dev\` also accepts them,
and has some flags of its own: see [commands](commands.md).

The value of a flag of type \`file\` or \`folder\` is a path, \`list\` is a comma-separated
list, \`map\` is a comma-separated list of \`name=value\` pairs, and \`duration\` is a value
such as \`1h30m\` or \`500ms\`.`,
    ...[...sections].map(([section, entries]) => `## ${section}\n\n${flagTable(entries)}`),
    '## Every flag of kube-apiserver',
    `Each flag of kube-apiserver is supported, has no effect, or accepts only its default. With another
value for a flag of the last group, the server does not start.`,
    table(['Flag', 'Status'], upstreamRows()),
  )
}

const flagTable = (entries: readonly (readonly [string, Flag])[]): string =>
  table(
    ['Flag', 'Type', 'Default', 'Description'],
    entries.map(([name, flag]) => [
      code(`--${name}`),
      flag.type,
      flag.default === undefined || flag.default === '' ? '' : code(flag.default),
      `${flag.help}${becomesOf(flag)}`,
    ]),
  )

function upstreamRows(): string[][] {
  const known = flagsOf()
    .filter(([name]) => !ownFlagNames.has(name))
    .map(([name, { unused, refused }]) => {
      if (refused !== undefined) return [name, `only the default is accepted: ${refused}`] as const
      return [name, unused === undefined ? 'supported' : `no effect: ${unused}`] as const
    })
  const printed = ['help', 'version'].map((name) => [name, 'supported'] as const)
  return [...known, ...printed]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, becomes]) => [code(`--${name}`), becomes])
}
