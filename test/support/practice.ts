/**
 * Removes the change that a walkthrough in docs/contribute describes, so that a reader can make it:
 * `node test/support/practice.ts add-a-field`. The page contains the whole change, so nothing is
 * lost.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { undoChange } from './harness/apply-change.ts'
import { readBlocks } from './harness/markdown-commands.ts'

const root = join(import.meta.dirname, '..', '..')

const [name = ''] = process.argv.slice(2)
const page = `docs/contribute/${name}.md`
if (!existsSync(join(root, page))) {
  console.error('usage: node test/support/practice.ts add-a-field')
  process.exitCode = 1
} else removeChange(page)

function removeChange(path: string): void {
  const blocks = readBlocks(readFileSync(join(root, path), 'utf8'))
  /** The new content of each file, by its path. A file whose content is undefined is deleted. */
  const contents = new Map<string, string | undefined>()
  for (const block of blocks.toReversed()) {
    if (block.kind === 'commands') continue
    const { name: file, text } = block
    const content = contents.get(file) ?? readExisting(file)
    if (content === undefined) return report(`${file} does not exist`)
    try {
      contents.set(file, block.kind === 'file' ? undefined : undoChange(content, text))
    } catch (error) {
      return report(`${file}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  for (const [file, content] of contents) {
    if (content === undefined) rmSync(join(root, file))
    else writeFileSync(join(root, file), content)
  }
  console.log(`removed the change of ${path} from ${contents.size} files`)
}

function readExisting(file: string): string | undefined {
  const path = join(root, file)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function report(fault: string): void {
  console.error(
    `${page} does not match the files that its walkthrough changes. Nothing was changed.\n${fault}`,
  )
  process.exitCode = 1
}
