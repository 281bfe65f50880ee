/** Generates docs/reference/commands.md, which contains the --help output of each command. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type Page, page } from './markdown.ts'

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

export function commandsPage(): Page {
  const usage = help([])
  const names = [...usage.matchAll(/^ {2}([a-z]+(?: [a-z]+)*) {2,}\S/gm)].map(
    ([, name = '']) => name,
  )
  return page(
    'commands.md',
    'Commands',
    'The help text of each command.',
    fence(usage),
    // The flags of `keelson serve` have their own page.
    ...names
      .filter((name) => name !== 'serve')
      .map((name) => `## keelson ${name}\n\n${fence(help(name.split(' ')))}`),
    '## keelson serve\n\nSee [flags](flags.md).',
  )
}

const help = (command: readonly string[]): string =>
  execFileSync(process.execPath, [main, ...command, '--help'], { encoding: 'utf8' })

const fence = (text: string): string => `\`\`\`text\n${text.trimEnd()}\n\`\`\``
