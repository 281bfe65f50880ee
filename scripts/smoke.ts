/**
 * Installs the npm package and checks that its program starts and serves requests. This script
 * needs only Node and npm, so that it runs on every platform. The argument is the package, or a
 * folder that contains it. The default is .cache/release.
 */
import { type ChildProcess, execFileSync, execSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const root = join(import.meta.dirname, '..')
/** Maximum time for a start. It takes a second on an idle machine. */
const START_MS_MAX = 120_000
const STOP_MS_MAX = 30_000

/** Returns the path of the package file. */
function findPackage(given: string): string {
  if (!statSync(given).isDirectory()) return given
  const [file, ...others] = globSync('*.tgz', { cwd: given }).filter(
    (name) => !name.endsWith('-chart.tgz'),
  )
  if (file === undefined || others.length > 0)
    throw new Error(`${given} must contain one package: run node scripts/release.ts --only package`)
  return join(given, file)
}

/** Returns the path of the installed program. */
function install(tarball: string, folder: string): string {
  mkdirSync(folder)
  // On Windows, npm is a script that only a shell can run.
  execSync(`npm install --no-audit --no-fund "${tarball}"`, { cwd: folder, stdio: 'inherit' })
  return join(folder, 'node_modules', 'keelson', 'bin', 'keelson')
}

/** Starts a server on a free port. Returns its address when it serves requests. */
async function start(server: ChildProcess): Promise<string> {
  let output = ''
  for (const stream of [server.stdout, server.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
  for (const endMs = performance.now() + START_MS_MAX; performance.now() < endMs; ) {
    const url = /serving at (https:\S+)/.exec(output)?.[1]
    if (url !== undefined) return url
    if (server.exitCode !== null) break
    await sleep(50)
  }
  throw new Error(`the server did not start:\n${output}`)
}

async function get(url: string): Promise<string> {
  // Do not verify the certificate. The server has just created it, and signed it itself.
  const sent = request(url, { rejectUnauthorized: false }).end()
  const [response] = await once(sent, 'response')
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) body += chunk
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode} ${body}`)
  return body
}

async function main(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-smoke-'))
  try {
    const tarball = findPackage(resolve(process.argv[2] ?? join(root, '.cache', 'release')))
    const program = install(tarball, join(dir, 'project'))
    const version = execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' })
    const expected = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
    if (!version.includes(expected))
      throw new Error(`the package is ${version.trim()}, but package.json has ${expected}`)
    await serve(program, dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function serve(program: string, dir: string): Promise<void> {
  const args = [program, 'dev', '--ephemeral', '--secure-port=0']
  const server = spawn(process.execPath, args, {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      XDG_CACHE_HOME: join(dir, 'cache'),
      KUBECONFIG: join(dir, 'kubeconfig'),
    },
  })
  const ended = once(server, 'exit')
  try {
    const url = await start(server)
    const served: { readonly gitVersion: string } = JSON.parse(await get(`${url}/version`))
    await get(`${url}/readyz`)
    console.log(
      `smoke: Kubernetes ${served.gitVersion} is served on ${process.platform} ${process.arch} by Node ${process.versions.node}`,
    )
  } finally {
    server.kill()
    await Promise.race([ended, sleep(STOP_MS_MAX, undefined, { ref: false })])
    server.kill('SIGKILL')
  }
}

await main()
