/** Every command of README.md is run, so that what a stranger types first works. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { freePorts, toolPath } from '../harness/etcd.ts'

const root = join(import.meta.dirname, '..', '..')
/** What stands indented in README.md, line by line. */
const commands = readFileSync(join(root, 'README.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('    '))
  .map((line) => line.trim())

/** Those that show what a cluster does by itself. */
const cluster = commands.filter((command) =>
  /^(kubectl (create|wait|delete|auth|certificate|patch) |OWNER=)/.test(command),
)

let dir: string
let env: NodeJS.ProcessEnv

before(async () => {
  // A checkout that a command may leave things in: data goes to the folder that one stands in.
  dir = await realpath(await mkdtemp(join(tmpdir(), 'keelson-readme-')))
  await mkdir(join(dir, 'bin'))
  await symlink(join(root, 'bin', 'keelson'), join(dir, 'bin', 'keelson'))
  await symlink(join(root, 'docs'), join(dir, 'docs'))
  const tools = dirname(toolPath('kubectl'))
  env = { ...process.env, PATH: `${tools}:${process.env['PATH'] ?? ''}`, KUBECACHEDIR: join(dir, 'kubectl-cache') }
})
after(() => rm(dir, { recursive: true, force: true }))

function shell(script: string): string {
  const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', script], { cwd: dir, env, encoding: 'utf8' })
  assert.equal(status, 0, `${script}: ${stderr}`)
  return stdout
}

test('the commands are those that are run below', () => {
  assert.deepEqual(commands, [
    // This one by .ci/run, in a clean clone: it takes the network and a minute.
    'npm install',
    'bin/keelson dev',
    'export KUBECONFIG=.keelson/kubeconfig',
    'kubectl get ns',
    ...cluster,
    'bin/keelson serve --help',
  ])
  assert.match(readFileSync(join(root, '.ci', 'run'), 'utf8'), /\bnpm install\b/)
})

test('one command starts a control plane, and what it prints can be typed', async () => {
  const [port = 0] = await freePorts(1)
  // Another port than the default, so that two runs of this test do not meet.
  const dev = spawn('bin/keelson', ['dev', `--secure-port=${port}`], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const printed: string[] = []
    for await (const line of createInterface(dev.stdout)) if (printed.push(line) === 2) break
    assert.equal(printed[0], `export KUBECONFIG=${join(dir, '.keelson', 'kubeconfig')}`)
    assert.match(shell(printed.join('\n')), /^default\s/m)
    const exported = 'export KUBECONFIG=.keelson/kubeconfig'
    assert.match(shell(`${exported}\nkubectl get ns`), /^kube-system\s/m)
    const told = shell([exported, ...cluster].join('\n'))
    for (const expected of [
      /^resourcequota\/small condition met$/m,
      // What jane may do.
      /^yes$/m,
      /^certificatesigningrequest.certificates.k8s.io\/jane condition met$/m,
      /^customresourcedefinition.apiextensions.k8s.io\/teas.example.com condition met$/m,
      /^tea.example.com "green" deleted/m,
      /^namespace "shop" deleted/m,
    ])
      assert.match(told, expected)
  } finally {
    const gone = once(dev, 'exit')
    dev.kill('SIGINT')
    await gone
  }
  assert.equal(dev.exitCode, 0)
})

test('help tells the flags', () => {
  assert.match(shell('bin/keelson serve --help'), /--etcd-servers/)
})
