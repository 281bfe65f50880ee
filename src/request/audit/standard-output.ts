/**
 * Writes the audit log to standard output, for `--audit-log-path=-`. It does not use
 * `process.stdout`, whose buffer is unbounded, but waits until the reader of a pipe has read.
 */
import { write } from 'node:fs'
import { promisify } from 'node:util'
import { sleep, systemTimers } from '../../lib/time/timers.ts'
import type { Lines } from './log-sink.ts'

const STANDARD_OUTPUT = 1
/** How long to wait before the next attempt to write to a full pipe. */
const FULL_MS = 20

const writeAsync = promisify(write)

export const standardOutput: Lines = {
  append: writeAll,
  appendLong: async (pieces) => {
    for (const piece of pieces) await writeAll(piece)
  },
  close: () => Promise.resolve(),
}

async function writeAll(bytes: Buffer): Promise<void> {
  // Node makes a pipe non-blocking when `process.stdout` is first read. A thread that is blocked by
  // the reader would keep the process from ending.
  void process.stdout
  for (let written = 0; written < bytes.length; ) {
    try {
      written += (await writeAsync(STANDARD_OUTPUT, bytes, written)).bytesWritten
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      await sleep(systemTimers, FULL_MS)
    }
  }
}
