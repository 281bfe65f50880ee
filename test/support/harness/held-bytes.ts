/** How much memory is held of what has ended. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What is held after `run` that was not before. */
export async function heldBytes(run: () => void | Promise<void>): Promise<number> {
  const before = await usedBytes()
  await run()
  return (await usedBytes()) - before
}

async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  // What a regular expression was last applied to is kept, too.
  'another text'.match(/a/)
  // The memory of buffers is given back between two collections.
  for (let twice = 0; twice < 2; twice++) {
    collect()
    await new Promise((resolve) => void setTimeout(resolve, 20))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The text as a part of one of a megabyte, as a name is of the path of its request. */
export const partOfMegabyte = (text: string): string =>
  Buffer.from(text + 'a'.repeat(1 << 20))
    .toString('latin1')
    .slice(0, text.length)
