/** The thread that has the SQLite file (`database-thread.ts`). Who starts it has locked the folder. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../lib/message-of.ts'
import { type DatabaseOptions, SqliteDatabase } from './database.ts'
import { DatabaseThread } from './database-thread.ts'
import type { Calls, End, FromThread } from './messages.ts'

function open(options: DatabaseOptions, port: MessagePort): void {
  try {
    const database = new SqliteDatabase(options)
    const thread = new DatabaseThread(database, port)
    port.on('message', (message: Calls | End) => thread.take(message))
    const { databaseId, revision, compacted } = database
    const leases = database.leases()
    port.postMessage({ kind: 'opened', databaseId, revision, compacted, leases } satisfies FromThread)
  } catch (error) {
    const message = messageOf(error)
    port.postMessage({ kind: 'refused', message } satisfies FromThread)
    port.close()
  }
}

if (parentPort !== null) open(workerData, parentPort)
