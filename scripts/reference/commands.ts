/** docs/reference/commands.md: what each command's --help prints. */
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
    fence(usage),
    // Its flags have a page of their own.
    ...names
      .filter((name) => name !== 'serve')
      .map((name) => `## keelson ${name}\n\n${fence(help(name.split(' ')))}`),
    '## keelson serve\n\nIts flags: [flags.md](flags.md).',
  )
}

const help = (command: readonly string[]): string =>
  execFileSync(process.execPath, [main, ...command, '--help'], { encoding: 'utf8' })

const fence = (text: string): string => `\`\`\`text\n${text.trimEnd()}\n\`\`\``
