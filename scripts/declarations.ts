/**
 * Creates the type declarations of `keelson/testing` as one file, without the members and types
 * that users cannot see. First, TypeScript 7 emits the declarations without `@internal` members.
 * Then dts-bundle-generator combines the declarations that the exports use. dts-bundle-generator
 * brings its own TypeScript 5.9, because TypeScript 7 has no stable API.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateDtsBundle } from 'dts-bundle-generator'

const root = join(import.meta.dirname, '..')
const typeRoots = [join(root, 'node_modules', '@types')]

/**
 * Returns the declarations of the exports of a source file. `values` are the exports that exist
 * when the program runs. Other exported classes are declared as types.
 */
export function createDeclarations(source: string, values: readonly string[]): string {
  // The cache is inside the repository, so that TypeScript finds the packages that the files
  // import.
  const cache = join(root, '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'types-'))
  try {
    emit(folder, source)
    const config = join(folder, 'tsconfig.json')
    writeFileSync(config, JSON.stringify({ compilerOptions: bundleOptions }))
    const [text = ''] = generateDtsBundle(
      [
        {
          filePath: join(folder, source.replace(/\.ts$/, '.d.ts')),
          output: { noBanner: true, exportReferencedTypes: false },
        },
      ],
      { preferredConfigPath: config },
    )
    // Clusters have a method Symbol.asyncDispose, which the library types of users with an older
    // target do not declare.
    return `/// <reference lib="esnext.disposable" />\n${withTypesOnly(text, values)}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const bundleOptions = {
  target: 'es2024',
  lib: ['es2024', 'esnext.disposable'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  // Do not check the emitted files. They also import modules that the bundle does not use.
  skipLibCheck: true,
  types: [],
}

/** Emits the declarations of a source file, and of all files that it imports. */
function emit(folder: string, source: string): void {
  const config = join(folder, 'tsconfig.emit.json')
  const compilerOptions = {
    noEmit: false,
    // Do not check types here, because `npm run check:types` checks the sources.
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    stripInternal: true,
    outDir: folder,
    rootDir: join(root, 'src'),
    typeRoots,
  }
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      files: [join(root, 'src', source)],
      include: [],
    }),
  )
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [compiler, '-p', config], { stdio: 'inherit' })
}

/** Exports classes that are not in `values` only as types. */
function withTypesOnly(text: string, values: readonly string[]): string {
  const types: string[] = []
  const declared = text.replaceAll(/^export (declare class (\w+))/gm, (whole, rest, name) => {
    if (values.includes(name)) return whole
    types.push(name)
    return rest
  })
  return declared.replace(/^export \{\};$/m, `export type { ${types.join(', ')} };`)
}
