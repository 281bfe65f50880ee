/**
 * Installs the npm package and starts a server for the remaining steps of a GitHub Actions job.
 * action.yml runs this script. The runner ends the server at the end of the job.
 */
import { execSync, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Maximum time for a start. It takes a second on an idle machine. */
const START_MS_MAX = 120_000
const POLL_MS = 50

const variable = (name: string): string => {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set: GitHub Actions sets it`)
  return value
}

/** Installs the package and returns the folder of its program. */
function install(folder: string): string {
  const manifest = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')
  const own: { readonly version: string } = JSON.parse(manifest)
  const version = process.env['KEELSON_VERSION'] || own.version
  // The version becomes a part of a shell command, because npm is a shell script on Windows.
  if (!/^[\w.:/\\~^-]+$/.test(version)) throw new Error(`${version} is not a version`)
  execSync(`npm install --no-audit --no-fund "keelson@${version}"`, {
    cwd: folder,
    stdio: 'inherit',
  })
  return join(folder, 'node_modules', 'keelson', 'bin')
}

/** Returns the flag for a list of controllers, or none if all controllers run. */
function controllerFlags(): string[] {
  const controllers = process.env['KEELSON_CONTROLLERS'] || 'all'
  if (controllers === 'all') return []
  return [`--controllers=${controllers === 'none' ? '' : controllers}`]
}

type Ready = { readonly url: string; readonly kubeconfig: string }

/** Starts the server as a process that outlives this one. */
async function start(program: string, folder: string): Promise<Ready> {
  const [output, errors] = [join(folder, 'output'), join(folder, 'errors')]
  const server = spawn(process.execPath, [program, 'serve', '--testing', ...controllerFlags()], {
    detached: true,
    stdio: ['ignore', openSync(output, 'w'), openSync(errors, 'w')],
  })
  writeFileSync(join(folder, 'pid'), String(server.pid))
  server.unref()
  for (const endMs = performance.now() + START_MS_MAX; performance.now() < endMs; ) {
    const line = /^\{.*\}$/m.exec(readFileSync(output, 'utf8'))?.[0]
    if (line !== undefined) return JSON.parse(line)
    if (server.exitCode !== null) break
    await sleep(POLL_MS)
  }
  server.kill()
  throw new Error(`the server did not start:\n${readFileSync(errors, 'utf8')}`)
}

const folder = join(variable('RUNNER_TEMP'), 'keelson')
mkdirSync(folder, { recursive: true })
const bin = install(folder)
const program = join(bin, 'keelson')
const { url, kubeconfig } = await start(program, folder)
appendFileSync(variable('GITHUB_OUTPUT'), `url=${url}\nkubeconfig=${kubeconfig}\n`)
// The libraries for Go and Python run the command in the environment variable KEELSON.
appendFileSync(variable('GITHUB_ENV'), `KUBECONFIG=${kubeconfig}\nKEELSON=${program}\n`)
appendFileSync(variable('GITHUB_PATH'), `${bin}\n`)
console.log(`Keelson serves at ${url}`)
