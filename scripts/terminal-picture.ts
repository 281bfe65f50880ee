/**
 * Draws docs/pictures/dev.svg: runs `npx keelson dev` and kubectl on a real terminal, with the
 * package as users install it, and draws the text. Needs Python and kubectl.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPackage } from '../test/support/harness/package.ts'
import { drawTerminal } from './terminal-picture/draw.ts'
import { runSession } from './terminal-picture/session.ts'

export const picture = join(import.meta.dirname, '..', 'docs', 'pictures', 'dev.svg')

/**
 * Runs the commands with the installed Keelson at `program`, and returns the picture. `folder` must
 * be empty.
 */
export async function drawSession(folder: string, program: string): Promise<string> {
  const commands = await runSession({ folder, program })
  return drawTerminal(
    commands,
    'A terminal in which npx keelson dev has started a server, and another one in which kubectl uses it.',
  )
}

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-picture-'))
  try {
    const program = await installPackage(dir)
    const folder = join(dir, 'shop')
    mkdirSync(folder)
    writeFileSync(picture, await drawSession(folder, program))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

if (import.meta.main) await main()
