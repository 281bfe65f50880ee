/**
 * Builds a single executable for machines and images without Node
 * (docs/decisions/0016-single-executable.md). It contains the Node that runs this script, the
 * program, its worker threads, and the code that V8 compiles at startup. The argument is the path
 * of the executable, by default `.cache/binary/keelson`.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { descriptionsName } from '../src/request/discovery/openapi/descriptions.ts'
import { firstObjectsName } from '../src/storage/first-objects.ts'
import { buildPackage, executableEntry, workers } from './build.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
/** Node's flags, as in `bin/keelson`. */
const nodeFlags = ['--max-semi-space-size=16']
/**
 * Strings that Node searches for in its own executable: the name of the injected program, and the
 * marker that shows whether a program was injected.
 */
const blobName = 'NODE_SEA_BLOB'
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
/**
 * Maximum time for starting the server that writes the code cache. A start usually takes a second.
 */
const START_MS_MAX = 300_000
/**
 * Time after which the server is stopped. Two seconds after its start, the server begins to write
 * the code cache.
 */
const SAVED_MS = 2_500

export async function buildBinary(file: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-binary-'))
  try {
    const dist = join(dir, 'dist')
    await buildPackage(dist, { hasExecutable: true })
    copyFileSync(join(root, 'package.json'), join(dir, 'package.json'))
    copyFileSync(await compiledCode(join(dist, 'main.cjs'), dir), join(dir, 'code'))
    const blob = await blobOf(dist, dir)
    const made = join(dir, 'keelson')
    copyFileSync(process.execPath, made)
    chmodSync(made, 0o755)
    if (process.platform === 'linux') await strip(made)
    await inject(made, blob)
    mkdirSync(dirname(file), { recursive: true })
    // Copy the file next to its destination, then rename it, because a rename is atomic. The
    // temporary folder might be on another file system.
    const draft = `${file}.${process.pid}`
    copyFileSync(made, draft)
    renameSync(draft, file)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Removes debug symbols, which make up a seventh of Node. */
async function strip(file: string): Promise<void> {
  await run('strip', [file]).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    console.error(
      'strip is not on the PATH, so the executable is a seventh larger: install binutils',
    )
  })
}

/**
 * Starts a server, and returns the path of the code cache that `lib/process/code-cache.ts` writes.
 * V8 and its flags must be the same as in the executable.
 */
async function compiledCode(main: string, dir: string): Promise<string> {
  const cache = join(dir, 'cache')
  mkdirSync(cache)
  const args = [...nodeFlags, main, 'dev', '--ephemeral']
  const server = spawn(process.execPath, args, {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { HOME: dir, XDG_CACHE_HOME: cache },
  })
  let told = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => (told += text))
  const gone = once(server, 'exit')
  try {
    for (
      const endMs = performance.now() + START_MS_MAX;
      !told.includes('serving at');
      await sleep(100)
    ) {
      if (server.exitCode !== null || performance.now() > endMs)
        throw new Error(`the server whose compiled code is saved did not start: ${told}`)
    }
    // The code cache is written when the server is idle or when it stops.
    await sleep(SAVED_MS)
  } finally {
    server.kill()
    await gone
  }
  const found = readdirSync(cache, { recursive: true, encoding: 'utf8' }).find((name) =>
    /code-v[^/]*$/.test(name),
  )
  if (found === undefined) throw new Error(`the server did not save its compiled code: ${told}`)
  return join(cache, found)
}

async function blobOf(dist: string, dir: string): Promise<string> {
  const output = join(dir, 'blob')
  const files = [
    'program.cjs',
    firstObjectsName,
    descriptionsName,
    'licenses.txt',
    ...Object.keys(workers).map((name) => `${name}.cjs`),
  ]
  const assets = {
    ...Object.fromEntries(files.map((name) => [name, join(dist, name)])),
    'package.json': join(dir, 'package.json'),
    code: join(dir, 'code'),
  }
  const options = {
    main: join(dist, executableEntry),
    output,
    assets,
    execArgv: nodeFlags,
    disableExperimentalSEAWarning: true,
  }
  const config = join(dir, 'sea.json')
  writeFileSync(config, JSON.stringify(options))
  await run(process.execPath, ['--experimental-sea-config', config])
  return output
}

async function inject(file: string, blob: string): Promise<void> {
  if (!readFileSync(file).includes(`${fuse}:0`)) {
    throw new Error(
      `${process.execPath} does not support single executables: run this with Node from nodejs.org`,
    )
  }
  const postject = join(root, 'node_modules', 'postject', 'dist', 'cli.js')
  const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : []
  await run(process.execPath, [postject, file, blobName, blob, '--sentinel-fuse', fuse, ...segment])
  if (process.platform === 'darwin') await run('codesign', ['--sign', '-', file])
}

if (import.meta.main) {
  const file = resolve(process.argv[2] ?? join(root, '.cache', 'binary', 'keelson'))
  await buildBinary(file)
  console.log(file)
}
