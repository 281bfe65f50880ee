/** Measures memory that is still reachable after its owner has ended. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns the bytes that are in use after `run` but were not before. */
export async function heldBytes(run: () => void | Promise<void>): Promise<number> {
  const before = await usedBytes()
  await run()
  return (await usedBytes()) - before
}

async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  // Replaces the subject of the last regular expression, which V8 retains.
  'another text'.match(/a/)
  // Memory of buffers is returned between two collections.
  for (let twice = 0; twice < 2; twice++) {
    collect()
    await new Promise((resolve) => void setTimeout(resolve, 20))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * Returns the text as a slice of a string of a megabyte, like a name that is a slice of its
 * request's path.
 */
export const partOfMegabyte = (text: string): string =>
  Buffer.from(text + 'a'.repeat(1 << 20))
    .toString('latin1')
    .slice(0, text.length)
