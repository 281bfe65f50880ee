/**
 * Builds the package: bundles the program and its dependencies into one file, because opening and
 * linking hundreds of files takes most of the startup time
 * (docs/decisions/0010-bundled-package.md). `npm pack` runs this first. The argument is the output
 * folder. The default is `dist`.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, parse } from 'node:path'
import { build, type BuildOptions, type BuildResult, type Plugin } from 'esbuild'
import { descriptionsName, readSources } from '../src/request/discovery/openapi/descriptions.ts'
import { firstObjectsName } from '../src/storage/first-objects.ts'
import { createFirstObjects } from './first-objects.ts'
import { createManualFiles } from './manual-pages.ts'

const root = join(import.meta.dirname, '..')
const entry = 'main'

/**
 * Programs that run in separate threads and processes. The main program loads them by name from its
 * own folder.
 */
export const workers = {
  'etcd-stand-in': 'entry/envtest/etcd-stand-in.ts',
  'yaml-worker': 'objects/codec/yaml-worker.ts',
  'decode-worker': 'config/files/decode-worker.ts',
  'pattern-worker': 'objects/cel/pattern-worker.ts',
  'sqlite-worker': 'storage/sqlite/sqlite-worker.ts',
}

/**
 * Replaces dynamic imports by static ones. The program imports modules when a command or flag needs
 * them. In a single file, dynamic imports have no advantage: esbuild would put these modules, and
 * all modules that they import, into wrapper functions, which take a tenth of the startup time.
 */
const importAtOnce: Plugin = {
  name: 'import at once',
  setup: (building) => {
    building.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const imports: string[] = []
      const text = readFileSync(path, 'utf8').replaceAll(
        /await import\('(\.[^']+)'\)/g,
        (_, file: string) => {
          imports.push(`import * as imported${imports.length} from '${file}'\n`)
          return `imported${imports.length - 1}`
        },
      )
      return imports.length === 0 ? undefined : { contents: imports.join('') + text, loader: 'ts' }
    })
  },
}

/** Modules that take milliseconds to load and that a server might never need. */
const laterModules = [
  're2js',
  'node:http',
  'node:https',
  'node:child_process',
  'node:dns/promises',
  'node:fs/promises',
  'node:inspector/promises',
  'node:sqlite',
  'node:v8',
  'node:worker_threads',
]

/** Modules of Node that are loaded at startup. Each takes less than a millisecond, or is needed. */
const earlyModules = [
  'node:async_hooks',
  'node:buffer',
  'node:crypto',
  'node:events',
  'node:fs',
  'node:module',
  'node:net',
  'node:os',
  'node:path',
  'node:perf_hooks',
  'node:querystring',
  'node:sea',
  'node:stream',
  'node:stream/consumers',
  'node:stream/promises',
  'node:timers/promises',
  'node:tls',
  'node:url',
  'node:util',
  'node:vm',
  'node:zlib',
]

/**
 * Fails if a module of Node is imported with the prefix `node:` and is in neither list, because it
 * may slow every start down.
 */
const checkModules: Plugin = {
  name: 'check modules',
  setup: (building) => {
    building.onResolve({ filter: /^node:/ }, ({ path }) =>
      earlyModules.includes(path)
        ? undefined
        : {
            errors: [
              {
                text: `${path} must be in a list of scripts/build.ts: in laterModules if it takes milliseconds to load, otherwise in earlyModules`,
              },
            ],
          },
    )
  },
}

/** Loads `laterModules` when one of their exports is first used, instead of at startup. */
const importWhenUsed: Plugin = {
  name: 'import when used',
  setup: (building) => {
    const filter = new RegExp(`^(?:${laterModules.join('|')})$`)
    building.onResolve({ filter }, ({ path, namespace }) => {
      if (namespace !== 'later') return { path, namespace: 'later' }
      return path.startsWith('node:') ? { path, external: true } : undefined
    })
    building.onLoad({ filter: /.*/, namespace: 'later' }, ({ path }) => {
      const loaded: object = createRequire(import.meta.url)(path)
      const getters = Object.keys(loaded).map((name) => `get ${name}() { return load('${name}') },`)
      // Replaces the getter by the value, so that only the first use has a cost.
      const load = `const load = (name) => {
        const value = require('${path}')[name]
        Object.defineProperty(module.exports, name, { value })
        return value
      }`
      const contents = `${load}\nmodule.exports = { ${getters.join('\n')} }`
      return { contents, loader: 'js', resolveDir: root }
    })
  },
}

const options = {
  bundle: true,
  // V8 can load a code cache for scripts, but not for ES modules.
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  define: {
    'import.meta.url': 'importMetaUrl',
    'import.meta.filename': '__filename',
    'import.meta.dirname': '__dirname',
  },
  supported: { 'dynamic-import': false },
  // An optional dependency that users of keelson/testing install themselves.
  external: ['@kubernetes/client-node'],
  platform: 'node',
  target: 'node24',
  // Identifiers are not minified, so that stack traces stay readable.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  write: false,
  plugins: [importAtOnce, importWhenUsed, checkModules],
} as const satisfies BuildOptions

const start = `'use strict'; const importMetaUrl = require('node:url').pathToFileURL(__filename).href;`

/** Name of the entry file of the single executable (scripts/binary.ts). */
export const executableEntry = 'executable.cjs'

/**
 * Builds the package into a folder. Type declarations are optional, because they take most of the
 * time and are not needed to run the program.
 */
export async function buildPackage(
  outdir: string,
  { hasTypes = false, hasExecutable = false } = {},
): Promise<void> {
  const isOther =
    existsSync(outdir) &&
    readdirSync(outdir).length > 0 &&
    !existsSync(join(outdir, `${entry}.cjs`))
  if (isOther)
    throw new Error(
      `${outdir} contains other files, which the build would remove: choose an empty folder`,
    )
  // `lib/process/code-cache.ts` runs these files with a code cache.
  const program = await buildFunction({ program: join(root, 'src', 'main.ts') }, outdir)
  const library = hasExecutable
    ? []
    : [
        await buildFunction(
          { 'testing-library': join(root, 'src', 'entry', 'testing', 'index.ts') },
          outdir,
        ),
      ]
  const files = new Map([program, ...library].flatMap(textsOf))
  const others = await build({
    ...options,
    entryPoints: inSource({
      ...workers,
      [entry]: 'entry/packaged-main.ts',
      ...(hasExecutable
        ? { [parse(executableEntry).name]: 'entry/sea-main.ts' }
        : { testing: 'entry/packaged-testing.ts' }),
    }),
    outdir,
    define: {
      ...options.define,
      PROGRAM_ID: JSON.stringify(checksumOf(program)),
      TESTING_ID: JSON.stringify(library.map(checksumOf).join()),
    },
    banner: { js: start },
  })
  for (const { path, text } of others.outputFiles) files.set(path, inAscii(text))
  if (hasTypes) files.set(join(outdir, 'testing.d.cts'), await createTestingTypes())
  files.set(join(outdir, 'licenses.txt'), licensesOf([program, ...library, others]))
  files.set(join(outdir, firstObjectsName), await createFirstObjects())
  files.set(join(outdir, descriptionsName), readSources())
  if (!hasExecutable)
    for (const [path, text] of await createManualFiles(buildDate()))
      files.set(join(outdir, path), text)
  rmSync(outdir, { recursive: true, force: true })
  mkdirSync(outdir, { recursive: true })
  for (const [path, text] of files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

async function createTestingTypes(): Promise<string> {
  // Loaded here, because only this step needs TypeScript.
  const { createDeclarations } = await import('./declarations.ts')
  const values = Object.keys(await import('../src/entry/testing/index.ts'))
  return createDeclarations('entry/testing/index.ts', values)
}

type BundleResult = BuildResult<{ readonly metafile: true; readonly write: false }>

/**
 * Builds a file that consists of a single expression: a function that takes the parameters of a
 * CommonJS module and returns its exports.
 */
async function buildFunction(
  entryPoints: Readonly<Record<string, string>>,
  outdir: string,
): Promise<BundleResult> {
  const built = await build({
    ...options,
    entryPoints,
    outdir,
    define: { ...options.define, BUILD_COMMIT: JSON.stringify(commit()) },
    banner: {
      js: `(function (require, __filename, __dirname, storeThread) { ${start} const module = { exports: {} };`,
    },
    footer: { js: 'return module.exports })' },
  })
  checkNotWrapped(built)
  return built
}

/** Returns the commit of this checkout, for `keelson version`. */
function commit(): string {
  return askGit('rev-parse', 'HEAD') ?? 'unknown'
}

/** Returns the date of the commit, or of today if this is not a checkout, as YYYY-MM-DD. */
function buildDate(): string {
  return askGit('show', '--no-patch', '--format=%cs') ?? new Date().toISOString().slice(0, 10)
}

/** Returns the output of git, or undefined if this folder is not a checkout. */
function askGit(...args: readonly string[]): string | undefined {
  if (!existsSync(join(root, '.git'))) return undefined
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

const textsOf = ({ outputFiles }: BundleResult): [path: string, text: string][] =>
  outputFiles.map(({ path, text }) => [path, inAscii(text)])

/** Throws an error if esbuild has put a module of Keelson into a wrapper function. */
function checkNotWrapped({ outputFiles }: BundleResult): void {
  const wrapped = outputFiles.flatMap(({ text }) => [
    ...text.matchAll(/__(?:esm|commonJS)\(\{\s*"([^"]+\.ts)"/g),
  ])
  if (wrapped.length > 0)
    throw new Error(
      `esbuild put ${wrapped.length} modules into wrapper functions, such as ${wrapped[0]?.[1]}: ` +
        "write their dynamic imports as `await import('./…')`, which the build makes static",
    )
}

const checksumOf = (built: BundleResult): string =>
  createHash('sha256')
    .update(
      textsOf(built)
        .map(([, text]) => text)
        .join(),
    )
    .digest('hex')
    .slice(0, 16)

const inSource = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(root, 'src', file)]))

/**
 * Escapes characters outside of ASCII. A single such character would make V8 use two bytes for each
 * character of the source. Such characters occur only in regular expressions and comments.
 */
const inAscii = (text: string): string =>
  text.replaceAll(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/**
 * Returns the licenses of the bundled dependencies. The licenses require that they are included in
 * the package.
 */
function licensesOf(results: readonly BuildResult<{ metafile: true }>[]): string {
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs))
  const names = inputs.flatMap(
    (input) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? [],
  )
  return [...new Set(names)].toSorted().map(licenseOf).join('\n')
}

function licenseOf(name: string): string {
  const folder = join(root, 'node_modules', name)
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest
      ? manifest.version
      : ''
  const file = readdirSync(folder).find((found) => /^(un)?licen[cs]e/i.test(found))
  if (file === undefined)
    throw new Error(`${folder} has no license file, which the package must include`)
  return `${name} ${String(version)}\n\n${readFileSync(join(folder, file), 'utf8')}`
}

if (import.meta.main) await buildPackage(process.argv[2] ?? join(root, 'dist'), { hasTypes: true })
