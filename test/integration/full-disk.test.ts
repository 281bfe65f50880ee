/**
 * Starts servers on a small disk that is full. The error must name the folder and say to free
 * space. The disk is a tmpfs in a mount namespace of the server, so it disappears with the server.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { keelsonProgram } from '../support/harness/keelson.ts'

const disk = mkdtempSync(join(tmpdir(), 'keelson-full-'))
const other = mkdtempSync(join(tmpdir(), 'keelson-not-full-'))
after(() => {
  for (const folder of [disk, other]) rmSync(folder, { recursive: true, force: true })
})

type ExitResult = { readonly code: number | string; readonly stderr: string }

/**
 * Mounts an empty disk of this size, and runs a program that uses the disk. Returns the exit code
 * and the output of the program.
 */
function runOnDisk(size: string, program: string, ...args: readonly string[]): Promise<ExitResult> {
  const script = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && shift 2 && exec "$@"'
  const command = ['-rm', 'sh', '-c', script, 'sh', size, disk, program, ...args]
  const env = { ...process.env, XDG_CACHE_HOME: join(other, 'cache'), TMPDIR: disk }
  return new Promise((resolve) =>
    execFile('unshare', command, { timeout: 240_000, env }, (error, _, stderr) =>
      resolve({ code: error?.code ?? error?.signal ?? 0, stderr }),
    ),
  )
}

const mounted = await runOnDisk('4k', 'true')
const skip = mounted.code !== 0 && 'this user cannot mount a disk in a namespace'

const cases = [
  ['the folder of dev', '4k', ['dev', `--data-dir=${disk}/dev`], `${disk}/dev`],
  ['the new store of dev', '400k', ['dev', `--data-dir=${disk}/dev`], `${disk}/dev`],
  ['the temporary folder of dev', '4k', ['dev', '--ephemeral'], `${disk}/keelson-`],
  [
    'the store of serve',
    '4k',
    ['serve', `--data-dir=${disk}/store`, `--cert-dir=${other}/pki`],
    `--data-dir: ${disk}/store`,
  ],
  [
    'the certificates of serve',
    '4k',
    ['serve', '--store=memory', `--cert-dir=${disk}/pki`],
    `cannot read or create the certificate in ${disk}/pki`,
  ],
] as const

for (const [what, size, args, start] of cases)
  test(`${what}: the error says that the disk is full and contains advice`, { skip }, async () => {
    const ended = await runOnDisk(size, keelsonProgram, ...args)
    assert.equal(ended.code, 1, ended.stderr)
    const told = ended.stderr.replaceAll(/^\{"level".*\n/gm, '')
    assert.ok(told.startsWith(`keelson: ${start}`), told)
    assert.match(told, /^[^\n]*(?:ENOSPC|disk is full)[^\n]*: free space on its disk[^\n]*\n$/)
  })

test('if the disk of the temporary folder is full, the error of keelson run names the folder', {
  skip,
}, async () => {
  const fill = 'head -c 4096 /dev/zero >"$1/file"; shift; exec "$@"'
  const run = [keelsonProgram, 'run', '--', 'true']
  const { code, stderr } = await runOnDisk('4k', 'sh', '-c', fill, 'sh', disk, ...run)
  assert.equal(code, 1, stderr)
  assert.match(
    stderr,
    /^keelson: \S+\/keelson-testing-\S+ cannot be used \(ENOSPC: .*\): free space on its disk, or set TMPDIR to a writable folder\n$/,
  )
})
