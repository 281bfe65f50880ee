/**
 * Builds the package as users install it, with built files and without sources. When run as a
 * program, it builds the package in the given folder.
 */
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildPackage } from '../../../scripts/build.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/**
 * Installs the package in the folder and returns the path of its program. Copies an existing build
 * if KEELSON_PROGRAM names one.
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
