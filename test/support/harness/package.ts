/**
 * The package as a stranger would have it: built files, no sources. As a program: builds it below
 * the folder that is named.
 */
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildPackage } from '../../../scripts/build.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/**
 * Below the folder. Returns the path of its program. What was built already (KEELSON_PROGRAM) is
 * copied.
 */
export async function installPackage(dir: string): Promise<string> {
  const folder = join(dir, 'keelson')
  mkdirSync(folder, { recursive: true })
  const built = process.env['KEELSON_PROGRAM']
  const dist = built && join(built, '..', '..', 'dist')
  if (dist && existsSync(dist)) cpSync(dist, join(folder, 'dist'), { recursive: true })
  else await buildPackage(join(folder, 'dist'))
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  return join(folder, 'bin', 'keelson')
}

if (import.meta.main)
  console.log(await installPackage(process.argv[2] ?? join(root, '.cache', 'built')))
