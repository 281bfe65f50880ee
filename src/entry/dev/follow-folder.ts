/**
 * Implements `keelson dev --apply`: applies the manifests in a folder at the start and whenever
 * they change, and prints what has changed on the server.
 */
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { KubeObject } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import type { User } from '../../api/user.ts'
import { messageOf } from '../../lib/errors.ts'
import { FileLooks, type FileLooksOptions } from '../../lib/process/file-looks.ts'
import { sleep, systemTimers } from '../../lib/time/timers.ts'
import { AppliedFolder, type FolderChange, type FolderResult } from '../apply/apply-folder.ts'
import { handlerClient } from '../apply/handler-client.ts'
import { DEFAULT_NAMESPACE, describeObject } from '../apply/object-names.ts'
import { basesOf } from '../apply/kustomize-bases.ts'
import { readManifests } from '../apply/read-manifests.ts'
import { scan, type Scan } from '../apply/scan.ts'

/**
 * Interval of the scans if the file system reports no change. Some file systems report none, for
 * example those of virtual machines.
 */
const LOOK_MS = 2000
/**
 * The folder is applied only after its files have been unchanged for this time, because editors and
 * Git write files in steps.
 */
const SETTLE_MS = 100
/** If the folder changes all the time, it is applied after this number of scans anyway. */
const SETTLE_SCANS_MAX = 50
/** An object is deleted only after its manifest has been missing for this time. */
const MISSING_MS = 1000
/** Interval of the attempts to apply manifests that the server has rejected. */
const RETRY_MS = 10_000
/** Number of errors that are printed each time. */
const PRINTED_FAULTS_MAX = 50
/** Number of objects that are named in one line. */
const NAMED_OBJECTS_MAX = 5

export type FollowOptions = {
  /** The folder or file, as the user wrote it. It must exist. */
  readonly path: string
  /** The handler of the server, which is called without a connection. */
  readonly handle: Handler
  /** The user of the requests. */
  readonly user: User
  /** The version of Keelson. */
  readonly version: string
  readonly report: (line: string) => void
  /** For tests, a function that watches a folder. */
  readonly watchFolder?: FileLooksOptions['watchFolder']
}

/** The result of a scan. */
type Look = {
  /** A string that describes the state of all files. It changes whenever a file changes. */
  readonly stamp: string
  readonly scanned: Scan | undefined
  /**
   * The folders to watch: the folder itself, its subfolders, and the folders that a kustomization
   * includes.
   */
  readonly folders: readonly string[]
  /** The reason why the folder could not be scanned, if it could not. */
  readonly fault: string | undefined
}

export class FollowedFolder implements AsyncDisposable {
  readonly #options: FollowOptions
  readonly #applied: AppliedFolder
  readonly #stopping = new AbortController()
  #looks: FileLooks | undefined
  /** A string that names the folders that are currently watched. */
  #watched: string | undefined
  /** The `stamp` of the scan that was applied last. Undefined until the folder was applied once. */
  #stamp: string | undefined
  /** The errors that were printed last, and the objects that were kept because of them. */
  #problems = ''
  /** Time of the next attempt after a failure, comparable with `performance.now()`. */
  #retryMs = Number.POSITIVE_INFINITY
  /** Resolves when the current check of the folder has ended. The next check waits for this. */
  #looking: Promise<void>

  constructor(options: FollowOptions) {
    const { path, handle, user, version } = options
    const { signal } = this.#stopping
    const client = handlerClient(handle, user)
    this.#options = options
    this.#applied = new AppliedFolder({ client, folder: realpathSync(path), version, signal })
    this.#looking = this.#look()
  }

  /** Stops watching the folder. The applied objects stay on the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    this.#looks?.[Symbol.dispose]()
    await this.#looking
  }

  /** Applies the folder if it has changed. Never rejects. */
  async #look(): Promise<void> {
    const { signal } = this.#stopping
    try {
      const look = await this.#settled()
      const isDue = performance.now() >= this.#retryMs
      if (look.stamp !== this.#stamp || isDue) await this.#apply(look)
      this.#watch(look.folders)
    } catch (error) {
      if (signal.aborted) return
      this.#retryMs = performance.now() + RETRY_MS
      this.#print({ changes: [], unchanged: 0, faults: [messageOf(error)], kept: [] })
      // After an error, continue to watch the folder, so that a later change is applied.
      this.#watch([])
    }
  }

  async #apply({ stamp, scanned, fault }: Look): Promise<void> {
    const isFirst = this.#stamp === undefined
    this.#stamp = stamp
    this.#retryMs = Number.POSITIVE_INFINITY
    if (scanned === undefined)
      return this.#print({ changes: [], unchanged: 0, faults: [fault ?? ''], kept: [] })
    const isCurrent = async (): Promise<boolean> => {
      await sleep(systemTimers, MISSING_MS, this.#stopping.signal)
      const isSame = (await this.#scan()).stamp === stamp
      // The files have changed, so check the folder again soon. Do so even if they are changed back
      // before that check.
      if (!isSame) this.#retryMs = performance.now()
      return isSame
    }
    const { signal } = this.#stopping
    const result = await this.#applied.apply(await readManifests(scanned, signal), isCurrent)
    if (result.isRejected) this.#retryMs = performance.now() + RETRY_MS
    this.#print(result, isFirst)
  }

  /** Scans until the files no longer change. */
  async #settled(): Promise<Look> {
    let last = await this.#scan()
    if (this.#stamp === undefined || last.stamp === this.#stamp) return last
    for (let scans = 0; scans < SETTLE_SCANS_MAX; scans++) {
      await sleep(systemTimers, SETTLE_MS, this.#stopping.signal)
      const next = await this.#scan()
      if (next.stamp === last.stamp) return next
      last = next
    }
    return last
  }

  async #scan(): Promise<Look> {
    try {
      const { path: given } = this.#options
      const scanned = await scan(given)
      const bases = scanned.isKustomization ? await basesOf(given) : []
      // A base that cannot be scanned is ignored here, because kustomize reports the error.
      const others = await Promise.all(bases.map((base) => scan(base).catch(() => undefined)))
      const all = [scanned, ...others.flatMap((other) => other ?? [])]
      const lines = all
        .flatMap(({ files }) => files)
        .map(({ path, bytes, modifiedMs }) => [path, bytes, modifiedMs].join('\t'))
      const folders = all.flatMap((one) => one.folders)
      return { stamp: lines.join('\n'), scanned, folders, fault: undefined }
    } catch (error) {
      const fault = `${messageOf(error)}. Its objects are kept`
      return { stamp: `fault: ${fault}`, scanned: undefined, folders: [], fault }
    }
  }

  /**
   * Watches these folders. `found` is empty if the path is a file or the scan has failed. In this
   * case, continues to watch the previous folders, or else watches the parent folder.
   */
  #watch(found: readonly string[]): void {
    const { path, watchFolder } = this.#options
    if (this.#stopping.signal.aborted) return
    if (found.length === 0 && this.#looks !== undefined) return
    const folders = found.length === 0 ? [dirname(path)] : found
    const watched = folders.join('\n')
    if (watched === this.#watched) return
    this.#watched = watched
    this.#looks?.[Symbol.dispose]()
    const look = (): Promise<void> => {
      this.#looking = this.#looking.then(() => this.#look())
      return this.#looking
    }
    const paths = folders.map((folder) => join(folder, 'any-file'))
    this.#looks = new FileLooks(paths, look, {
      lookMs: LOOK_MS,
      ...(watchFolder === undefined ? {} : { watchFolder }),
    })
  }

  /** Prints what has changed since the last time. */
  #print(
    { changes, unchanged, faults, kept }: Omit<FolderResult, 'isRejected'>,
    isFirst = false,
  ): void {
    const { path, report } = this.#options
    const problems = [...faults, ...kept.map(describeObject)].join('\n')
    if (changes.length === 0 && problems === this.#problems && !isFirst) return
    this.#problems = problems
    for (const change of changes) report(describeChange(change))
    for (const fault of faults.slice(0, PRINTED_FAULTS_MAX)) report(`error: ${fault}`)
    if (faults.length > PRINTED_FAULTS_MAX)
      report(`error: and ${faults.length - PRINTED_FAULTS_MAX} more`)
    // If there are errors, objects without a manifest are not deleted: a file that cannot be read
    // may contain their manifests.
    if (kept.length > 0) report(`kept until the errors are corrected: ${describeKept(kept)}`)
    report(`applied ${path}: ${describeCounts({ changes, unchanged, faults })}`)
  }
}

function describeKept(objects: readonly KubeObject[]): string {
  const names = objects.slice(0, NAMED_OBJECTS_MAX).map(describeObject).join(', ')
  const others = objects.length - NAMED_OBJECTS_MAX
  return others > 0 ? `${names} and ${others} more` : names
}

function describeChange({ object, outcome }: FolderChange): string {
  const { namespace = DEFAULT_NAMESPACE } = object.metadata
  const suffix = namespace === DEFAULT_NAMESPACE ? '' : ` in ${namespace}`
  return `${describeObject(object)} ${outcome}${suffix}`
}

/** Returns counts such as `2 created, 1 unchanged`. */
function describeCounts({
  changes,
  unchanged,
  faults,
}: Pick<FolderResult, 'changes' | 'unchanged' | 'faults'>): string {
  const counts: Record<string, number> = {}
  for (const { outcome } of changes) counts[outcome] = (counts[outcome] ?? 0) + 1
  const all = [
    ...['created', 'configured', 'deleted'].map((name) => [name, counts[name] ?? 0] as const),
    ['unchanged', unchanged] as const,
    [faults.length === 1 ? 'error' : 'errors', faults.length] as const,
  ]
  const shown = all.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`)
  return shown.length === 0 ? 'no manifests' : shown.join(', ')
}
