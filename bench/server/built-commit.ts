/**
 * Builds the server of a commit for a comparison. The build runs in a temporary git worktree, which
 * is removed afterwards. Only the package is kept, in `.cache/against/COMMIT`, and later runs reuse
 * it.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../test/recorded/compat/json.ts'

const root = join(import.meta.dirname, '..', '..')
const cache = join(root, '.cache', 'against')

/** Resolves a Git revision, such as a branch or a short hash, to the full hash of its commit. */
export const commitOf = (name: string): string => git(['rev-parse', '--verify', `${name}^{commit}`])

/**
 * Returns the commit of this checkout. If there are uncommitted changes or new files, creates a
 * commit with them that no branch refers to.
 */
export function commitOfCheckout(): string {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'index-'))
  // With a fixed author and date, equal content has an equal hash, so that it is built only once.
  const env = {
    GIT_INDEX_FILE: join(folder, 'index'),
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) => [
        [`GIT_${role}_NAME`, 'bench'],
        [`GIT_${role}_EMAIL`, 'bench@localhost'],
        [`GIT_${role}_DATE`, '2026-01-01T00:00:00Z'],
      ]),
    ),
  }
  try {
    git(['read-tree', 'HEAD'], env)
    git(['add', '--all'], env)
    const tree = git(['write-tree'], env)
    if (tree === git(['rev-parse', 'HEAD^{tree}'])) return commitOf('HEAD')
    return git(['commit-tree', tree, '-p', 'HEAD', '-m', 'uncommitted changes'], env)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Builds the commit, unless an earlier run did. Returns the path of its program. */
export function buildCommit(commit: string): string {
  const folder = join(cache, commit)
  const program = join(folder, 'bin', 'keelson')
  if (existsSync(program)) return program
  mkdirSync(cache, { recursive: true })
  const worktree = mkdtempSync(join(cache, 'worktree-'))
  try {
    git(['worktree', 'add', '--quiet', '--detach', worktree, commit])
    const modules = installPackages(worktree)
    symlinkSync(modules, join(worktree, 'node_modules'))
    // The earliest commits have no build step and run from their sources.
    if (hasBuild(worktree)) run('npm', ['run', 'build'], worktree)
    moveInto(folder, (into) => {
      for (const part of ['package.json', 'bin', hasBuild(worktree) ? 'dist' : 'src'])
        renameSync(join(worktree, part), join(into, part))
      symlinkSync(modules, join(into, 'node_modules'))
    })
  } finally {
    rmSync(worktree, { recursive: true, force: true })
    git(['worktree', 'prune'])
  }
  return program
}

/**
 * Returns the folder with the packages that the worktree's lock file names. Commits with equal lock
 * files share one folder.
 */
function installPackages(worktree: string): string {
  const lock = readFileSync(join(worktree, 'package-lock.json'))
  if (lock.equals(readFileSync(join(root, 'package-lock.json')))) return join(root, 'node_modules')
  const folder = join(
    cache,
    `packages-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`,
  )
  if (!existsSync(folder)) {
    moveInto(folder, (into) => {
      const workspace = join('scripts', 'node', 'package.json')
      for (const file of ['package.json', 'package-lock.json', workspace]) {
        if (existsSync(join(worktree, file))) cpSync(join(worktree, file), join(into, file))
      }
      // `npm ci` rejects the lock files of older commits, which lack packages of other platforms.
      run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'], into)
    })
  }
  return join(folder, 'node_modules')
}

function hasBuild(worktree: string): boolean {
  const manifest: unknown = JSON.parse(readFileSync(join(worktree, 'package.json'), 'utf8'))
  return isRecord(manifest) && isRecord(manifest['scripts']) && 'build' in manifest['scripts']
}

/**
 * Fills a temporary folder, then renames it, so that a folder with the final name is always
 * complete.
 */
function moveInto(folder: string, fill: (into: string) => void): void {
  const into = mkdtempSync(join(cache, 'new-'))
  try {
    fill(into)
    renameSync(into, folder)
  } catch (error) {
    rmSync(into, { recursive: true, force: true })
    // If the folder exists now, another run has created it first, with the same content.
    if (!existsSync(folder)) throw error
  }
}

const git = (args: readonly string[], env: Readonly<Record<string, string>> = {}): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } }).trim()

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
}
