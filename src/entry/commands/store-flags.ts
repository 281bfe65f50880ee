/** The flags of `keelson store export`, `import` and `rewrite`. */
import { flags } from '../../config/flags.ts'
import type { CommandFlagTable } from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'

/**
 * Default of --revisions-ahead, far more than the number of revisions between an export and the
 * time when clients use the new store.
 */
export const REVISIONS_AHEAD = 100_000

/** Default of --event-ttl, as in `keelson serve`. */
export const EVENT_TTL_SECONDS = 3600

export const storeCommands = ['export', 'import', 'rewrite'] as const

export const storeFlags = {
  'etcd-servers': { type: 'string', value: 'list', help: flags['etcd-servers'].help },
  'etcd-cafile': { type: 'string', value: 'file', help: flags['etcd-cafile'].help },
  'etcd-certfile': { type: 'string', value: 'file', help: flags['etcd-certfile'].help },
  'etcd-keyfile': { type: 'string', value: 'file', help: flags['etcd-keyfile'].help },
  'etcd-user': { type: 'string', value: 'name', help: flags['etcd-user'].help },
  'etcd-password-file': { type: 'string', value: 'file', help: flags['etcd-password-file'].help },
  'etcd-prefix': {
    type: 'string',
    value: 'path',
    shownDefault: '/registry',
    help: `${flags['etcd-prefix'].help} An import uses the prefix in the exported file.`,
  },
  'data-dir': {
    type: 'string',
    value: 'folder',
    help: 'The folder that contains the objects: the --data-dir of keelson serve, or the subfolder store in the data folder of keelson dev.',
  },
  file: { type: 'string', value: 'file', help: 'The file that export writes and import reads.' },
  replace: {
    type: 'boolean',
    help: 'For import: replace existing data. If the target is a data folder, its old file is kept beside the new one.',
  },
  'revisions-ahead': {
    type: 'string',
    value: 'number',
    shownDefault: `${REVISIONS_AHEAD}`,
    help: 'For import: the number added to the latest revision of the export or of the replaced data, so that clients never see a revision twice. Must be larger than the number of writes to the old store after the export. Use 0 if there were no such writes.',
  },
  'encryption-provider-config': {
    type: 'string',
    value: 'file',
    help: 'For rewrite: EncryptionConfiguration file, as in keelson serve.',
  },
  'event-ttl': {
    type: 'string',
    value: 'seconds',
    shownDefault: `${EVENT_TTL_SECONDS}`,
    help: 'For rewrite: the time to live of Events that are rewritten.',
  },
} as const satisfies CommandFlagTable

export const storeHelp: CommandHelp = {
  usage: [
    'keelson store export (--etcd-servers=URL | --data-dir=FOLDER) --file=FILE',
    'keelson store import (--etcd-servers=URL | --data-dir=FOLDER) --file=FILE',
    'keelson store rewrite (--etcd-servers=URL | --data-dir=FOLDER) --encryption-provider-config=FILE',
  ],
  arguments: [storeCommands],
  description: `export writes all objects of a cluster at one revision into a new file. Servers may
run meanwhile. import writes them into an empty etcd or folder that no server uses, and then reads
them back to compare them. Both print the number of keys and a hash of keys and values. The file
contains all Secrets as they are stored.

rewrite writes every value again that is not encrypted with the first key of its resource in the
configuration, like an update without a change. With etcd, servers with the same configuration may
run meanwhile; with a data folder, none may. It can be interrupted and started again.`,
  sections: [{ flags: storeFlags }],
}
