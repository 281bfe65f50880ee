/**
 * Builds one executable of the Node that runs this, the program, its threads and the code that V8
 * compiles for a start: for people and images without Node
 * (docs/decisions/0016-single-executable.md). An argument names the file; without one it is
 * `.cache/binary/keelson`.
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
import { firstObjectsName } from '../src/storage/first-objects.ts'
import { buildPackage, executableEntry, workers } from './build.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
/** As `bin/keelson` gives them to a server. */
const nodeFlags = ['--max-semi-space-size=16']
/**
 * What Node looks for in itself: the name of what is put in, and the mark that says that something
 * was.
 */
const blobName = 'NODE_SEA_BLOB'
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
/** Of the start whose code is kept. It takes a second. */
const START_MS_MAX = 300_000
/** Code is written from two seconds after the start on. */
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
    // In one step: the other file system may be the one of the temporary folder.
    const draft = `${file}.${process.pid}`
    copyFileSync(made, draft)
    renameSync(draft, file)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** A seventh of Node is names for debuggers. */
async function strip(file: string): Promise<void> {
  await run('strip', [file]).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    console.error('strip is not on the PATH (Debian: binutils): the executable is a seventh larger')
  })
}

/**
 * What `lib/process/code-cache.ts` saves when a server has started, on the same V8 with the same
 * flags.
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
        throw new Error(`the server whose code is kept does not serve: ${told}`)
    }
    // It is saved when the server is idle, or else when it ends.
    await sleep(SAVED_MS)
  } finally {
    server.kill()
    await gone
  }
  const found = readdirSync(cache, { recursive: true, encoding: 'utf8' }).find((name) =>
    /code-v[^/]*$/.test(name),
  )
  if (found === undefined) throw new Error(`the server whose code is kept wrote none: ${told}`)
  return join(cache, found)
}

async function blobOf(dist: string, dir: string): Promise<string> {
  const output = join(dir, 'blob')
  const files = [
    'program.cjs',
    firstObjectsName,
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
    throw new Error(`${process.execPath} cannot hold a program: run this on a Node of nodejs.org`)
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
