/** The package as a stranger would have it: built files, no sources. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildPackage } from '../../scripts/build.ts'

const root = join(import.meta.dirname, '..', '..')

/** Below the folder. Returns the path of its program. */
export async function installPackage(dir: string): Promise<string> {
  const folder = join(dir, 'keelson')
  mkdirSync(folder)
  await buildPackage(join(folder, 'dist'))
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  return join(folder, 'bin', 'keelson')
}
