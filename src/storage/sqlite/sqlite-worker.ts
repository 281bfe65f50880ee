/**
 * The thread that owns the SQLite file (`database-thread.ts`). It can be started before the file is
 * known. Its first message contains the path of the file, and is sent after the folder has been
 * locked.
 */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { messageOf } from '../../lib/errors.ts'
import { type DatabaseOptions, SqliteDatabase } from './database.ts'
import { DatabaseThread } from './database-thread.ts'
import type { Calls, End, FromThread } from './messages.ts'

function open(options: DatabaseOptions, port: MessagePort): void {
  try {
    const database = new SqliteDatabase(options)
    const thread = new DatabaseThread(database, port)
    port.on('message', (message: Calls | End) => thread.take(message))
    const { databaseId, revision, compacted, compactionNote } = database
    const leases = database.leases()
    const opened = {
      kind: 'opened',
      databaseId,
      revision,
      compacted,
      compactionNote,
      leases,
    } as const
    port.postMessage(opened satisfies FromThread)
  } catch (error) {
    const message = messageOf(error)
    port.postMessage({ kind: 'refused', message } satisfies FromThread)
    port.close()
  }
}

// Load the module before it is needed, because loading takes some milliseconds. In the package,
// modules are otherwise loaded on first use, and a caller would have to wait.
process.getBuiltinModule('node:sqlite')
const port = parentPort
port?.once('message', (options: DatabaseOptions) => open(options, port))
