/**
 * Tests a disk that is full, read-only, or fails to flush. Writes fail with the reason while reads
 * continue, and writes succeed again when the disk recovers. Most tests simulate disk faults in a
 * real process (`faulty-disk.c`), and one test fills a real disk.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from '../../support/harness/until.ts'
import { canPreload } from './preload.ts'
import type { WriterAnswer, WriterCommand } from './sqlite-subject.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-faults-'))
after(() => rmSync(folder, { recursive: true }))
const subject = join(import.meta.dirname, 'sqlite-subject.ts')
const library = join(folder, 'faulty-disk.so')

/** Whether this user can mount a small disk in a separate namespace. */
function canMount(): boolean {
  try {
    const disk = join(folder, 'try')
    mkdirSync(disk)
    execFileSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', disk], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

class StoreProcess implements AsyncDisposable {
  readonly #child: ChildProcess

  static async start(
    command: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<StoreProcess> {
    const [program = '', ...args] = command
    const child = spawn(program, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, ...env },
    })
    const ended = once(child, 'exit').then(() => {
      throw new Error('the process ended')
    })
    await Promise.race([once(child, 'message'), ended])
    ended.catch(() => undefined)
    return new StoreProcess(child)
  }

  constructor(child: ChildProcess) {
    this.#child = child
  }

  async tell(reported: WriterCommand): Promise<WriterAnswer> {
    const answered = once(this.#child, 'message')
    this.#child.send(reported)
    const [answer]: WriterAnswer[] = await answered
    assert.ok(answer !== undefined)
    return answer
  }

  async put(key: string, bytes?: number): Promise<number> {
    const answer = await this.tell({ op: 'put', key, ...(bytes !== undefined && { bytes }) })
    assert.ok('revision' in answer, JSON.stringify(answer))
    return answer.revision
  }

  async refused(key: string): Promise<{ code: string; ambiguous: boolean; message: string }> {
    const answer = await this.tell({ op: 'put', key })
    assert.ok('code' in answer, JSON.stringify(answer))
    return answer
  }

  async keys(): Promise<readonly string[]> {
    const answer = await this.tell({ op: 'list' })
    assert.ok('keys' in answer, JSON.stringify(answer))
    return answer.keys
  }

  /** Repeats a write until the store works again. */
  async putWhenWell(key: string): Promise<number> {
    for (const endMs = performance.now() + PATIENCE_MS; ; await sleep(20)) {
      const answer = await this.tell({ op: 'put', key })
      if ('revision' in answer) return answer.revision
      assert.ok(performance.now() < endMs, JSON.stringify(answer))
    }
  }

  async log(): Promise<readonly string[]> {
    const answer = await this.tell({ op: 'log' })
    assert.ok('lines' in answer)
    return answer.lines
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}

let disks = 0
class FaultyDisk {
  readonly #control: string
  readonly #store: string

  constructor() {
    this.#store = join(folder, `disk-${++disks}`)
    this.#control = `${this.#store}-fault`
  }

  start(): Promise<StoreProcess> {
    const env = { LD_PRELOAD: library, FAULTY_DISK: this.#control }
    return StoreProcess.start([process.execPath, subject, this.#store], env)
  }

  fail(how: 'full' | 'read-only' | 'flush' | 'flush-once'): void {
    writeFileSync(this.#control, how)
  }

  heal(): void {
    rmSync(this.#control, { force: true })
  }
}

const faulty = {
  skip:
    !canPreload('faulty-disk.c', library) &&
    'there is no C compiler, or its library cannot be loaded',
}

for (const [how, code, message] of [
  ['full', 'no-space', /the disk of the store is full/],
  ['read-only', 'unwritable', /fails or is read-only/],
] as const) {
  test(
    `writes to a disk that is ${how} fail until the disk recovers, and reads continue`,
    faulty,
    async () => {
      const disk = new FaultyDisk()
      await using store = await disk.start()
      const first = await store.put('/f/a')
      disk.fail(how)
      for (const key of ['/f/b', '/f/c']) {
        const refused = await store.refused(key)
        assert.equal(refused.code, code)
        assert.match(refused.message, message)
        // SQLite does not report at which step a commit failed, so the commit may have been stored.
        // It certainly was not stored if the disk is full.
        if (how === 'full') assert.equal(refused.ambiguous, false)
      }
      assert.deepEqual(await store.keys(), ['/f/a'], 'reads continue')
      disk.heal()
      assert.equal(
        await store.putWhenWell('/f/d'),
        first + 1,
        'refused writes have used no revision',
      )
      assert.deepEqual(await store.keys(), ['/f/a', '/f/d'])
      assert.deepEqual(await store.log(), [
        'error the store is not writable; reads continue',
        'info the store is writable again',
      ])
      await store.kill()
      await using again = await disk.start()
      assert.deepEqual(await again.keys(), ['/f/a', '/f/d'])
    },
  )
}

test(
  'if one flush of a commit fails, the commit is undone, even if the process then crashes',
  faulty,
  async () => {
    const disk = new FaultyDisk()
    await using store = await disk.start()
    await store.put('/f/a')
    disk.fail('flush-once')
    const refused = await store.refused('/f/b')
    assert.deepEqual([refused.code, refused.ambiguous], ['unwritable', false])
    await store.kill()
    await using again = await disk.start()
    assert.deepEqual(await again.keys(), ['/f/a'])
  },
)

test(
  'while flushes fail, the outcome of a write is unknown until a later commit overwrites the key',
  faulty,
  async () => {
    const disk = new FaultyDisk()
    await using store = await disk.start()
    const first = await store.put('/f/a')
    disk.fail('flush')
    assert.deepEqual((await store.refused('/f/b')).ambiguous, true)
    assert.deepEqual(await store.keys(), ['/f/a'])
    disk.heal()
    assert.equal(await store.putWhenWell('/f/c'), first + 1)
    await store.kill()
    await using again = await disk.start()
    assert.deepEqual(
      await again.keys(),
      ['/f/a', '/f/c'],
      'the later commit replaces the failed one',
    )
  },
)

test('a crash after a failed flush loses no acknowledged write', faulty, async () => {
  const disk = new FaultyDisk()
  await using store = await disk.start()
  await store.put('/f/a')
  disk.fail('flush')
  assert.equal((await store.refused('/f/b')).ambiguous, true)
  await store.kill()
  disk.heal()
  await using again = await disk.start()
  const keys = await again.keys()
  assert.equal(keys[0], '/f/a')
  assert.ok(keys.length === 1 || keys[1] === '/f/b')
  await again.put('/f/c')
})

test('a small disk becomes full, and accepts writes after space is freed', {
  skip: !(process.platform === 'linux' && canMount()) && 'no disk can be mounted',
}, async () => {
  const path = join(folder, 'small')
  mkdirSync(path)
  const run = `mount -t tmpfs -o size=4m none ${path} && exec ${process.execPath} ${subject} ${path}/store ${path}/filler`
  await using store = await StoreProcess.start(['unshare', '-rm', 'sh', '-c', run])
  await store.put('/f/0')
  await store.tell({ op: 'fill' })
  let [puts, refusal]: [number, WriterAnswer | undefined] = [1, undefined]
  // Write until a write fails. The first writes succeed, because SQLite's log still has unused
  // space.
  for (; puts < 1000 && refusal === undefined; puts++) {
    const answer = await store.tell({ op: 'put', key: `/f/${puts}`, bytes: 20_000 })
    if ('code' in answer) refusal = answer
  }
  assert.ok(refusal !== undefined && 'code' in refusal)
  assert.deepEqual([refusal.code, refusal.ambiguous], ['no-space', false])
  const kept = (await store.keys()).length
  assert.equal(kept, puts - 1)
  await store.tell({ op: 'free' })
  await store.putWhenWell('/f/last')
  assert.equal((await store.keys()).length, kept + 1)
})
