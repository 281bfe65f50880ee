/**
 * Builds the package: the program in one file instead of hundreds, since opening and linking them was most of the time that a
 * start took (docs/decisions/0010-bundled-package.md). Packages of others stay outside. Run by `npm run build`; an argument names another folder.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const entry = 'main'

/** What the package starts with, the program, and what runs in threads of its own: these are loaded by name from the folder of whoever starts them. */
const entryPoints = {
  [entry]: 'packaged-main.ts',
  program: 'main.ts',
  'yaml-worker': 'codec/yaml-worker.ts',
  'decode-worker': 'config/files/decode-worker.ts',
  'pattern-worker': 'cel/pattern-worker.ts',
  'sqlite-worker': 'storage/sqlite/sqlite-worker.ts',
}

export async function buildPackage(outdir: string): Promise<void> {
  const isOther = existsSync(outdir) && readdirSync(outdir).length > 0 && !existsSync(join(outdir, `${entry}.cjs`))
  if (isOther) throw new Error(`${outdir} has other things in it, which a build would remove: name an empty folder`)
  const { outputFiles } = await build({
    entryPoints: Object.fromEntries(Object.entries(entryPoints).map(([name, file]) => [name, join(root, 'src', file)])),
    outdir,
    bundle: true,
    // V8 can be handed compiled code of scripts, not of ES modules.
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    banner: { js: `'use strict'; const importMetaUrl = require('node:url').pathToFileURL(__filename).href` },
    define: {
      'import.meta.url': 'importMetaUrl',
      'import.meta.filename': '__filename',
      'import.meta.dirname': '__dirname',
    },
    // Packages of others are loaded by `require`, which is there at once.
    supported: { 'dynamic-import': false },
    platform: 'node',
    target: 'node24',
    packages: 'external',
    logLevel: 'warning',
    write: false,
  })
  rmSync(outdir, { recursive: true, force: true })
  mkdirSync(outdir, { recursive: true })
  for (const { path, text } of outputFiles) writeFileSync(path, inAscii(text))
}

/** V8 holds a source with any other character in two bytes a character. Only regular expressions and comments still have some. */
const inAscii = (text: string): string =>
  text.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

if (import.meta.main) await buildPackage(process.argv[2] ?? join(root, 'dist'))
