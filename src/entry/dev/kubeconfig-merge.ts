/**
 * A context in the kubeconfig of a user, which has those of other clusters, too. The file is
 * replaced as a whole or not at all; everything else in it stays, but for comments, which kubectl
 * itself does not keep either. What has our name but another certificate authority belongs to
 * somebody else: it is neither replaced nor removed.
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

/** kubectl holds the lock for milliseconds. */
const LOCK_MS_MAX = 10_000
const POLL_MS = 20
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
const lists = ['clusters', 'users', 'contexts'] as const

/** The name of our extension of a context: clients keep what they do not know. */
const extensionName = 'keelson.dev/context'

/** What our extension of a context says. */
type Note = {
  /** What was the current context before; empty if nothing was. */
  readonly previous: string
  /** Of the server's certificates. */
  readonly folder: string
}

/**
 * Takes everything of `own` over and makes its context the current one. Fails if an entry of that
 * name is somebody else's.
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
    // A namespace that the user has chosen for it stays.
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
 * Removes what `addContext` has added, as far as it is still there. If the context is the current
 * one, the one before is that again; if that is gone, there is none, as in a file where nothing was
 * ever chosen.
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
    // One that came after this one goes back to what was before both.
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

/** PEM. */
const authorityOf = ({ clusters }: Kubeconfig): string =>
  decoded(clusters[0]?.cluster['certificate-authority-data'])

/**
 * The first entry of a name of ours that is somebody else's: `cluster "x"`. Undefined: there is
 * none.
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
    `${path} has a ${what} of another server, and was left as it is: give another name as --context`,
    `, or remove that one: kubectl config delete-context ${context}; kubectl config delete-cluster ${cluster}; kubectl config delete-user ${user}`,
  ].join('')

/**
 * Whether a context is that of a `keelson dev` that cannot come back: its folder is this one, or
 * has other certificates now.
 */
function isLeftover(config: Fields, names: Names, folder: string): boolean {
  const note = noteOf(find(config, 'contexts', names.context))
  if (note === undefined) return false
  if (note.folder === folder) return true
  try {
    const kept = readIfThere(join(note.folder, 'ca.crt'))
    return kept?.trim() !== authorityIn(find(config, 'clusters', names.cluster)).trim()
  } catch {
    // A folder of another user, for example, whose server may run.
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
    // Whatever it is, it is no certificate of ours.
    return false
  }
}

/** Where a user has removed the cluster by hand, its context leads nowhere and can be replaced. */
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

/** An entry of a context that was to go back to `gone`. */
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
  // A link, as some keep their settings elsewhere, stays one.
  const file = existsSync(path) ? realpathSync(path) : path
  using held = new DisposableStack()
  held.use(await lock(file))
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
  const config = readConfig(bytes, path)
  const next = changed(config)
  // Comments would be lost for nothing.
  if (printSorted(next) === printSorted(config)) return
  const text = jsonToYaml(next, { isExact: true })
  // Nothing of theirs may change by being written anew.
  if (printSorted(readConfig(Buffer.from(text), path)) !== printSorted(next)) {
    throw unmergeable(path, 'it has something that would not stay as it is')
  }
  replace(file, text)
}

/** Fails for what is no kubeconfig: it is left as it is. */
function readConfig(bytes: Buffer, path: string): Fields {
  if (bytes.toString().trim() === '') return {}
  const parsed = parseOr(bytes, (cause) => unmergeable(path, messageOf(cause), cause))
  const config = fieldsOf(parsed)
  if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) {
    const odd = lists.find(
      (list) => config[list] !== undefined && config[list] !== null && !Array.isArray(config[list]),
    )
    if (odd !== undefined) throw unmergeable(path, `${odd} is no list`)
    return config
  }
  throw unmergeable(path, 'it is no map')
}

const unmergeable = (path: string, why: string, cause?: unknown): Error =>
  new Error(
    `${path} cannot be merged with (${why}) and was left as it is: mend it, or leave --kubeconfig-merge out`,
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

/** The lock that kubectl takes, too. */
async function lock(file: string): Promise<Disposable> {
  const path = `${file}.lock`
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    try {
      closeSync(openSync(path, 'wx', FILE_MODE))
      return { [Symbol.dispose]: () => rmSync(path, { force: true }) }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      if (waitedMs >= LOCK_MS_MAX)
        throw new Error(`${path} is held by another program: if none runs, remove it`, {
          cause: error,
        })
      await sleep(POLL_MS)
    }
  }
}

/** Who reads it meanwhile sees the old or the new file, and so does who reads it after a crash. */
function replace(file: string, text: string): void {
  const draft = `${file}.keelson-${process.pid}`
  // Of an earlier process with this number. What somebody else puts there is not written into: in
  // the folder of another user it may be a link to anything.
  rmSync(draft, { force: true })
  const descriptor = openSync(draft, 'wx', FILE_MODE)
  try {
    // writeSync may write a part.
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
 * Whose it is stays, too: with sudo it is the file of another user, who could not read it any more.
 * What the file's group may do is not for another group.
 */
function copyOwnership(draft: number, file: string): void {
  const { mode, uid, gid } = statSync(file)
  const own = fstatSync(draft)
  const isLike = (own.uid === uid && own.gid === gid) || changeOwner(draft, uid, gid)
  if (!isLike && own.uid !== uid)
    throw new Error(
      `${file} belongs to another user, and was left as it is: run this as that user, or set KUBECONFIG`,
    )
  fchmodSync(draft, mode & (isLike ? 0o777 : 0o707))
}

/**
 * False: this user may not give it away, or not to that group; a container may know neither, and a
 * file system none at all.
 */
function changeOwner(file: number, uid: number, gid: number): boolean {
  try {
    fchownSync(file, uid, gid)
    return true
  } catch {
    // Whatever the reason is, it stays whose it is.
    return false
  }
}
