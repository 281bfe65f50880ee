/**
 * Runs the commands of docs/operate.md that build and run an image, with the real podman. They are
 * skipped if this machine has no podman, or does not let it run containers. Everything that podman
 * stores is in the folder of the test.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { freePorts, toolPath } from '../support/harness/etcd.ts'
import { bashBlock } from '../support/harness/markdown-commands.ts'
import { findOnPath } from '../support/harness/packed.ts'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs', 'operate.md'), 'utf8')
const COMMAND_MS_MAX = 300_000
/** Maximum difference between the size of the image and the size in docs/operate.md. */
const SIZE_DIFFERENCE_MB = 10
/** The user ID in deploy/Containerfile. */
const USER_ID = 65_532
const run = promisify(execFile)

/**
 * A folder in which the commands of docs/operate.md run, with a podman that stores all of its data
 * in this folder.
 */
class Workplace implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'keelson-container-'))
  readonly #env: NodeJS.ProcessEnv

  constructor(podman: string) {
    for (const name of ['deploy', 'node_modules', 'package.json', 'scripts'])
      symlinkSync(join(root, name), this.#in(name))
    mkdirSync(this.#in('bin'))
    writeFileSync(this.#in('containers.conf'), configuration())
    const flags = `--storage-driver=vfs --root=${this.#in('storage')} --runroot=${this.#in('run')}`
    const script = `#!/bin/sh\nexec ${podman} ${flags} "$@"\n`
    writeFileSync(this.#in('bin', 'podman'), script, { mode: 0o755 })
    const path = [this.#in('bin'), dirname(process.execPath), dirname(toolPath('kubectl'))]
    this.#env = {
      ...process.env,
      PATH: [...path, process.env['PATH']].join(':'),
      CONTAINERS_CONF: this.#in('containers.conf'),
    }
  }

  #in(...parts: readonly string[]): string {
    return join(this.#folder, ...parts)
  }

  async shell(commands: string): Promise<string> {
    const options = { cwd: this.#folder, env: this.#env, timeout: COMMAND_MS_MAX }
    const { stdout } = await run('sh', ['-euc', commands], { ...options, maxBuffer: 1 << 24 })
    return stdout
  }

  /**
   * Runs commands that wait for a container. If they fail, the error contains the container's log.
   */
  async wait(container: string, commands: string): Promise<string> {
    return this.shell(commands).catch(async (cause: unknown) => {
      throw new Error(await this.shell(`podman logs ${container} 2>&1`), { cause })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shell(
      'podman rm --all --force --time=0; podman volume rm --all --force; podman rmi --all --force',
    )
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/**
 * Returns a configuration of podman that also works inside a container. It raises no resource
 * limits, and uses runc, which works with more versions of cgroups than crun.
 */
function configuration(): string {
  const runtime = findOnPath('runc') === undefined ? '' : 'runtime = "runc"\n'
  return `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
${runtime}`
}

test('the documented commands build an image, run it and copy a kubeconfig out of the container', async (t) => {
  const podman = findOnPath('podman')
  if (podman === undefined || process.getuid?.() !== 0) return t.skip('needs podman, and root')
  await using place = new Workplace(podman)
  const [build = '', ...start] = bashBlock(page, 'podman run --detach').split(/(?=^podman run)/m)
  await place.shell(build)
  const refused = await place.shell('podman run --rm keelson version').then(
    () => undefined,
    ({ stderr }: { readonly stderr: string }) => stderr,
  )
  if (refused !== undefined) return t.skip(`podman cannot run containers here: ${refused}`)
  const [port = 0, other = 0] = await freePorts(2)
  await place.shell(start.join('').replace('127.0.0.1:6443:', `127.0.0.1:${port}:`))

  const [, command = ''] =
    /With another port[^`]*`(kubectl config set-cluster [^`]+)`/.exec(page) ?? []
  const setPort = command.replace('7443', `${port}`)
  const getConfig = bashBlock(page, 'podman cp').replace('KUBECONFIG=', `${setPort}\nKUBECONFIG=`)
  assert.match(await place.wait('keelson', getConfig), /^kube-system\s+Active/m)
  await checkContainer(place)

  const health = bashBlock(page, 'podman run --health-cmd').trimEnd()
  const rest = '--detach --name other keelson dev --ephemeral --secure-port='
  await place.shell(health.replaceAll('7443', `${other}`).replace('…', `${rest}${other}`))
  await place.wait(
    'other',
    'timeout 60 sh -c "until podman healthcheck run other; do sleep 1; done"',
  )
})

/** Checks the user, the root file system and the size of the container `keelson`. */
async function checkContainer(place: Workplace): Promise<void> {
  const inspect = async (format: string): Promise<string> =>
    (await place.shell(`podman inspect --format '${format}' keelson`)).trim()
  const folder = `/proc/${await inspect('{{.State.Pid}}')}`
  const status = readFileSync(`${folder}/status`, 'utf8')
  assert.match(status, new RegExp(`^Uid:\\s+${USER_ID}\\s`, 'm'))
  assert.match(status, /^CapEff:\s+0+$/m)
  assert.match(readFileSync(`${folder}/mountinfo`, 'utf8'), /^\d+ \d+ \S+ \S+ \/ ro,/m)
  const bytes = await place.shell("podman image inspect --format '{{.Size}}' keelson")
  const [, megabytes] = /The image has about (\d+) MB/.exec(page) ?? []
  const difference = Math.abs(Number(bytes) / 1e6 - Number(megabytes))
  assert.ok(difference < SIZE_DIFFERENCE_MB, `${bytes} bytes, but the page says ${megabytes} MB`)
}
