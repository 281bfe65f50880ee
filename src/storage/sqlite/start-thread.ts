/** Starts the thread that owns a SQLite file. */
import type { Worker } from 'node:worker_threads'
import { messageOf } from '../../lib/errors.ts'
import { startOwnThread } from '../../lib/process/own-files.ts'
import type { DatabaseOptions } from './database.ts'
import type { FromThread, OpenedMessage } from './messages.ts'

export type StartedThread = { readonly worker: Worker; readonly opened: OpenedMessage }

/**
 * Starts the thread, or uses `early` if it is already running. If the file cannot be used, rejects
 * with SQLite's error after the thread has exited.
 */
export async function startThread(
  options: DatabaseOptions,
  early?: Worker,
): Promise<StartedThread> {
  const worker = early ?? start()
  worker.ref()
  const { promise, resolve, reject } = Promise.withResolvers<OpenedMessage>()
  const exited = new Promise<void>((resolveExit) => worker.once('exit', () => resolveExit()))
  worker.once('error', reject)
  worker.once('exit', () => reject(new Error('the SQLite thread ended before it was ready')))
  worker.once('message', (message: FromThread) => {
    if (message.kind === 'opened') resolve(message)
    else
      reject(
        new Error(
          message.kind === 'refused'
            ? message.message
            : 'the SQLite thread sent an unexpected message',
        ),
      )
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  worker.postMessage(options)
  try {
    const opened = await promise
    for (const event of ['error', 'exit', 'message']) worker.removeAllListeners(event)
    return { worker, opened }
  } catch (error) {
    await exited
    throw error
  }
}

function start(): Worker {
  try {
    return startOwnThread('./sqlite-worker', import.meta.url)
  } catch (cause) {
    const what = `the SQLite thread cannot be started (${messageOf(cause)})`
    throw new Error(
      `${what}: allow more threads and memory (ulimit -u, ulimit -v, the limits of the container)`,
      {
        cause,
      },
    )
  }
}
