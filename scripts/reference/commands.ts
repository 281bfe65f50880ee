/** Generates docs/reference/commands.md, which contains the help text of each command. */
import { commandTable } from '../../src/entry/commands/command-table.ts'
import { printCommands } from '../../src/entry/commands/find-command.ts'
import { printHelp } from '../../src/lib/process/command-help.ts'
import { type Page, page } from './markdown.ts'

export async function commandsPage(): Promise<Page> {
  // The flags of `keelson serve` have their own page.
  const described = commandTable.filter(
    ({ name, isHidden = false }) => !isHidden && name !== 'serve',
  )
  const texts = await Promise.all(
    described.map(
      async ({ name, help }) => `## keelson ${name}\n\n${fence(printHelp(await help()))}`,
    ),
  )
  return page(
    'commands.md',
    'Commands',
    'The help text of each command.',
    fence(printCommands(commandTable)),
    ...texts,
    '## keelson serve\n\nSee [flags](flags.md).',
  )
}

const fence = (text: string): string => `\`\`\`text\n${text.trimEnd()}\n\`\`\``
