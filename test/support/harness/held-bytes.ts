/** Measures how much memory is still in use after an operation has ended. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns by how many bytes the used memory has grown after `run` has ended. */
export async function heldBytes(run: () => void | Promise<void>): Promise<number> {
  const before = await usedBytes()
  await run()
  return (await usedBytes()) - before
}

async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.ok(typeof collect === 'function')
  // V8 retains the last string that was matched against a regular expression. Match another string
  // to release it.
  'another text'.match(/a/)
  // Collect garbage twice, because the memory of buffers is released only after a collection.
  for (let twice = 0; twice < 2; twice++) {
    collect()
    await new Promise((resolve) => void setTimeout(resolve, 20))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * Returns a copy of the text. V8 stores the copy as a slice of a string of one megabyte. In a
 * server, a name can in the same way be a slice of the request path.
 */
export const partOfMegabyte = (text: string): string =>
  Buffer.from(text + 'a'.repeat(1 << 20))
    .toString('latin1')
    .slice(0, text.length)
