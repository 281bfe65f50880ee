/**
 * Packs the package with `npm pack` as a publisher does, and installs it with `npm install` as a
 * user does, in separate folders and without a network.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..', '..', '..')
const run = promisify(execFile)
/** Maximum time for an npm command. Even on a busy machine, npm takes far less. */
const NPM_MS_MAX = 300_000

export type PackedPackage = {
  readonly tarball: string
  readonly bytes: number
  /** Paths of the files in the package. */
  readonly files: readonly string[]
}

/**
 * Creates a folder that contains only Node, npm, and the shell that npm needs. Returns its path,
 * for use as the PATH.
 */
export function pathWithNodeAlone(dir: string): string {
  const bin = join(dir, 'bin')
  mkdirSync(bin)
  symlinkSync(process.execPath, join(bin, 'node'))
  symlinkSync('/bin/sh', join(bin, 'sh'))
  for (const name of ['npm', 'npx']) symlinkSync(findProgram(name), join(bin, name))
  return bin
}

/**
 * Returns environment variables for npm. With them, npm does not use the network or the user's own
 * files.
 */
export const npmEnvironment = (dir: string, path: string): NodeJS.ProcessEnv => ({
  PATH: path,
  HOME: join(dir, 'home'),
  npm_config_cache: join(dir, 'npm-cache'),
  npm_config_offline: 'true',
  npm_config_update_notifier: 'false',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
})

/**
 * Packs the package from a copy of the checkout, so that build output is not written to the
 * checkout.
 */
export async function packPackage(dir: string, env: NodeJS.ProcessEnv): Promise<PackedPackage> {
  const copy = join(dir, 'checkout')
  for (const name of [
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'tsconfig.json',
    'bin',
    'clients',
    'scripts',
    'src',
    'test/support/imports.ts',
  ])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', dir], {
    cwd: copy,
    env,
    timeout: NPM_MS_MAX,
  })
  const [reported] = readPacked(JSON.parse(stdout.slice(stdout.indexOf('['))))
  if (reported === undefined) throw new Error(`npm pack reported no package: ${stdout}`)
  return { ...reported, tarball: join(dir, reported.tarball) }
}

/** Installs the package in an empty folder below `dir` and returns the path of the folder. */
export async function installPacked(
  tarball: string,
  dir: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const folder = join(dir, 'stranger')
  mkdirSync(folder)
  await run('npm', ['install', tarball], { cwd: folder, env, timeout: NPM_MS_MAX })
  return folder
}

function readPacked(reported: unknown): PackedPackage[] {
  if (!Array.isArray(reported)) return []
  return reported.map((one: { filename: string; size: number; files: { path: string }[] }) => ({
    tarball: one.filename,
    bytes: one.size,
    files: one.files.map(({ path }) => path),
  }))
}

/** Returns the path of a program. Throws if it is not on the PATH of this process. */
export function findProgram(name: string): string {
  const found = findOnPath(name)
  if (found === undefined) throw new Error(`${name} is not on the PATH`)
  return found
}

export function findOnPath(name: string): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    try {
      return realpathSync(join(folder, name))
    } catch {
      // This folder does not contain the program.
    }
  }
  return undefined
}
