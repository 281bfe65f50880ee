/** Measures memory that is still reachable after the work is done. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns the number of bytes by which memory use has grown after `run`. */
export async function heldBytes(run: () => void | Promise<void>): Promise<number> {
  const before = await usedBytes()
  await run()
  return (await usedBytes()) - before
}

async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  // V8 retains the string of the last regular expression match, so match another string.
  'another text'.match(/a/)
  // The memory of buffers is released between two garbage collections.
  for (let twice = 0; twice < 2; twice++) {
    collect()
    await new Promise((resolve) => void setTimeout(resolve, 20))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * Returns a copy of the text that is a slice of a string of one megabyte. A name in the server can
 * be such a slice of its request path.
 */
export const partOfMegabyte = (text: string): string =>
  Buffer.from(text + 'a'.repeat(1 << 20))
    .toString('latin1')
    .slice(0, text.length)
