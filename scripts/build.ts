/**
 * Builds the package: the program in a few files instead of hundreds, since opening and linking them was most of the time that a
 * start took (docs/decisions/0010-bundled-package.md). Packages of others stay outside. Run by `npm run build`; an argument names another folder.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')

/** The program, and what runs in threads of its own: these are loaded by name from the folder of whoever starts them. */
const entryPoints = ['main.ts', 'codec/yaml-worker.ts', 'cel/pattern-worker.ts'].map((file) => join(root, 'src', file))

export async function buildPackage(outdir: string): Promise<void> {
  const isOther = existsSync(outdir) && readdirSync(outdir).length > 0 && !existsSync(join(outdir, 'main.js'))
  if (isOther) throw new Error(`${outdir} has other things in it, which a build would remove: name an empty folder`)
  rmSync(outdir, { recursive: true, force: true })
  await build({
    entryPoints,
    outdir,
    bundle: true,
    // `serve` does not load what only `dev` needs.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    entryNames: '[name]',
    logLevel: 'warning',
  })
}

if (import.meta.main) await buildPackage(process.argv[2] ?? join(root, 'dist'))
