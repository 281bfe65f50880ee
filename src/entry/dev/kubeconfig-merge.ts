/**
 * Adds a context to the user's kubeconfig, which also contains the contexts of other clusters. The
 * file is replaced as a whole or not at all. All other content is preserved, except for comments,
 * which kubectl does not preserve either. An entry with our name but a different certificate
 * authority belongs to another server. It is neither replaced nor removed.
 */
import { X509Certificate } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kubeconfig } from '../../api/kubeconfig.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  omit,
  textOf,
} from '../../api/object.ts'
import { messageOf } from '../../lib/errors.ts'
import { makeFolders, readIfThere } from '../../lib/process/files.ts'
import { printSorted } from '../../objects/codec/json.ts'
import { parseYaml } from '../../objects/codec/yaml-parse.ts'
import { jsonToYaml } from '../../objects/codec/yaml-print.ts'

/** How long to wait for the lock of the kubeconfig. kubectl holds it only for milliseconds. */
const LOCK_MS_MAX = 10_000
const POLL_MS = 20
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
const lists = ['clusters', 'users', 'contexts'] as const

/**
 * The name of the extension in which Keelson records data about its context. Clients preserve
 * extensions that they do not know.
 */
const extensionName = 'keelson.dev/context'

/** The data that Keelson records in its extension of a context. */
type Note = {
  /** The previous current context. An empty string if no context was current. */
  readonly previous: string
  /** The folder that contains the server's certificates. */
  readonly folder: string
}

/**
 * Adds the entries of the kubeconfig `own`, and makes its context the current one. Fails if the
 * file has an entry with the same name that belongs to another server.
 */
export async function addContext(path: string, own: Kubeconfig, folder: string): Promise<void> {
  const names = namesOf(own)
  await change(path, (config) => {
    const foreign = foreignIn(config, own, folder)
    if (foreign !== undefined) throw new Error(refusal(path, foreign, names))
    const current = textOf(config['current-context'])
    const existing = find(config, 'contexts', names.context)
    const note = {
      previous: current === names.context ? (noteOf(existing)?.previous ?? '') : current,
      folder,
    }
    // Preserve a namespace that the user has chosen for the context.
    const contexts = own.contexts.map(({ name, context }) => ({
      name,
      context: withNote({ ...fieldsOf(existing?.['context']), ...context }, note),
    }))
    const added = { ...own, contexts }
    const changed: Record<string, Json | undefined> = {
      apiVersion: 'v1',
      kind: 'Config',
      ...config,
    }
    for (const list of lists) {
      const replaced = new Set(added[list].map(({ name }) => name))
      changed[list] = [
        ...entriesOf(config[list]).filter((entry) => !replaced.has(nameOf(entry))),
        ...added[list],
      ]
    }
    return { ...changed, 'current-context': names.context }
  })
}

/**
 * Removes the entries that `addContext` has added, unless another server has replaced them. If
 * their context is the current one, makes the previous context current again. If the previous
 * context does not exist any more, the file has no current context.
 */
export async function removeContext(path: string, own: Kubeconfig): Promise<void> {
  if (!existsSync(path)) return
  const names = namesOf(own)
  const authority = authorityOf(own)
  await change(path, (config) => {
    const removed = {
      clusters: isOfAuthority(find(config, 'clusters', names.cluster), authority),
      users: isIssuedBy(find(config, 'users', names.user), authority),
      contexts: isOwnContext(config, names, authority),
    }
    const previous = noteOf(find(config, 'contexts', names.context))?.previous ?? ''
    const changed: Record<string, Json | undefined> = { ...config }
    for (const [list, name] of listed(names)) {
      if (removed[list])
        changed[list] = entriesOf(config[list]).filter((entry) => nameOf(entry) !== name)
    }
    if (!removed.contexts) return changed
    // Another server may have recorded this context as its previous one. Replace it there by the
    // context that was current before both.
    changed['contexts'] = entriesOf(changed['contexts']).map((entry) =>
      passOn(entry, names.context, previous),
    )
    if (textOf(config['current-context']) !== names.context) return changed
    const isThere = previous !== '' && find(changed, 'contexts', previous) !== undefined
    return isThere ? { ...changed, 'current-context': previous } : omit(changed, 'current-context')
  })
}

type Names = { readonly context: string; readonly cluster: string; readonly user: string }

function namesOf({ clusters, users, contexts }: Kubeconfig): Names {
  return {
    context: contexts[0]?.name ?? '',
    cluster: clusters[0]?.name ?? '',
    user: users[0]?.name ?? '',
  }
}

const listed = ({ context, cluster, user }: Names) =>
  [
    ['clusters', cluster],
    ['users', user],
    ['contexts', context],
  ] as const

/** Returns the certificate authority as PEM. */
const authorityOf = ({ clusters }: Kubeconfig): string =>
  decoded(clusters[0]?.cluster['certificate-authority-data'])

/**
 * Searches for an entry that has the same name as an entry of `own`, but belongs to another server.
 * Returns the kind and name of this entry, such as `cluster "x"`. Returns undefined if the search
 * finds no entry.
 */
function foreignIn(config: Fields, own: Kubeconfig, folder: string): string | undefined {
  const names = namesOf(own)
  const cluster = find(config, 'clusters', names.cluster)
  const authority = isLeftover(config, names, folder) ? authorityIn(cluster) : authorityOf(own)
  if (cluster !== undefined && !isOfAuthority(cluster, authority))
    return `cluster ${JSON.stringify(names.cluster)}`
  const user = find(config, 'users', names.user)
  if (user !== undefined && !isIssuedBy(user, authority))
    return `user ${JSON.stringify(names.user)}`
  const context = find(config, 'contexts', names.context)
  const isForeign = context !== undefined && !isOwnContext(config, names, authority)
  return isForeign ? `context ${JSON.stringify(names.context)}` : undefined
}

const refusal = (path: string, what: string, { context, cluster, user }: Names): string =>
  [
    `${path} has a ${what} of another server, and was not changed: choose another name with --context`,
    `, or remove that entry: kubectl config delete-context ${context}; kubectl config delete-cluster ${cluster}; kubectl config delete-user ${user}`,
  ].join('')

/**
 * Whether a context belongs to a `keelson dev` server that cannot run again. This is the case if
 * its data folder is `folder`, or if its data folder now contains other certificates.
 */
function isLeftover(config: Fields, names: Names, folder: string): boolean {
  const note = noteOf(find(config, 'contexts', names.context))
  if (note === undefined) return false
  if (note.folder === folder) return true
  try {
    const kept = readIfThere(join(note.folder, 'ca.crt'))
    return kept?.trim() !== authorityIn(find(config, 'clusters', names.cluster)).trim()
  } catch {
    // The certificates cannot be read. The folder might belong to another user whose server is
    // running.
    return false
  }
}

const authorityIn = (cluster: Fields | undefined): string =>
  decoded(textOf(fieldsOf(cluster?.['cluster'])['certificate-authority-data']))

const isOfAuthority = (cluster: Fields | undefined, authority: string): boolean =>
  cluster !== undefined && authority !== '' && authorityIn(cluster).trim() === authority.trim()

function isIssuedBy(user: Fields | undefined, authority: string): boolean {
  const certificate = decoded(textOf(fieldsOf(user?.['user'])['client-certificate-data']))
  if (certificate === '' || authority === '') return false
  try {
    return new X509Certificate(certificate).verify(new X509Certificate(authority).publicKey)
  } catch {
    // The entry contains no valid certificate, so it is not an entry of `keelson dev`.
    return false
  }
}

/**
 * Whether the context with our name belongs to this server, so that it may be replaced or removed.
 * This is also the case if a user has removed its cluster, because the context is then unusable.
 */
function isOwnContext(config: Fields, names: Names, authority: string): boolean {
  const { cluster, user } = fieldsOf(find(config, 'contexts', names.context)?.['context'])
  if (cluster !== names.cluster || user !== names.user) return false
  const named = find(config, 'clusters', names.cluster)
  return named === undefined || isOfAuthority(named, authority)
}

const decoded = (base64: string | undefined): string =>
  Buffer.from(base64 ?? '', 'base64').toString()

function withNote(context: Fields, { previous, folder }: Note): Fields {
  const extension = {
    'data-dir': folder,
    ...(previous === '' ? {} : { 'previous-context': previous }),
  }
  const others = entriesOf(context['extensions']).filter((one) => nameOf(one) !== extensionName)
  return { ...context, extensions: [...others, { name: extensionName, extension }] }
}

function noteOf(entry: Fields | undefined): Note | undefined {
  const own = itemsOf(fieldsOf(entry?.['context'])['extensions']).find(
    ({ name }) => name === extensionName,
  )
  if (own === undefined) return undefined
  const fields = fieldsOf(own['extension'])
  return { previous: textOf(fields['previous-context']), folder: textOf(fields['data-dir']) }
}

/**
 * Updates the recorded previous context of an entry. If it is `gone`, the result has `previous`
 * instead.
 */
function passOn(entry: Json, gone: string, previous: string): Json {
  const note = isFields(entry) ? noteOf(entry) : undefined
  if (!isFields(entry) || note?.previous !== gone) return entry
  return { ...entry, context: withNote(fieldsOf(entry['context']), { ...note, previous }) }
}

const entriesOf = (list: Json | undefined): readonly Json[] => (Array.isArray(list) ? list : [])
const nameOf = (entry: Json): string => textOf(fieldsOf(entry)['name'])
const find = (config: Fields, list: (typeof lists)[number], name: string): Fields | undefined =>
  itemsOf(config[list]).find((entry) => nameOf(entry) === name)

async function change(path: string, changed: (config: Fields) => Fields): Promise<void> {
  makeFolders(dirname(path), FOLDER_MODE)
  // If the path is a symbolic link, replace its target, because some users keep their settings
  // elsewhere.
  const file = existsSync(path) ? realpathSync(path) : path
  using held = new DisposableStack()
  held.use(await lock(file))
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
  const config = readConfig(bytes, path)
  const next = changed(config)
  // Do not write the file without need, because its comments would be lost.
  if (printSorted(next) === printSorted(config)) return
  const text = jsonToYaml(next, { isExact: true })
  // Do not replace the file unless its new text has exactly the intended content.
  if (printSorted(readConfig(Buffer.from(text), path)) !== printSorted(next)) {
    throw unmergeable(path, 'some of its content would change')
  }
  replace(file, text)
}

/** Reads a kubeconfig. Fails if the file is not a kubeconfig, so that it is not changed. */
function readConfig(bytes: Buffer, path: string): Fields {
  if (bytes.toString().trim() === '') return {}
  const parsed = parseOr(bytes, (cause) => unmergeable(path, messageOf(cause), cause))
  const config = fieldsOf(parsed)
  if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) {
    const odd = lists.find(
      (list) => config[list] !== undefined && config[list] !== null && !Array.isArray(config[list]),
    )
    if (odd !== undefined) throw unmergeable(path, `${odd} is not a list`)
    return config
  }
  throw unmergeable(path, 'it is not a map')
}

const unmergeable = (path: string, why: string, cause?: unknown): Error =>
  new Error(
    `${path} cannot be merged with (${why}) and was not changed: repair it, or leave out --kubeconfig-merge`,
    {
      cause,
    },
  )

function parseOr(bytes: Buffer, wrong: (cause: unknown) => Error): Json {
  try {
    const { value, duplicates } = parseYaml(bytes)
    if (duplicates[0] !== undefined) throw new Error(duplicates[0])
    return value
  } catch (cause) {
    throw wrong(cause)
  }
}

/** Acquires the lock file that kubectl also uses. */
async function lock(file: string): Promise<Disposable> {
  const path = `${file}.lock`
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    try {
      closeSync(openSync(path, 'wx', FILE_MODE))
      return { [Symbol.dispose]: () => rmSync(path, { force: true }) }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      if (waitedMs >= LOCK_MS_MAX)
        throw new Error(`another program holds the lock ${path}: if none runs, remove that file`, {
          cause: error,
        })
      await sleep(POLL_MS)
    }
  }
}

/** Replaces the file atomically. Readers get either the old or the new file, even after a crash. */
function replace(file: string, text: string): void {
  const draft = `${file}.keelson-${process.pid}`
  // Remove the temporary file of an earlier process with the same ID. Do not write to an existing
  // file: in a folder of another user, that user could have created a link to any file.
  rmSync(draft, { force: true })
  const descriptor = openSync(draft, 'wx', FILE_MODE)
  try {
    // `writeSync` might write only a part of the text.
    writeFileSync(descriptor, text)
    if (existsSync(file)) copyOwnership(descriptor, file)
    fsyncSync(descriptor)
    closeSync(descriptor)
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/**
 * Copies the owner and the permissions of `file` to the new file. If Keelson runs with sudo, the
 * owner is another user. That user must still be able to read the file. If the group cannot be
 * copied, the group gets no permissions.
 */
function copyOwnership(draft: number, file: string): void {
  const { mode, uid, gid } = statSync(file)
  const own = fstatSync(draft)
  const isLike = (own.uid === uid && own.gid === gid) || changeOwner(draft, uid, gid)
  if (!isLike && own.uid !== uid)
    throw new Error(
      `${file} belongs to another user, and was not changed: run keelson as that user, or set KUBECONFIG`,
    )
  fchmodSync(draft, mode & (isLike ? 0o777 : 0o707))
}

/**
 * Changes the owner and the group. Returns false in three cases: this user is not allowed to change
 * them, a container does not know the owner or the group, or the file system does not support
 * owners.
 */
function changeOwner(file: number, uid: number, gid: number): boolean {
  try {
    fchownSync(file, uid, gid)
    return true
  } catch {
    // The owner cannot be changed. The reason does not matter.
    return false
  }
}
